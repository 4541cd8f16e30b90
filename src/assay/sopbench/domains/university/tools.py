"""Tools of the university, as a model sees them."""

from assay.sopbench.domain import Toolbox
from assay.sopbench.tools import string, tool

USERNAME = string("Name of the student's account.")
PASSWORD = string("The password of the account.")
COURSE_CODE = string("Code of the course.")
NEW_MAJOR = string("The major to change to.")
MINOR = string("Name of the minor.")
MAJOR = string("Name of the major.")

TOOLBOX = Toolbox(
    tools=(
        tool("login_user", "Log a student in with the account's password.", username=USERNAME, password=PASSWORD),
        tool("logout_user", "Log a student out.", username=USERNAME),
        tool("enroll_course", "Enrol a student in a course.", username=USERNAME, course_code=COURSE_CODE),
        tool("drop_course", "Take a student out of a course.", username=USERNAME, course_code=COURSE_CODE),
        tool("request_graduation", "Ask for a student's graduation.", username=USERNAME),
        tool("change_major", "Change a student's major.", username=USERNAME, new_major=NEW_MAJOR),
        tool("declare_minor", "Give a student a minor.", username=USERNAME, minor=MINOR),
        tool("apply_financial_aid", "Apply for financial aid for the next quarter.", username=USERNAME),
        tool("internal_check_username_exists", "Check whether a student of this name exists.", username=USERNAME),
        tool("internal_check_course_exists", "Check whether a course exists.", course_code=COURSE_CODE),
        tool("internal_get_academic_calendar", "Show the periods and deadlines of the academic year."),
        tool("internal_get_course_info", "Show the record of a course.", course_code=COURSE_CODE),
        tool("internal_get_student_info", "Show the record of a student.", username=USERNAME),
        tool("internal_get_major_info", "Show what a major requires.", major=MAJOR),
        tool("internal_check_major_exists", "Check whether a major exists.", major=MAJOR),
        tool("internal_get_minor_info", "Show what a minor requires.", minor=MINOR),
        tool("internal_check_minor_exists", "Check whether a minor exists.", minor=MINOR),
        tool("internal_get_interaction_time", "Tell the present date and time."),
        tool("internal_get_number_of_students_for_major", "Tell how many students have a major.", major=MAJOR),
        tool("internal_get_database", "Show the whole database."),
    ),
    hidden=("internal_get_database",),
)
