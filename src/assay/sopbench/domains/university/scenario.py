"""New tasks of the university: students, courses, majors and minors, and what students ask for."""

from datetime import datetime
from random import Random
from typing import Any

from assay.sopbench.domain import Scenario
from assay.sopbench.domains.university.functions import University
from assay.sopbench.pools import account_name, chosen, clock, mostly, people, secret, shifted

_MAJORS = {"Astronomy": ["AST1", "MTH1"], "Linguistics": ["LIN1", "LIN2"], "Economics": ["ECO1", "MTH1"]}
_MINORS = {"Music": ["MUS1"], "Statistics": ["MTH1", "STA1"], "Logic": ["LIN1", "AST1"]}
_GENERAL = [f"GEN{number}" for number in range(1, 13)]
_TIMES = ("09:00-10:30", "10:00-11:30", "14:00-15:30", "16:00-17:30")
_CREDENTIALS = ("username", "password")


def world(draw: Random) -> dict[str, Any]:
    """Draw three students, six courses and an academic year."""
    now = clock(draw)
    codes = ("AST1", "MTH1", "LIN1", "LIN2", "ECO1", "STA1")
    courses = {code: _course(draw, now, code, number) for number, code in enumerate(codes)}
    return {
        "students": {account_name(person): _student(draw, courses) for person in people(draw, 3)},
        "courses": courses,
        "academic_calendar": {
            "registration_period": [shifted(now, -9), shifted(now, mostly(draw, (5, 9), (-2,)))],
            "graduation_deadline": shifted(now, mostly(draw, (30,), (-1,))),
            "withdrawal_deadline": shifted(now, mostly(draw, (12,), (-1,))),
            "major_change_deadline": shifted(now, mostly(draw, (0, 8), (-1,))),
            "minor_declaration_deadline": shifted(now, mostly(draw, (8,), (0, -1))),
        },
        "majors": {
            name: {
                "required_courses": list(codes),
                "min_gpa": mostly(draw, (2.0, 2.5), (3.9,)),
                "capacity": draw.choice((1, 3, 20)),
            }
            for name, codes in _MAJORS.items()
        },
        "minors": {name: _minor(draw, codes) for name, codes in _MINORS.items()},
        "interaction_time": now.isoformat(),
    }


def _course(draw: Random, now: datetime, code: str, number: int) -> dict[str, Any]:
    full = draw.random() < 0.15
    return {
        "prerequisites": draw.choice(([], [], ["GEN1"], ["MTH1"] if code != "MTH1" else [])),
        "capacity": 30,
        "enrolled": 30 if full else draw.randrange(5, 29),
        "schedule": {"days": draw.choice((["Mon", "Wed"], ["Tue", "Thu"])), "time": draw.choice(_TIMES)},
        "credits": draw.choice((3, 4)),
        "division": draw.choice(("lower", "lower", "upper")),
        "exam_schedule": f"{shifted(now, 40 + draw.choice((number, number, 0)))}T09:00",
        "restricted_to_majors": mostly(draw, (sorted(_MAJORS),), (["Astronomy"], [])),
    }


def _minor(draw: Random, codes: list[str]) -> dict[str, Any]:
    return {
        "required_courses": list(codes),
        "min_credits": 30,
        "min_gpa": mostly(draw, (2.0, 2.4), (3.9,)),
        "prerequisites": draw.choice(([], [], ["GEN2"])),
        "max_overlap": 1,
        "incompatible_majors": draw.choice(([], [], ["Economics"])),
    }


def _student(draw: Random, courses: dict[str, Any]) -> dict[str, Any]:
    enrolled = draw.sample(sorted(courses), draw.choice((1, 2, 4)))
    completed = [code for code in sorted(courses) if code not in enrolled and draw.random() < 0.5]
    return {
        "password": secret(draw),
        "major": draw.choice(sorted(_MAJORS)),
        "completed_credits": draw.choice((20, 60, 120, 185, 190)),
        "gpa": mostly(draw, (2.6, 3.2, 3.8), (1.7,)),
        "enrolled_courses": enrolled,
        "completed_courses": [*completed, *_GENERAL[: mostly(draw, (11, 12), (4,))]],
        "current_credits": sum(courses[code]["credits"] for code in enrolled),
        "tuition_balance": mostly(draw, (0, -20), (300,)),
        "academic_status": mostly(draw, ("Good",), ("Probation",)),
        "financial_aid_quarters": mostly(draw, (0, 5), (12,)),
        "residency": mostly(draw, ("in-state",), ("out-of-state",)),
        "income": mostly(draw, (20000, 45000), (90000,)),
        "minors": draw.choice(([], [], ["Music"])),
        "major_changes": mostly(draw, (0, 1), (3,)),
    }


def request(draw: Random, state: dict[str, Any], goal: str) -> dict[str, Any]:
    """Draw a student and what is asked for."""
    user = draw.choice(sorted(state["students"]))
    student = state["students"][user]
    others = [code for code in sorted(state["courses"]) if code not in student["enrolled_courses"]]
    course = (
        mostly(draw, student["enrolled_courses"], others)
        if goal == "drop_course"
        else mostly(draw, others, ("NIL9",), 0.93)
    )
    values: dict[str, Any] = {
        "username": user,
        "password": student["password"],
        "course_code": course,
        "new_major": mostly(draw, sorted(_MAJORS), ("Alchemy",), 0.93),
        "minor": mostly(draw, sorted(_MINORS), ("Alchemy",), 0.93),
    }
    return chosen(values, (*_CREDENTIALS, *University.parameters[goal]))


SCENARIO = Scenario(
    world,
    request,
    {
        "enroll_course": "enrol in the course {course_code}",
        "drop_course": "drop the course {course_code}",
        "request_graduation": "graduate",
        "change_major": "change the major to {new_major}",
        "declare_minor": "declare the minor {minor}",
        "apply_financial_aid": "apply for financial aid",
    },
)
