"""What a model is told about the motor vehicle office: whom it serves, and each condition of a rule in a clause."""

from assay.sopbench.clauses import ADMINISTRATOR
from assay.sopbench.domain import Texts

TEXTS = Texts(
    role="You serve the visitors of a motor vehicle office: vehicles, driver's licences and tests.",
    conditions=ADMINISTRATOR
    | {
        "internal_has_vehicle": (
            "the vehicle {plate_num} is registered under {username}",
            "the vehicle {plate_num} is not registered under {username}",
        ),
        "internal_vehicle_registered": (
            "the plate {plate_num} is registered",
            "the plate {plate_num} is not registered under any account",
        ),
        "internal_has_dl": ("{username} has a driver's licence", "{username} has no driver's licence"),
        "internal_valid_test_type": ("{test_type} is a kind of test", "{test_type} is no kind of test"),
        "internal_check_test_slot_available": (
            "the time {schedule_time} is free for the test {test_type}",
            ("the time {schedule_time} is not free for the test {test_type}"),
        ),
        "is_vehicle_address_different": (
            "{address_new} is another address than the one of the vehicle {plate_num} of {username}"
        ),
        "valid_vehicle_insurance": (
            ("the insurance of the vehicle {plate_num} of {username} is valid"),
            ("the insurance of the vehicle {plate_num} of {username} is not valid"),
        ),
        "within_vehicle_renewal_period": (
            "today lies in the {limits[vehicle_renewal_window]} days up to the registration date of "
            "the vehicle {plate_num} of {username}"
        ),
        "is_dl_address_different": (
            "{address_new} is another address than the one on the driver's licence of {username}"
        ),
        "within_dl_renewal_period": (
            "today lies in the {limits[dl_renewal_window]} days up to the expiry of the driver's licence of {username}"
        ),
        "above_minimum_age": "{username} is at least {limits[min_age]} years old",
        "test_type_is_drive": ("{test_type} is the drive test", "{test_type} is not the drive test"),
        "drive_test_ready": (
            ("{username} has passed the knowledge test and has no drive test scheduled"),
            ("{username} has not passed the knowledge test, or has a drive test scheduled or passed"),
        ),
        "test_scheduled": "{username} has a time for the test {test_type}",
        "within_attempt_limit": ("{username} has tried the test {test_type} fewer than {limits[attempt_limit]} times"),
        "before_test_date": (
            "the time of {username}'s test {test_type} is still to come",
            "the time of {username}'s test {test_type} has come",
        ),
    },
)
