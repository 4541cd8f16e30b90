"""Tools of the university, as a model sees them."""

from assay.sopbench.tools import string, toolbox

PARAMETERS = {
    "username": string("Name of the student's account."),
    "password": string("The password of the account."),
    "course_code": string("Code of the course."),
    "new_major": string("The major to change to."),
    "minor": string("Name of the minor."),
    "major": string("Name of the major."),
}

TOOLBOX = toolbox(
    PARAMETERS,
    {
        "login_user(username, password)": "Log a student in with the account's password.",
        "logout_user(username)": "Log a student out.",
        "enroll_course(username, course_code)": "Enrol a student in a course.",
        "drop_course(username, course_code)": "Take a student out of a course.",
        "request_graduation(username)": "Ask for a student's graduation.",
        "change_major(username, new_major)": "Change a student's major.",
        "declare_minor(username, minor)": "Give a student a minor.",
        "apply_financial_aid(username)": "Apply for financial aid for the next quarter.",
        "internal_check_username_exists(username)": "Check whether a student of this name exists.",
        "internal_check_course_exists(course_code)": "Check whether a course exists.",
        "internal_get_academic_calendar()": "Show the periods and deadlines of the academic year.",
        "internal_get_course_info(course_code)": "Show the record of a course.",
        "internal_get_student_info(username)": "Show the record of a student.",
        "internal_get_major_info(major)": "Show what a major requires.",
        "internal_check_major_exists(major)": "Check whether a major exists.",
        "internal_get_minor_info(minor)": "Show what a minor requires.",
        "internal_check_minor_exists(minor)": "Check whether a minor exists.",
        "internal_get_interaction_time()": "Tell the present date and time.",
        "internal_get_number_of_students_for_major(major)": "Tell how many students have a major.",
        "internal_get_database()": "Show the whole database.",
    },
    hidden=("internal_get_database",),
)
