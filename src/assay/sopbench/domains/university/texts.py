"""What a model is told about the university: whom it serves, and each condition of a rule in a clause."""

from assay.sopbench.clauses import LOGIN
from assay.sopbench.domain import Texts

TEXTS = Texts(
    role="You serve the students of a university: courses, majors and minors, graduation and financial aid.",
    conditions=LOGIN
    | {
        "internal_check_username_exists": (
            "a student of the name {username} exists",
            "no student of the name {username} exists",
        ),
        "internal_check_course_exists": ("the course {course_code} exists", "the course {course_code} does not exist"),
        "internal_check_major_exists": ("the major {major} exists", "the major {major} does not exist"),
        "internal_check_minor_exists": ("the minor {minor} exists", "the minor {minor} does not exist"),
        "has_completed_prerequisites": ("{username} has completed all that the course {course_code} presupposes"),
        "within_registration_period": "it is the registration period",
        "course_has_capacity": "the course {course_code} has a free place",
        "credits_within_limit": (
            "with the course {course_code}, {username} has at most {limits[max_credits_per_quarter]} "
            "credits this quarter"
        ),
        "no_schedule_conflict": ("no course of {username} meets at the same time as the course {course_code}"),
        "meets_division_requirements": (
            "the course {course_code} is of the lower division, or {username} has completed 90 credits"
        ),
        "course_not_completed": "{username} has not completed the course {course_code} before",
        "no_exam_conflict": (
            "no course of {username} has its exam at the time of the exam of the course {course_code}"
        ),
        "meets_major_restriction": "the course {course_code} is open to the major of {username}",
        "major_requirements_met": "{username} has completed all courses that the major requires",
        "gen_ed_requirements_met": (
            "{username} has completed at least ten courses of general education (codes that begin with GEN)"
        ),
        "credit_requirement_met": ("{username} has completed at least {limits[graduation_credit_requirement]} credits"),
        "gpa_requirement_met": ("the grade point average of {username} is at least {limits[min_gpa_graduation]}"),
        "tuition_balance_zero": "{username} owes no tuition",
        "before_graduation_deadline": "the deadline for graduation has not passed",
        "not_on_probation": "{username} is not on probation",
        "meets_half_time_enrollment": "{username} takes at least six credits this quarter",
        "financial_aid_quota_available": (
            "{username} has had financial aid for fewer than {limits[max_financial_aid_quarters]} quarters"
        ),
        "meets_major_gpa_requirement": (
            "the grade point average of {username} is at least what the major {new_major} requires"
        ),
        "within_major_change_period": "the deadline for changing majors has not passed",
        "under_max_major_changes": ("{username} has changed majors fewer than {limits[max_major_changes]} times"),
        "minor_compatible_with_major": "the minor {minor} is allowed with the major of {username}",
        "under_max_minors": "{username} has fewer than {limits[max_minors]} minors",
        "minor_course_overlap_check": (
            "the minor {minor} shares at most {limits[max_overlap_minor_major]} required courses with "
            "the major of {username}"
        ),
        "meets_minor_gpa_requirement": (
            "the grade point average of {username} is at least what the minor {minor} requires"
        ),
        "meets_minor_prerequisites": ("{username} has completed all that the minor {minor} presupposes"),
        "within_minor_declaration_period": "the deadline for declaring a minor has not passed",
        "has_min_credits_for_major_change": (
            "{username} has completed at least {limits[min_credits_major_change]} credits"
        ),
        "major_has_capacity": "the major {new_major} has a free place",
        "meets_min_gpa_for_aid": ("the grade point average of {username} is at least {limits[min_gpa_financial_aid]}"),
        "meets_income_requirements": ("the income of {username} is at most {limits[max_income_financial_aid]}"),
        "valid_residency_status": "{username} lives in the state or has public residency",
        "maintains_min_credits": (
            "without the course {course_code}, {username} still has at least "
            "{limits[min_credits_drop]} credits this quarter"
        ),
        "within_withdrawal_period": "the deadline for withdrawing has not passed",
        "course_enrolled_by_user": "{username} is enrolled in the course {course_code}",
    },
)
