"""Tools of the hotel, as a model sees them."""

from assay.sopbench.tools import array, boolean, integer, number, record, string, toolbox

PARAMETERS = {
    "guest_name": string("Full name of the guest."),
    "room_type": string("Type of room."),
    "check_in_date": string("Day of arrival, as in 2024-12-01."),
    "check_out_date": string("Day of departure, as in 2024-12-03."),
    "old_check_in_date": string("Day of arrival as booked so far."),
    "old_check_out_date": string("Day of departure as booked so far."),
    "amount": number("Money that the guest pays, in dollars."),
    "identification": record(
        "The guest's identity document.",
        type=string("Kind of document, as in passport."),
        birthday=string("Date of birth on it, as in 1990-06-15."),
    ),
    "key_returned": boolean("Whether the guest gave the room key back."),
    "reason": string("Why the guest wants another room."),
    "room_id": string("Number of the room."),
    "order_type": string("Category of room service."),
    "order_items": array(
        record("One line of the order.", name=string("What is ordered."), quantity=integer("How many.")),
        "What is ordered.",
    ),
    "payment_method": string("How the guest pays."),
}

TOOLBOX = toolbox(
    PARAMETERS,
    {
        "show_available_rooms()": "List all types of room with prices and free dates.",
        "show_room_change_options()": "List the reasons for which a guest may change rooms.",
        "book_room(guest_name, room_type, check_in_date, check_out_date, amount)": (
            "Book a room of a type for some nights."
        ),
        "find_booking_info(guest_name, check_in_date, check_out_date)": "Show the booking of a guest for given dates.",
        "cancel_reservation(guest_name, check_in_date, check_out_date)": "Cancel a booking.",
        "modify_reservation(guest_name, old_check_in_date, old_check_out_date, check_in_date, check_out_date, "
        "room_type, amount)": "Change dates or type of room of a booking.",
        "process_guest_checkin(guest_name, check_in_date, check_out_date, identification)": "Check a guest in.",
        "process_guest_checkout(guest_name, key_returned)": "Check a guest out.",
        "request_room_change(guest_name, amount, reason, room_type)": (
            "Move a guest to a room of another type for the nights that are left."
        ),
        "place_room_service_order(guest_name, room_id, order_type, order_items, payment_method, amount?)": (
            "Order something to a room."
        ),
        "register_loyalty_member(guest_name)": "Make a guest a member of the loyalty programme.",
        "internal_get_room_checkin_details()": "List who is checked in where.",
        "internal_get_booking_details()": "List all bookings.",
        "internal_get_loyalty_member_info(guest_name)": "Show a guest's membership of the loyalty programme.",
        "internal_get_interaction_time()": "Tell the present date and time.",
        "internal_get_room_service_order_details()": "List all room service orders.",
        "internal_get_room_assignment()": "Tell which booking has which room.",
        "internal_compute_room_service_order_fee(order_type, order_items)": "Add up what an order costs.",
        "internal_valid_room_type(room_type)": "Check whether the hotel has a type of room.",
        "internal_is_loyalty_member(guest_name)": "Check whether a guest is a member of the loyalty programme.",
        "internal_valid_room_change_reason(reason)": "Check whether a reason allows a change of rooms.",
        "internal_valid_room_service_order_type(order_type)": "Check whether a category of room service exists.",
        "internal_valid_room_service_item(order_type, order_items)": (
            "Check whether all ordered things are offered in a category."
        ),
        "internal_valid_room_id(room_id)": "Check whether a room exists.",
        "internal_valid_room_service_payment_method(payment_method)": "Check whether a way of paying is accepted.",
    },
)
