"""Tools of the motor vehicle office, as a model sees them."""

from assay.sopbench.tools import boolean, string, toolbox

PARAMETERS = {
    "username": string("Name of the account."),
    "identification": string("The password of the account."),
    "admin_password": string("The administrator's password of the account."),
    "admin_password_new": string("The administrator's password from now on."),
    "plate_num": string("Number of the licence plate."),
    "model": string("Make and model of the vehicle."),
    "vin": string("Vehicle identification number."),
    "address_new": string("The new address."),
    "new_name": string("The new legal name."),
    "test_type": string("Which test: knowledge or drive."),
    "schedule_time": string("Date and time of the test, as in 2024-12-01T09:00:00."),
    "passed": boolean("Whether the test was passed."),
    "legal_name": string("Name to write on a new driver's licence."),
    "target_owner": string("Name of the account that takes the vehicle over."),
}

TOOLBOX = toolbox(
    PARAMETERS,
    {
        "login_user(username, identification)": "Log a user in with the account's password.",
        "logout_user(username)": "Log a user out.",
        "authenticate_admin_password(username, admin_password)": (
            "Give the administrator's password of an account for the rest of the session."
        ),
        "set_admin_password(username, admin_password_new)": "Change the administrator's password of an account.",
        "register_vehicle(username, plate_num, model, vin)": "Register a vehicle under an account.",
        "get_reg_status(username, plate_num)": "Tell the registration date of a vehicle.",
        "change_vehicle_address(username, plate_num, address_new)": (
            "Change the address under which a vehicle is registered."
        ),
        "validate_vehicle_insurance(username, plate_num)": "Mark the insurance of a vehicle as valid.",
        "renew_vehicle(username, plate_num)": "Renew the registration of a vehicle by a year.",
        "get_dl_status(username)": "Tell when a user's driver's licence expires.",
        "update_dl_legal_name(username, new_name)": "Change the legal name on a driver's licence.",
        "change_dl_address(username, address_new)": "Change the address on a driver's licence.",
        "renew_dl(username)": "Renew a driver's licence by five years.",
        "show_available_test_slots(username, test_type)": "List the free times of a kind of test.",
        "schedule_test(username, test_type, schedule_time)": "Book a time for a test.",
        "cancel_test(username, test_type)": "Cancel a booked test.",
        "update_test_status(username, test_type, passed, legal_name?)": (
            "Note the result of a test; a passed drive test gives a driver's licence."
        ),
        "transfer_title(username, target_owner, plate_num)": "Hand a vehicle over to another account.",
        "internal_get_database()": "Show the whole database.",
        "internal_check_username_exist(username)": "Check whether an account of this name exists.",
        "internal_get_user_birthday(username)": "Tell a user's date of birth.",
        "internal_has_vehicle(username, plate_num)": "Check whether a vehicle is registered under an account.",
        "internal_vehicle_registered(plate_num)": "Check whether a plate is registered under any account.",
        "internal_get_vehicle_details(username, plate_num)": "Show the record of a vehicle.",
        "internal_has_dl(username)": "Check whether a user has a driver's licence.",
        "internal_get_dl_details(username)": "Show a user's driver's licence.",
        "internal_valid_test_type(test_type)": "Check whether a kind of test exists.",
        "internal_check_test_slot_available(test_type, schedule_time)": "Check whether a time of a test is free.",
        "internal_get_test_details(username, test_type)": "Show state, time and attempts of a user's test.",
        "internal_get_interaction_time()": "Tell the present date and time.",
    },
    hidden=("internal_get_database",),
)
