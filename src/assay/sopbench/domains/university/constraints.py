"""Truth values of the university's constraints, and its session: one user. Its strict system has no helpers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from assay.sopbench.dates import day, moment
from assay.sopbench.domains.university.functions import University
from assay.sopbench.sessions import OneUserSession
from assay.sopbench.system import System

_UPPER_DIVISION_CREDITS = 90
_GENERAL_EDUCATION_COURSES = 10
_HALF_TIME_CREDITS = 6  # a constant; the threshold min_credits_financial_aid is not read (as published)


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def _overlap(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Return whether two weekly schedules share a day on which their half-open time ranges overlap."""
    if not set(first["days"]) & set(second["days"]):
        return False
    (start_a, end_a), (start_b, end_b) = (map(_minutes, plan["time"].split("-")) for plan in (first, second))
    return start_a < end_b and start_b < end_a


class UniversitySession(OneUserSession):
    """Who is logged in, and what the rules test."""

    # Every strict service has a parameter list, so that wrong argument names raise before any rule is checked.
    explicit: ClassVar[frozenset[str]] = frozenset(University.functions)
    lacks_helpers: ClassVar[bool] = True

    def __init__(self, system: System, limits: Mapping[str, Any], *, careful: bool = False) -> None:
        super().__init__(system, limits, careful=careful)
        self._students: dict[str, Any] = self.state["students"]
        self._courses: dict[str, Any] = self.state["courses"]

    def _now(self) -> datetime:
        return moment(self.state["interaction_time"])

    def _deadline(self, name: str) -> datetime:
        return day(self.state["academic_calendar"][name])

    def _enrolled(self, username: str) -> list[dict[str, Any]]:
        return [self._courses[code] for code in self._students[username]["enrolled_courses"]]

    def has_completed_prerequisites(self, username: str, course_code: str) -> bool:
        completed = self._students[username]["completed_courses"]
        return all(code in completed for code in self._courses[course_code]["prerequisites"])

    def within_registration_period(self) -> bool:
        start, end = self.state["academic_calendar"]["registration_period"]
        return day(start) <= self._now() <= day(end)

    def course_has_capacity(self, course_code: str) -> bool:
        course = self._courses[course_code]
        return bool(course["enrolled"] < course["capacity"])

    def credits_within_limit(self, username: str, course_code: str) -> bool:
        total = self._students[username]["current_credits"] + self._courses[course_code]["credits"]
        return bool(total <= self.limits["max_credits_per_quarter"])

    def no_schedule_conflict(self, username: str, course_code: str) -> bool:
        schedule = self._courses[course_code]["schedule"]
        return not any(_overlap(schedule, course["schedule"]) for course in self._enrolled(username))

    def meets_division_requirements(self, username: str, course_code: str) -> bool:
        if self._courses[course_code]["division"] != "upper":
            return True
        return bool(self._students[username]["completed_credits"] >= _UPPER_DIVISION_CREDITS)

    def course_not_completed(self, username: str, course_code: str) -> bool:
        return course_code not in self._students[username]["completed_courses"]

    def no_exam_conflict(self, username: str, course_code: str) -> bool:
        exam = moment(self._courses[course_code]["exam_schedule"])
        return all(moment(course["exam_schedule"]) != exam for course in self._enrolled(username))

    def meets_major_restriction(self, username: str, course_code: str) -> bool:
        # An empty list admits nobody (as published).
        return self._students[username]["major"] in self._courses[course_code]["restricted_to_majors"]

    def major_requirements_met(self, username: str) -> bool:
        student = self._students[username]
        required = self.state["majors"][student["major"]]["required_courses"]
        return all(code in student["completed_courses"] for code in required)

    def gen_ed_requirements_met(self, username: str) -> bool:
        codes = self._students[username]["completed_courses"]
        return sum(1 for code in codes if code.startswith("GEN")) >= _GENERAL_EDUCATION_COURSES

    def credit_requirement_met(self, username: str) -> bool:
        return bool(self._students[username]["completed_credits"] >= self.limits["graduation_credit_requirement"])

    def gpa_requirement_met(self, username: str) -> bool:
        return bool(self._students[username]["gpa"] >= self.limits["min_gpa_graduation"])

    def tuition_balance_zero(self, username: str) -> bool:
        return bool(self._students[username]["tuition_balance"] <= 0)

    def before_graduation_deadline(self) -> bool:
        return self._now() <= self._deadline("graduation_deadline")

    def not_on_probation(self, username: str) -> bool:
        return bool(self._students[username]["academic_status"].lower() != "probation")

    def meets_half_time_enrollment(self, username: str) -> bool:
        return bool(self._students[username]["current_credits"] >= _HALF_TIME_CREDITS)

    def financial_aid_quota_available(self, username: str) -> bool:
        return bool(self._students[username]["financial_aid_quarters"] < self.limits["max_financial_aid_quarters"])

    def meets_min_gpa_for_aid(self, username: str) -> bool:
        return bool(self._students[username]["gpa"] >= self.limits["min_gpa_financial_aid"])

    def meets_income_requirements(self, username: str) -> bool:
        return bool(self._students[username]["income"] <= self.limits["max_income_financial_aid"])

    def valid_residency_status(self, username: str) -> bool:
        return self._students[username]["residency"] in ("in-state", "public")

    def meets_major_gpa_requirement(self, username: str, new_major: str) -> bool:
        return bool(self._students[username]["gpa"] >= self.state["majors"].get(new_major, {}).get("min_gpa", 0))

    def within_major_change_period(self) -> bool:
        return self._now().date() <= self._deadline("major_change_deadline").date()

    def under_max_major_changes(self, username: str) -> bool:
        return bool(self._students[username]["major_changes"] < self.limits["max_major_changes"])

    def has_min_credits_for_major_change(self, username: str) -> bool:
        return bool(self._students[username]["completed_credits"] >= self.limits["min_credits_major_change"])

    def major_has_capacity(self, new_major: str) -> bool:
        taken = sum(1 for student in self._students.values() if student["major"] == new_major)
        return bool(taken < self.state["majors"][new_major]["capacity"])

    def minor_compatible_with_major(self, username: str, minor: str) -> bool:
        return self._students[username]["major"] not in self.state["minors"][minor]["incompatible_majors"]

    def under_max_minors(self, username: str) -> bool:
        return bool(len(self._students[username]["minors"]) < self.limits["max_minors"])

    def minor_course_overlap_check(self, username: str, minor: str) -> bool:
        major = self.state["majors"][self._students[username]["major"]]
        shared = set(self.state["minors"][minor]["required_courses"]) & set(major["required_courses"])
        return bool(len(shared) <= self.limits["max_overlap_minor_major"])

    def meets_minor_gpa_requirement(self, username: str, minor: str) -> bool:
        return bool(self._students[username]["gpa"] >= self.state["minors"].get(minor, {}).get("min_gpa", 2.0))

    def meets_minor_prerequisites(self, username: str, minor: str) -> bool:
        completed = self._students[username]["completed_courses"]
        return all(code in completed for code in self.state["minors"][minor]["prerequisites"])

    def within_minor_declaration_period(self) -> bool:
        return self._now() <= self._deadline("minor_declaration_deadline")

    def maintains_min_credits(self, username: str, course_code: str) -> bool:
        left = self._students[username]["current_credits"] - self._courses[course_code]["credits"]
        return bool(left >= self.limits["min_credits_drop"])

    def within_withdrawal_period(self) -> bool:
        return self._now() <= self._deadline("withdrawal_deadline")

    def course_enrolled_by_user(self, username: str, course_code: str) -> bool:
        return course_code in self._students[username]["enrolled_courses"]
