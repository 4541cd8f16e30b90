"""Rule tables of the hotel: who may do what, what must hold first, and which calls verify it."""

from assay.sopbench.rules import Rules

RULES = Rules.of(
    innate={
        "book_room": (
            "and[amount_positive_restr(amount), internal_valid_room_type(room_type), "
            "valid_booking_date_pair(check_in_date, check_out_date)]"
        ),
        "cancel_reservation": "valid_booking_date_pair(check_in_date, check_out_date)",
        "modify_reservation": (
            "and[amount_positive_restr(amount), internal_valid_room_type(room_type), "
            "valid_booking_date_pair(check_in_date, check_out_date), "
            "valid_booking_date_pair(check_in_date=old_check_in_date, check_out_date=old_check_out_date)]"
        ),
        "request_room_change": "amount_positive_restr(amount)",
        "place_room_service_order": "internal_valid_room_service_item(order_type, order_items)",
        "internal_get_loyalty_member_info": "internal_is_loyalty_member(guest_name)",
        "internal_compute_room_service_order_fee": "internal_valid_room_service_item(order_type, order_items)",
        "internal_valid_room_service_item": "internal_valid_room_service_order_type(order_type)",
    },
    required={
        "book_room": (
            "and[room_type_available_for_dates(room_type, check_in_date, check_out_date), "
            "sufficient_amount_for_booking(room_type, check_in_date, check_out_date, amount)]"
        ),
        "cancel_reservation": "has_confirmed_reservation(guest_name, check_in_date, check_out_date)",
        "modify_reservation": (
            "and[room_type_available_for_dates(room_type, check_in_date, check_out_date), "
            "sufficient_amount_for_reservation_modification(guest_name, old_check_in_date, old_check_out_date, "
            "check_in_date, check_out_date, room_type, amount)]"
        ),
        "process_guest_checkin": "has_confirmed_reservation(guest_name, check_in_date, check_out_date)",
        "process_guest_checkout": "guest_already_checked_in(guest_name)",
        "request_room_change": "sufficient_amount_for_room_change_fee(guest_name, amount, room_type)",
        "place_room_service_order": (
            "and[guest_already_checked_in(guest_name), sufficient_payment_for_room_service(guest_name, "
            "order_type, order_items, payment_method, amount)]"
        ),
        "register_loyalty_member": "not internal_is_loyalty_member(guest_name)",
    },
    customizable={
        "book_room": (
            "and[not has_overlapping_booking_for_booking(guest_name, check_in_date, check_out_date), "
            "is_booking_date_within_lead_time_range(check_in_date), "
            "or[not has_exceeded_maximum_stays(check_in_date, check_out_date), "
            "is_gold_or_higher_member(guest_name)]]"
        ),
        "cancel_reservation": "and[before_modification_deadline(check_in_date)]",
        "modify_reservation": (
            "and[not has_overlapping_booking_for_modification(guest_name, check_in_date, check_out_date, "
            "old_check_in_date, old_check_out_date), is_booking_date_within_lead_time_range(check_in_date), "
            "before_modification_deadline(check_in_date=old_check_in_date), "
            "or[not has_exceeded_maximum_stays(check_in_date, check_out_date), "
            "is_gold_or_higher_member(guest_name)]]"
        ),
        "process_guest_checkin": "and[valid_identification(identification), after_check_in_time()]",
        "process_guest_checkout": "and[room_key_returned(key_returned), before_check_out_time()]",
        "request_room_change": "and[internal_valid_room_change_reason(reason), within_max_room_changes(guest_name)]",
        "place_room_service_order": (
            "and[within_room_service_order_daily_limit(guest_name, room_id), within_room_service_hours()]"
        ),
    },
    links={},
    dependencies={
        "room_type_available_for_dates": (
            "and[internal_valid_room_type(room_type), valid_booking_date_pair(check_in_date, check_out_date)]"
        ),
        "has_exceeded_maximum_stays": "valid_booking_date_pair(check_in_date, check_out_date)",
        "sufficient_amount_for_booking": (
            "and[internal_valid_room_type(room_type), valid_booking_date_pair(check_in_date, check_out_date), "
            "amount_positive_restr(amount)]"
        ),
        "has_overlapping_booking_for_booking": "valid_booking_date_pair(check_in_date, check_out_date)",
        "has_overlapping_booking_for_modification": (
            "and[valid_booking_date_pair(check_in_date=old_check_in_date, check_out_date=old_check_out_date), "
            "valid_booking_date_pair(check_in_date, check_out_date), has_confirmed_reservation(guest_name, "
            "check_in_date=old_check_in_date, check_out_date=old_check_out_date)]"
        ),
        "has_confirmed_reservation": "valid_booking_date_pair(check_in_date, check_out_date)",
        "sufficient_amount_for_reservation_modification": (
            "and[internal_valid_room_type(room_type), valid_booking_date_pair(check_in_date=old_check_in_date, "
            "check_out_date=old_check_out_date), valid_booking_date_pair(check_in_date, check_out_date), "
            "has_confirmed_reservation(guest_name, check_in_date=old_check_in_date, "
            "check_out_date=old_check_out_date), amount_positive_restr(amount)]"
        ),
        "room_type_available_for_room_change": (
            "and[internal_valid_room_type(room_type), has_remaining_nights(guest_name)]"
        ),
        "has_remaining_nights": "guest_already_checked_in(guest_name)",
        "sufficient_amount_for_room_change_fee": (
            "and[room_type_available_for_room_change(guest_name, room_type), amount_positive_restr(amount)]"
        ),
        "within_max_room_changes": "guest_already_checked_in(guest_name)",
        "within_room_service_order_daily_limit": (
            "and[internal_valid_room_id(room_id), guest_already_checked_in(guest_name)]"
        ),
        "payment_with_loyalty_points": "internal_valid_room_service_payment_method(payment_method)",
        "sufficient_payment_for_room_service": (
            "and[internal_valid_room_service_payment_method(payment_method), "
            "internal_valid_room_service_item(order_type, order_items), "
            "or[not payment_with_loyalty_points(payment_method), internal_is_loyalty_member(guest_name)]]"
        ),
        "is_gold_or_higher_member": "internal_is_loyalty_member(guest_name)",
    },
    processes={
        "internal_valid_room_type": "internal_valid_room_type(room_type)",
        "internal_is_loyalty_member": "internal_is_loyalty_member(guest_name)",
        "internal_valid_room_change_reason": (
            "or[internal_valid_room_change_reason(reason), show_room_change_options()]"
        ),
        "internal_valid_room_service_order_type": "internal_valid_room_service_order_type(order_type)",
        "internal_valid_room_service_item": "internal_valid_room_service_item(order_type, order_items)",
        "internal_valid_room_id": "internal_valid_room_id(room_id)",
        "internal_valid_room_service_payment_method": "internal_valid_room_service_payment_method(payment_method)",
        "room_type_available_for_dates": "show_available_rooms()",
        "is_booking_date_within_lead_time_range": "internal_get_interaction_time()",
        "sufficient_amount_for_booking": "show_available_rooms()",
        "has_overlapping_booking_for_booking": "internal_get_booking_details()",
        "has_overlapping_booking_for_modification": (
            "or[and[internal_get_booking_details(), find_booking_info(guest_name, "
            "check_in_date=old_check_in_date, check_out_date=old_check_out_date)], "
            "internal_get_booking_details()]"
        ),
        "before_modification_deadline": "internal_get_interaction_time()",
        "has_confirmed_reservation": (
            "or[internal_get_booking_details(), find_booking_info(guest_name, check_in_date, check_out_date)]"
        ),
        "sufficient_amount_for_reservation_modification": (
            "and[or[internal_get_booking_details(), find_booking_info(guest_name, "
            "check_in_date=old_check_in_date, check_out_date=old_check_out_date)], show_available_rooms()]"
        ),
        "valid_identification": "internal_get_interaction_time()",
        "after_check_in_time": "internal_get_interaction_time()",
        "before_check_out_time": "internal_get_interaction_time()",
        "guest_already_checked_in": (
            "or[and[internal_get_booking_details(), internal_get_room_checkin_details()], "
            "internal_get_booking_details()]"
        ),
        "room_type_available_for_room_change": (
            "and[show_available_rooms(), internal_get_interaction_time(), internal_get_booking_details()]"
        ),
        "has_remaining_nights": "and[internal_get_interaction_time(), internal_get_booking_details()]",
        "sufficient_amount_for_room_change_fee": "and[internal_get_interaction_time(), internal_get_booking_details()]",
        "within_max_room_changes": "internal_get_booking_details()",
        "within_room_service_order_daily_limit": (
            "and[internal_get_interaction_time(), internal_get_booking_details(), internal_get_room_assignment()]"
        ),
        "within_room_service_hours": "internal_get_interaction_time()",
        "sufficient_payment_for_room_service": (
            "or[internal_compute_room_service_order_fee(order_type, order_items), "
            "and[internal_compute_room_service_order_fee(order_type, order_items), "
            "internal_get_loyalty_member_info(guest_name)]]"
        ),
        "is_gold_or_higher_member": "internal_get_loyalty_member_info(guest_name)",
    },
    limits={
        "check_in_time": "15:00",
        "check_out_time": "11:00",
        "max_booking_lead_time_days": 30,
        "max_room_changes": 1,
        "max_room_service_orders_per_day": 3,
        "max_stays": 10,
        "min_age": 18,
        "min_booking_lead_time_days": 1,
        "modification_deadline_hours": 48,
        "room_service_end": "22:00",
        "room_service_start": "8:00",
        "valid_document_types": ["driver_license", "passport", "state_id", "military_id"],
    },
)
