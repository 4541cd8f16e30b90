"""What a model is told about the hotel: whom it serves, and each condition of a rule in a clause."""

from assay.sopbench.domain import Texts

TEXTS = Texts(
    role="You serve the guests of a hotel: rooms, bookings, check-in, check-out, room service and loyalty.",
    conditions={
        "internal_valid_room_type": (
            "the hotel has rooms of the type {room_type}",
            "the hotel has no rooms of the type {room_type}",
        ),
        "internal_is_loyalty_member": (
            "{guest_name} is a member of the loyalty programme",
            "{guest_name} is not a member of the loyalty programme",
        ),
        "internal_valid_room_change_reason": (
            "{reason} is a reason for a change of rooms",
            "{reason} is no reason for a change of rooms",
        ),
        "internal_valid_room_service_order_type": (
            "{order_type} is a category of room service",
            "{order_type} is no category of room service",
        ),
        "internal_valid_room_service_item": (
            "all of {order_items} is offered in the category {order_type}",
            ("some of {order_items} is not offered in the category {order_type}"),
        ),
        "internal_valid_room_id": ("the room {room_id} exists", "the room {room_id} does not exist"),
        "internal_valid_room_service_payment_method": (
            "{payment_method} is a way of paying for room service",
            "{payment_method} is no way of paying for room service",
        ),
        "valid_booking_date_pair": (
            "{check_out_date} is later than {check_in_date}",
            "{check_out_date} is not later than {check_in_date}",
        ),
        "room_type_available_for_dates": (
            "some room of the type {room_type} is free for all nights from {check_in_date} to {check_out_date}"
        ),
        "is_booking_date_within_lead_time_range": (
            "today is between {limits[min_booking_lead_time_days]} and "
            "{limits[max_booking_lead_time_days]} days before {check_in_date}"
        ),
        "has_exceeded_maximum_stays": (
            ("the stay from {check_in_date} to {check_out_date} is longer than {limits[max_stays]} nights"),
            ("the stay from {check_in_date} to {check_out_date} is at most {limits[max_stays]} nights long"),
        ),
        "sufficient_amount_for_booking": (
            "{amount} pays for all nights from {check_in_date} to {check_out_date} in a room of the type {room_type}"
        ),
        "has_overlapping_booking_for_booking": (
            ("{guest_name} has another booking in the time from {check_in_date} to {check_out_date}"),
            ("{guest_name} has no other booking in the time from {check_in_date} to {check_out_date}"),
        ),
        "has_overlapping_booking_for_modification": (
            (
                "{guest_name} has a booking besides the one from {old_check_in_date} to "
                "{old_check_out_date} in the time from {check_in_date} to {check_out_date}"
            ),
            (
                "{guest_name} has no booking besides the one from {old_check_in_date} to "
                "{old_check_out_date} in the time from {check_in_date} to {check_out_date}"
            ),
        ),
        "before_modification_deadline": (
            "it is at least {limits[modification_deadline_hours]} hours before check-in time "
            "({limits[check_in_time]}) on {check_in_date}"
        ),
        "has_confirmed_reservation": (
            ("{guest_name} has a confirmed booking from {check_in_date} to {check_out_date}"),
            ("{guest_name} has no confirmed booking from {check_in_date} to {check_out_date}"),
        ),
        "sufficient_amount_for_reservation_modification": (
            "{amount} pays what the stay from {check_in_date} to {check_out_date} in a room of the "
            "type {room_type} costs more than the booking of {guest_name} from {old_check_in_date} to "
            "{old_check_out_date}"
        ),
        "valid_identification": (
            "{identification} is an accepted document ({limits[valid_document_types]}) of someone who "
            "is at least {limits[min_age]} years old"
        ),
        "after_check_in_time": "it is {limits[check_in_time]} or later",
        "before_check_out_time": "it is {limits[check_out_time]} or earlier",
        "guest_already_checked_in": ("{guest_name} is checked in", "{guest_name} is not checked in"),
        "room_key_returned": "{key_returned} says that the room key was given back",
        "room_type_available_for_room_change": (
            "some room of the type {room_type} is free for all nights that {guest_name} still stays"
        ),
        "has_remaining_nights": (
            "{guest_name} leaves later than today",
            "{guest_name} does not leave later than today",
        ),
        "sufficient_amount_for_room_change_fee": (
            "{amount} pays what the nights that {guest_name} still stays cost more in a room of the type {room_type}"
        ),
        "within_max_room_changes": ("{guest_name} has changed rooms fewer than {limits[max_room_changes]} times"),
        "within_room_service_order_daily_limit": (
            "fewer than {limits[max_room_service_orders_per_day]} orders were made today to the room "
            "{room_id} of {guest_name}"
        ),
        "within_room_service_hours": ("it is between {limits[room_service_start]} and {limits[room_service_end]}"),
        "payment_with_loyalty_points": ("{payment_method} is loyalty points", "{payment_method} is not loyalty points"),
        "sufficient_payment_for_room_service": (
            "{amount}, or with {payment_method} as loyalty points ten points of {guest_name} for each "
            "dollar, pays for {order_items} of the category {order_type}"
        ),
        "is_gold_or_higher_member": ("{guest_name} is a gold or platinum member of the loyalty programme"),
        "amount_positive_restr": "{amount} is more than zero",
    },
)
