"""Tools of the motor vehicle office, as a model sees them."""

from assay.sopbench.domain import Toolbox
from assay.sopbench.tools import boolean, string, tool

USERNAME = string("Name of the account.")
IDENTIFICATION = string("The password of the account.")
ADMIN_PASSWORD = string("The administrator's password of the account.")
ADMIN_PASSWORD_NEW = string("The administrator's password from now on.")
PLATE_NUM = string("Number of the licence plate.")
MODEL = string("Make and model of the vehicle.")
VIN = string("Vehicle identification number.")
ADDRESS_NEW = string("The new address.")
NEW_NAME = string("The new legal name.")
TEST_TYPE = string("Which test: knowledge or drive.")
SCHEDULE_TIME = string("Date and time of the test, as in 2024-12-01T09:00:00.")
PASSED = boolean("Whether the test was passed.")
LEGAL_NAME = string("Name to write on a new driver's licence.")
TARGET_OWNER = string("Name of the account that takes the vehicle over.")

TOOLBOX = Toolbox(
    tools=(
        tool(
            "login_user", "Log a user in with the account's password.", username=USERNAME, identification=IDENTIFICATION
        ),
        tool("logout_user", "Log a user out.", username=USERNAME),
        tool(
            "authenticate_admin_password",
            "Give the administrator's password of an account for the rest of the session.",
            username=USERNAME,
            admin_password=ADMIN_PASSWORD,
        ),
        tool(
            "set_admin_password",
            "Change the administrator's password of an account.",
            username=USERNAME,
            admin_password_new=ADMIN_PASSWORD_NEW,
        ),
        tool(
            "register_vehicle",
            "Register a vehicle under an account.",
            username=USERNAME,
            plate_num=PLATE_NUM,
            model=MODEL,
            vin=VIN,
        ),
        tool("get_reg_status", "Tell the registration date of a vehicle.", username=USERNAME, plate_num=PLATE_NUM),
        tool(
            "change_vehicle_address",
            "Change the address under which a vehicle is registered.",
            username=USERNAME,
            plate_num=PLATE_NUM,
            address_new=ADDRESS_NEW,
        ),
        tool(
            "validate_vehicle_insurance",
            "Mark the insurance of a vehicle as valid.",
            username=USERNAME,
            plate_num=PLATE_NUM,
        ),
        tool("renew_vehicle", "Renew the registration of a vehicle by a year.", username=USERNAME, plate_num=PLATE_NUM),
        tool("get_dl_status", "Tell when a user's driver's licence expires.", username=USERNAME),
        tool(
            "update_dl_legal_name", "Change the legal name on a driver's licence.", username=USERNAME, new_name=NEW_NAME
        ),
        tool(
            "change_dl_address", "Change the address on a driver's licence.", username=USERNAME, address_new=ADDRESS_NEW
        ),
        tool("renew_dl", "Renew a driver's licence by five years.", username=USERNAME),
        tool(
            "show_available_test_slots",
            "List the free times of a kind of test.",
            username=USERNAME,
            test_type=TEST_TYPE,
        ),
        tool(
            "schedule_test",
            "Book a time for a test.",
            username=USERNAME,
            test_type=TEST_TYPE,
            schedule_time=SCHEDULE_TIME,
        ),
        tool("cancel_test", "Cancel a booked test.", username=USERNAME, test_type=TEST_TYPE),
        tool(
            "update_test_status",
            "Note the result of a test; a passed drive test gives a driver's licence.",
            optional=("legal_name",),
            username=USERNAME,
            test_type=TEST_TYPE,
            passed=PASSED,
            legal_name=LEGAL_NAME,
        ),
        tool(
            "transfer_title",
            "Hand a vehicle over to another account.",
            username=USERNAME,
            target_owner=TARGET_OWNER,
            plate_num=PLATE_NUM,
        ),
        tool("internal_get_database", "Show the whole database."),
        tool("internal_check_username_exist", "Check whether an account of this name exists.", username=USERNAME),
        tool("internal_get_user_birthday", "Tell a user's date of birth.", username=USERNAME),
        tool(
            "internal_has_vehicle",
            "Check whether a vehicle is registered under an account.",
            username=USERNAME,
            plate_num=PLATE_NUM,
        ),
        tool(
            "internal_vehicle_registered", "Check whether a plate is registered under any account.", plate_num=PLATE_NUM
        ),
        tool("internal_get_vehicle_details", "Show the record of a vehicle.", username=USERNAME, plate_num=PLATE_NUM),
        tool("internal_has_dl", "Check whether a user has a driver's licence.", username=USERNAME),
        tool("internal_get_dl_details", "Show a user's driver's licence.", username=USERNAME),
        tool("internal_valid_test_type", "Check whether a kind of test exists.", test_type=TEST_TYPE),
        tool(
            "internal_check_test_slot_available",
            "Check whether a time of a test is free.",
            test_type=TEST_TYPE,
            schedule_time=SCHEDULE_TIME,
        ),
        tool(
            "internal_get_test_details",
            "Show state, time and attempts of a user's test.",
            username=USERNAME,
            test_type=TEST_TYPE,
        ),
        tool("internal_get_interaction_time", "Tell the present date and time."),
    ),
    hidden=("internal_get_database",),
)
