"""Rule tables of the motor vehicle office: who may do what, what must hold first, and which calls verify it."""

from assay.sopbench.rules import Rules

RULES = Rules.of(
    innate={
        "login_user": "internal_check_username_exist(username)",
        "show_available_test_slots": "internal_valid_test_type(test_type)",
        "schedule_test": "internal_valid_test_type(test_type)",
        "cancel_test": "internal_valid_test_type(test_type)",
        "update_test_status": "internal_valid_test_type(test_type)",
        "internal_get_user_birthday": "internal_check_username_exist(username)",
        "internal_has_vehicle": "internal_check_username_exist(username)",
        "internal_get_vehicle_details": "internal_has_vehicle(username, plate_num)",
        "internal_has_dl": "internal_check_username_exist(username)",
        "internal_get_dl_details": "internal_has_dl(username)",
        "internal_check_test_slot_available": "internal_valid_test_type(test_type)",
        "internal_get_test_details": (
            "and[internal_check_username_exist(username), internal_valid_test_type(test_type)]"
        ),
    },
    required={
        "logout_user": "logged_in_user(username)",
        "authenticate_admin_password": "logged_in_user(username)",
        "set_admin_password": "authenticated_admin_password(username)",
        "register_vehicle": "and[logged_in_user(username), not internal_vehicle_registered(plate_num)]",
        "get_reg_status": "internal_has_vehicle(username, plate_num)",
        "change_vehicle_address": "internal_has_vehicle(username, plate_num)",
        "validate_vehicle_insurance": (
            "chain[internal_has_vehicle(username, plate_num), not valid_vehicle_insurance(username, plate_num)]"
        ),
        "renew_vehicle": "internal_has_vehicle(username, plate_num)",
        "get_dl_status": "internal_has_dl(username)",
        "update_dl_legal_name": "internal_has_dl(username)",
        "change_dl_address": "internal_has_dl(username)",
        "renew_dl": "internal_has_dl(username)",
        "schedule_test": "and[logged_in_user(username), internal_check_test_slot_available(test_type, schedule_time)]",
        "cancel_test": "and[logged_in_user(username), test_scheduled(username, test_type)]",
        "update_test_status": "and[logged_in_user(username), test_scheduled(username, test_type)]",
        "transfer_title": (
            "and[logged_in_user(username), internal_check_username_exist(username=target_owner), "
            "internal_has_vehicle(username, plate_num)]"
        ),
    },
    customizable={
        "register_vehicle": "internal_has_dl(username)",
        "get_reg_status": "logged_in_user(username)",
        "change_vehicle_address": (
            "and[logged_in_user(username), is_vehicle_address_different(username, plate_num, address_new)]"
        ),
        "validate_vehicle_insurance": "and[logged_in_user(username), internal_has_dl(username)]",
        "renew_vehicle": (
            "and[logged_in_user(username), valid_vehicle_insurance(username, plate_num), "
            "within_vehicle_renewal_period(username, plate_num)]"
        ),
        "get_dl_status": "logged_in_user(username)",
        "update_dl_legal_name": "logged_in_user(username)",
        "change_dl_address": "and[logged_in_user(username), is_dl_address_different(username, address_new)]",
        "renew_dl": "and[logged_in_user(username), within_dl_renewal_period(username)]",
        "show_available_test_slots": "logged_in_user(username)",
        "schedule_test": (
            "and[and[or[and[test_type_is_drive(test_type), drive_test_ready(username)], "
            "and[not test_type_is_drive(test_type), not drive_test_ready(username)]], "
            "above_minimum_age(username)], within_attempt_limit(username, test_type)]"
        ),
        "cancel_test": "and[before_test_date(username, test_type)]",
        "update_test_status": "and[not before_test_date(username, test_type)]",
        "transfer_title": "and[internal_has_dl(username), internal_has_dl(username=target_owner)]",
    },
    links={
        "logged_in_user": "login_user(username, identification)",
        "authenticated_admin_password": "authenticate_admin_password(username, admin_password)",
    },
    dependencies={
        "authenticate_admin_password": "logged_in_user(username)",
        "is_vehicle_address_different": "internal_has_vehicle(username, plate_num)",
        "valid_vehicle_insurance": "internal_has_vehicle(username, plate_num)",
        "within_vehicle_renewal_period": "internal_has_vehicle(username, plate_num)",
        "is_dl_address_different": "internal_has_dl(username)",
        "within_dl_renewal_period": "internal_has_dl(username)",
        "above_minimum_age": "internal_check_username_exist(username)",
        "drive_test_ready": "internal_check_username_exist(username)",
        "test_scheduled": "and[internal_check_username_exist(username), internal_valid_test_type(test_type)]",
        "within_attempt_limit": "and[internal_check_username_exist(username), internal_valid_test_type(test_type)]",
        "before_test_date": "and[internal_check_username_exist(username), internal_valid_test_type(test_type)]",
    },
    processes={
        "internal_check_username_exist": "or[internal_check_username_exist(username), internal_get_database()]",
        "internal_has_vehicle": "or[internal_has_vehicle(username, plate_num), internal_get_database()]",
        "internal_vehicle_registered": "or[internal_vehicle_registered(plate_num), internal_get_database()]",
        "internal_has_dl": "or[internal_has_dl(username), internal_get_database()]",
        "internal_valid_test_type": "or[internal_valid_test_type(test_type), internal_get_database()]",
        "internal_check_test_slot_available": (
            "or[internal_check_test_slot_available(test_type, schedule_time), internal_get_database()]"
        ),
        "is_vehicle_address_different": (
            "or[internal_get_vehicle_details(username, plate_num), internal_get_database()]"
        ),
        "valid_vehicle_insurance": "or[internal_get_vehicle_details(username, plate_num), internal_get_database()]",
        "within_vehicle_renewal_period": (
            "or[and[internal_get_vehicle_details(username, plate_num), internal_get_interaction_time()], "
            "internal_get_database()]"
        ),
        "is_dl_address_different": "or[internal_get_dl_details(username), internal_get_database()]",
        "within_dl_renewal_period": (
            "or[and[internal_get_dl_details(username), internal_get_interaction_time()], internal_get_database()]"
        ),
        "above_minimum_age": (
            "or[and[internal_get_interaction_time(), internal_get_user_birthday(username)], internal_get_database()]"
        ),
        "drive_test_ready": "or[internal_get_test_details(username, test_type), internal_get_database()]",
        "test_scheduled": "or[internal_get_test_details(username, test_type), internal_get_database()]",
        "within_attempt_limit": "or[internal_get_test_details(username, test_type), internal_get_database()]",
        "before_test_date": (
            "or[and[internal_get_test_details(username, test_type), internal_get_interaction_time()], "
            "internal_get_database()]"
        ),
    },
    limits={
        "attempt_limit": 3,
        "dl_renewal_window": 180,
        "min_age": 16,
        "vehicle_renewal_window": 90,
    },
)
