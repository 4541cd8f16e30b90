"""Rule tables of the university: who may do what, what must hold first, and which calls verify it."""

from assay.sopbench.rules import Rules

RULES = Rules.of(
    innate={
        "login_user": "internal_check_username_exists(username)",
        "enroll_course": "internal_check_course_exists(course_code)",
        "change_major": "internal_check_major_exists(major=new_major)",
        "declare_minor": "internal_check_minor_exists(minor)",
        "internal_get_course_info": "internal_check_course_exists(course_code)",
        "internal_get_student_info": "internal_check_username_exists(username)",
        "internal_get_major_info": "internal_check_major_exists(major)",
        "internal_get_minor_info": "internal_check_minor_exists(minor)",
        "internal_get_number_of_students_for_major": "internal_check_major_exists(major)",
    },
    required={
        "enroll_course": "logged_in_user(username)",
        "drop_course": "and[course_enrolled_by_user(username, course_code), logged_in_user(username)]",
        "request_graduation": "logged_in_user(username)",
        "change_major": "logged_in_user(username)",
        "declare_minor": "logged_in_user(username)",
        "apply_financial_aid": "logged_in_user(username)",
    },
    customizable={
        "enroll_course": (
            "and[has_completed_prerequisites(username, course_code), within_registration_period(), "
            "course_has_capacity(course_code), credits_within_limit(username, course_code), "
            "no_schedule_conflict(username, course_code), meets_division_requirements(username, course_code), "
            "course_not_completed(username, course_code), no_exam_conflict(username, course_code), "
            "meets_major_restriction(username, course_code)]"
        ),
        "drop_course": "and[maintains_min_credits(username, course_code), within_withdrawal_period()]",
        "request_graduation": (
            "and[major_requirements_met(username), gen_ed_requirements_met(username), "
            "credit_requirement_met(username), gpa_requirement_met(username), tuition_balance_zero(username), "
            "before_graduation_deadline(), not_on_probation(username)]"
        ),
        "change_major": (
            "and[meets_major_gpa_requirement(username, new_major), within_major_change_period(), "
            "under_max_major_changes(username), has_min_credits_for_major_change(username), "
            "major_has_capacity(new_major)]"
        ),
        "declare_minor": (
            "and[minor_compatible_with_major(username, minor), under_max_minors(username), "
            "minor_course_overlap_check(username, minor), meets_minor_gpa_requirement(username, minor), "
            "meets_minor_prerequisites(username, minor), within_minor_declaration_period()]"
        ),
        "apply_financial_aid": (
            "and[meets_half_time_enrollment(username), financial_aid_quota_available(username), "
            "not_on_probation(username), meets_min_gpa_for_aid(username), meets_income_requirements(username), "
            "valid_residency_status(username)]"
        ),
    },
    links={
        "logged_in_user": "login_user(username)",
    },
    dependencies={
        "has_completed_prerequisites": (
            "and[internal_check_username_exists(username), internal_check_course_exists(course_code)]"
        ),
        "course_has_capacity": "internal_check_course_exists(course_code)",
        "credits_within_limit": (
            "and[internal_check_username_exists(username), internal_check_course_exists(course_code)]"
        ),
        "no_schedule_conflict": (
            "and[internal_check_username_exists(username), internal_check_course_exists(course_code)]"
        ),
        "meets_division_requirements": (
            "and[internal_check_username_exists(username), internal_check_course_exists(course_code)]"
        ),
        "course_not_completed": (
            "and[internal_check_username_exists(username), internal_check_course_exists(course_code)]"
        ),
        "no_exam_conflict": "and[internal_check_username_exists(username), internal_check_course_exists(course_code)]",
        "major_requirements_met": "internal_check_username_exists(username)",
        "gen_ed_requirements_met": "internal_check_username_exists(username)",
        "credit_requirement_met": "internal_check_username_exists(username)",
        "gpa_requirement_met": "internal_check_username_exists(username)",
        "tuition_balance_zero": "internal_check_username_exists(username)",
        "not_on_probation": "internal_check_username_exists(username)",
        "meets_half_time_enrollment": "internal_check_username_exists(username)",
        "financial_aid_quota_available": "internal_check_username_exists(username)",
        "meets_major_gpa_requirement": (
            "and[internal_check_username_exists(username), internal_check_major_exists(major=new_major)]"
        ),
        "under_max_major_changes": "internal_check_username_exists(username)",
        "minor_compatible_with_major": (
            "and[internal_check_username_exists(username), internal_check_minor_exists(minor)]"
        ),
        "under_max_minors": "internal_check_username_exists(username)",
        "minor_course_overlap_check": (
            "and[internal_check_username_exists(username), internal_check_minor_exists(minor)]"
        ),
        "meets_minor_gpa_requirement": (
            "and[internal_check_username_exists(username), internal_check_minor_exists(minor)]"
        ),
        "meets_minor_prerequisites": (
            "and[internal_check_username_exists(username), internal_check_minor_exists(minor)]"
        ),
        "has_min_credits_for_major_change": "internal_check_username_exists(username)",
        "major_has_capacity": "internal_check_major_exists(major=new_major)",
        "meets_min_gpa_for_aid": "internal_check_username_exists(username)",
        "meets_income_requirements": "internal_check_username_exists(username)",
        "valid_residency_status": "internal_check_username_exists(username)",
        "meets_major_restriction": (
            "and[internal_check_username_exists(username), internal_check_course_exists(course_code)]"
        ),
        "maintains_min_credits": (
            "and[internal_check_username_exists(username), internal_check_course_exists(course_code)]"
        ),
        "course_enrolled_by_user": "internal_check_username_exists(username)",
    },
    processes={
        "internal_check_major_exists": "internal_check_major_exists(major)",
        "internal_check_minor_exists": "internal_check_minor_exists(minor)",
        "has_completed_prerequisites": (
            "and[internal_get_student_info(username), internal_get_course_info(course_code)]"
        ),
        "within_registration_period": "and[internal_get_academic_calendar(), internal_get_interaction_time()]",
        "course_has_capacity": "internal_get_course_info(course_code)",
        "credits_within_limit": "and[internal_get_student_info(username), internal_get_course_info(course_code)]",
        "no_schedule_conflict": "and[internal_get_student_info(username), internal_get_course_info(course_code)]",
        "meets_division_requirements": (
            "and[internal_get_student_info(username), internal_get_course_info(course_code)]"
        ),
        "course_not_completed": "internal_get_student_info(username)",
        "no_exam_conflict": "and[internal_get_student_info(username), internal_get_course_info(course_code)]",
        "major_requirements_met": "internal_get_student_info(username)",
        "gen_ed_requirements_met": "internal_get_student_info(username)",
        "credit_requirement_met": "internal_get_student_info(username)",
        "gpa_requirement_met": "internal_get_student_info(username)",
        "tuition_balance_zero": "internal_get_student_info(username)",
        "before_graduation_deadline": "and[internal_get_academic_calendar(), internal_get_interaction_time()]",
        "not_on_probation": "internal_get_student_info(username)",
        "meets_half_time_enrollment": "internal_get_student_info(username)",
        "financial_aid_quota_available": "internal_get_student_info(username)",
        "meets_major_gpa_requirement": (
            "and[internal_get_student_info(username), internal_get_major_info(major=new_major)]"
        ),
        "within_major_change_period": "and[internal_get_academic_calendar(), internal_get_interaction_time()]",
        "under_max_major_changes": "internal_get_student_info(username)",
        "minor_compatible_with_major": "and[internal_get_student_info(username), internal_get_minor_info(minor)]",
        "under_max_minors": "internal_get_student_info(username)",
        "minor_course_overlap_check": (
            "and[internal_get_student_info(username), internal_get_minor_info(minor), internal_get_major_info(major)]"
        ),
        "meets_minor_gpa_requirement": "and[internal_get_student_info(username), internal_get_minor_info(minor)]",
        "meets_minor_prerequisites": "and[internal_get_student_info(username), internal_get_minor_info(minor)]",
        "within_minor_declaration_period": "and[internal_get_academic_calendar(), internal_get_interaction_time()]",
        "has_min_credits_for_major_change": "internal_get_student_info(username)",
        "major_has_capacity": (
            "and[internal_get_major_info(major=new_major), internal_get_number_of_students_for_major(major=new_major)]"
        ),
        "meets_min_gpa_for_aid": "internal_get_student_info(username)",
        "meets_income_requirements": "internal_get_student_info(username)",
        "valid_residency_status": "internal_get_student_info(username)",
        "meets_major_restriction": "and[internal_get_student_info(username), internal_get_course_info(course_code)]",
        "maintains_min_credits": "and[internal_get_student_info(username), internal_get_course_info(course_code)]",
        "within_withdrawal_period": "and[internal_get_academic_calendar(), internal_get_interaction_time()]",
        "course_enrolled_by_user": "internal_get_student_info(username)",
    },
    limits={
        "graduation_credit_requirement": 180,
        "max_credits_per_quarter": 18,
        "max_financial_aid_quarters": 12,
        "max_income_financial_aid": 50000,
        "max_major_changes": 3,
        "max_minors": 2,
        "max_overlap_minor_major": 2,
        "min_credits_drop": 12,
        "min_credits_financial_aid": 6,
        "min_credits_major_change": 45,
        "min_credits_minor": 30,
        "min_gpa_financial_aid": 2.0,
        "min_gpa_graduation": 2.0,
    },
)
