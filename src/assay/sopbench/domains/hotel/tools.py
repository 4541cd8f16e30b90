"""Tools of the hotel, as a model sees them."""

from assay.sopbench.domain import Toolbox
from assay.sopbench.tools import array, boolean, integer, number, record, string, tool

GUEST_NAME = string("Full name of the guest.")
ROOM_TYPE = string("Type of room.")
CHECK_IN_DATE = string("Day of arrival, as in 2024-12-01.")
CHECK_OUT_DATE = string("Day of departure, as in 2024-12-03.")
OLD_CHECK_IN_DATE = string("Day of arrival as booked so far.")
OLD_CHECK_OUT_DATE = string("Day of departure as booked so far.")
AMOUNT = number("Money that the guest pays, in dollars.")
IDENTIFICATION = record(
    "The guest's identity document.",
    type=string("Kind of document, as in passport."),
    birthday=string("Date of birth on it, as in 1990-06-15."),
)
KEY_RETURNED = boolean("Whether the guest gave the room key back.")
REASON = string("Why the guest wants another room.")
ROOM_ID = string("Number of the room.")
ORDER_TYPE = string("Category of room service.")
ORDER_ITEMS = array(
    record("One line of the order.", name=string("What is ordered."), quantity=integer("How many.")),
    "What is ordered.",
)
PAYMENT_METHOD = string("How the guest pays.")

TOOLBOX = Toolbox(
    tools=(
        tool("show_available_rooms", "List all types of room with prices and free dates."),
        tool("show_room_change_options", "List the reasons for which a guest may change rooms."),
        tool(
            "book_room",
            "Book a room of a type for some nights.",
            guest_name=GUEST_NAME,
            room_type=ROOM_TYPE,
            check_in_date=CHECK_IN_DATE,
            check_out_date=CHECK_OUT_DATE,
            amount=AMOUNT,
        ),
        tool(
            "find_booking_info",
            "Show the booking of a guest for given dates.",
            guest_name=GUEST_NAME,
            check_in_date=CHECK_IN_DATE,
            check_out_date=CHECK_OUT_DATE,
        ),
        tool(
            "cancel_reservation",
            "Cancel a booking.",
            guest_name=GUEST_NAME,
            check_in_date=CHECK_IN_DATE,
            check_out_date=CHECK_OUT_DATE,
        ),
        tool(
            "modify_reservation",
            "Change dates or type of room of a booking.",
            guest_name=GUEST_NAME,
            old_check_in_date=OLD_CHECK_IN_DATE,
            old_check_out_date=OLD_CHECK_OUT_DATE,
            check_in_date=CHECK_IN_DATE,
            check_out_date=CHECK_OUT_DATE,
            room_type=ROOM_TYPE,
            amount=AMOUNT,
        ),
        tool(
            "process_guest_checkin",
            "Check a guest in.",
            guest_name=GUEST_NAME,
            check_in_date=CHECK_IN_DATE,
            check_out_date=CHECK_OUT_DATE,
            identification=IDENTIFICATION,
        ),
        tool("process_guest_checkout", "Check a guest out.", guest_name=GUEST_NAME, key_returned=KEY_RETURNED),
        tool(
            "request_room_change",
            "Move a guest to a room of another type for the nights that are left.",
            guest_name=GUEST_NAME,
            amount=AMOUNT,
            reason=REASON,
            room_type=ROOM_TYPE,
        ),
        tool(
            "place_room_service_order",
            "Order something to a room.",
            optional=("amount",),
            guest_name=GUEST_NAME,
            room_id=ROOM_ID,
            order_type=ORDER_TYPE,
            order_items=ORDER_ITEMS,
            payment_method=PAYMENT_METHOD,
            amount=AMOUNT,
        ),
        tool("register_loyalty_member", "Make a guest a member of the loyalty programme.", guest_name=GUEST_NAME),
        tool("internal_get_room_checkin_details", "List who is checked in where."),
        tool("internal_get_booking_details", "List all bookings."),
        tool(
            "internal_get_loyalty_member_info",
            "Show a guest's membership of the loyalty programme.",
            guest_name=GUEST_NAME,
        ),
        tool("internal_get_interaction_time", "Tell the present date and time."),
        tool("internal_get_room_service_order_details", "List all room service orders."),
        tool("internal_get_room_assignment", "Tell which booking has which room."),
        tool(
            "internal_compute_room_service_order_fee",
            "Add up what an order costs.",
            order_type=ORDER_TYPE,
            order_items=ORDER_ITEMS,
        ),
        tool("internal_valid_room_type", "Check whether the hotel has a type of room.", room_type=ROOM_TYPE),
        tool(
            "internal_is_loyalty_member",
            "Check whether a guest is a member of the loyalty programme.",
            guest_name=GUEST_NAME,
        ),
        tool("internal_valid_room_change_reason", "Check whether a reason allows a change of rooms.", reason=REASON),
        tool(
            "internal_valid_room_service_order_type",
            "Check whether a category of room service exists.",
            order_type=ORDER_TYPE,
        ),
        tool(
            "internal_valid_room_service_item",
            "Check whether all ordered things are offered in a category.",
            order_type=ORDER_TYPE,
            order_items=ORDER_ITEMS,
        ),
        tool("internal_valid_room_id", "Check whether a room exists.", room_id=ROOM_ID),
        tool(
            "internal_valid_room_service_payment_method",
            "Check whether a way of paying is accepted.",
            payment_method=PAYMENT_METHOD,
        ),
    ),
)
