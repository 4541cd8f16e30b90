"""New tasks of the hotel: rooms, bookings and members, and what guests ask for."""

from datetime import datetime, timedelta
from random import Random
from typing import Any

from assay.sopbench.dates import day, moment
from assay.sopbench.domain import Scenario
from assay.sopbench.domains.hotel.functions import Hotel
from assay.sopbench.pools import birthday, chosen, clock, mostly, people, shifted

_PRICES = {"single": 70, "double": 120, "suite": 210}
_MENU = {
    "dining": {"soup": 9, "pasta": 14, "tea": 3},
    "spa": {"massage": 60, "sauna": 25},
    "housekeeping": {"pillow": 0, "laundry": 18},
}
_REASONS = ["noise", "upgrade", "cleanliness", "accessibility"]


def world(draw: Random) -> dict[str, Any]:
    """Draw a hotel with five rooms, a guest who stays, two who are booked, and some members."""
    now = clock(draw, 7, 23)
    staying, booked, later, stranger = people(draw, 4)
    days = [shifted(now, number) for number in range(16)]
    rooms = {
        kind: {"availability": {number: list(days) for number in numbers}, "price_per_night": _PRICES[kind]}
        for kind, numbers in (("single", ("11", "12")), ("double", ("21", "22")), ("suite", ("31",)))
    }
    state: dict[str, Any] = {
        "rooms": rooms,
        "room_checkins": {},
        "bookings": {},
        "room_assignment": {},
        "room_service_options": {kind: dict(menu) for kind, menu in _MENU.items()},
        "room_service_payment_method": ["credit_card", "loyalty_points"],
        "room_service_orders": {},
        "loyalty_members": {},
        "valid_room_change_reasons": list(_REASONS),
        "interaction_time": now.isoformat(),
    }
    _book(state, staying, "11", "single", (now, -1, draw.choice((1, 2, 3))), "checked-in", draw.choice((0, 0, 1)))
    _book(state, booked, "21", "double", (now, draw.choice((0, 0, 1, 5)), 7), "confirmed", 0)
    _book(state, later, "12", "single", (now, 6, 9), "confirmed", 0)
    state["room_checkins"]["11"] = {
        "booking_id": "BK001",
        "check_in_time": (now - timedelta(days=1)).isoformat(),
        "identity_document": "passport",
    }
    state["bookings"]["BK001"]["room_service"] = {days[0]: draw.choice((0, 1, 3))}
    for person in draw.sample([staying, booked, later, stranger], 2):
        number = f"HTL{len(state['loyalty_members']) + 1000}A"
        points = draw.choice((50, 400, 3000))
        tier = draw.choice(("silver", "gold", "platinum"))
        state["loyalty_members"][number] = {"name": person, "loyalty_points": points, "tier": tier}
    return state


def _book(
    state: dict[str, Any], guest: str, room: str, kind: str, stay: tuple[datetime, int, int], status: str, changes: int
) -> None:
    now, first, last = stay
    booking = f"BK{len(state['bookings']) + 1:03d}"
    nights = [shifted(now, number) for number in range(first, last)]
    free = state["rooms"][kind]["availability"][room]
    state["rooms"][kind]["availability"][room] = [date for date in free if date not in nights]
    state["room_assignment"][booking] = room
    state["bookings"][booking] = {
        "guest": guest,
        "room_type": kind,
        "check_in_date": nights[0],
        "check_out_date": shifted(now, last),
        "booking_time": (now - timedelta(days=12)).isoformat(),
        "status": status,
        "loyalty_points_to_add": 10 * len(nights),
        "room_change": changes,
        "room_service": {},
    }


def request(draw: Random, state: dict[str, Any], goal: str) -> dict[str, Any]:
    """Draw a guest and what is asked for."""
    now = moment(state["interaction_time"])
    bookings = list(state["bookings"].values())
    present = goal in ("process_guest_checkout", "request_room_change", "place_room_service_order")
    booking = mostly(draw, bookings[:1], bookings[1:]) if present else mostly(draw, bookings[1:], bookings[:1])
    first = day(booking["check_in_date"])
    arrival = first + timedelta(days=draw.choice((0, 0, 1)))
    length = draw.choice((1, 2, 3))
    order_type = mostly(draw, sorted(_MENU), ("valet",), 0.93)
    items = draw.sample(sorted(_MENU.get(order_type, {"car": 1})), 1)
    values: dict[str, Any] = {
        "guest_name": booking["guest"],
        "room_type": mostly(draw, ("double", "suite"), ("single", "cabin")),
        "check_in_date": booking["check_in_date"],
        "check_out_date": booking["check_out_date"],
        "old_check_in_date": booking["check_in_date"],
        "old_check_out_date": booking["check_out_date"],
        "amount": float(mostly(draw, (900, 2000), (10, 80))),
        "identification": {
            "type": mostly(draw, ("passport", "driver_license"), ("library_card",)),
            "birthday": birthday(draw, now.date(), *mostly(draw, ((19, 70),), ((12, 16),))),
        },
        "key_returned": draw.choice((True, True, False)),
        "reason": mostly(draw, _REASONS, ("boredom",)),
        "room_id": mostly(draw, ("11",), ("99", "31")),
        "order_type": order_type,
        "order_items": [{"name": name, "quantity": draw.randrange(1, 4)} for name in items],
        "payment_method": mostly(draw, ("credit_card", "loyalty_points"), ("shells",)),
    }
    if goal == "modify_reservation":
        values["check_in_date"] = arrival.strftime("%Y-%m-%d")
        values["check_out_date"] = shifted(arrival, length)
    elif goal in ("book_room", "register_loyalty_member"):
        guest = mostly(draw, (people(draw, 1)[0],), (booking["guest"],), 0.6)
        ahead = mostly(draw, (1, 2, 4), (0, 40))
        values |= {"guest_name": guest, "check_in_date": shifted(now, ahead)}
        values["check_out_date"] = shifted(now, ahead + mostly(draw, (1, 2, 3), (11,)))
    return chosen(values, Hotel.parameters[goal])


SCENARIO = Scenario(
    world,
    request,
    {
        "book_room": "book a {room_type} room from {check_in_date} to {check_out_date} for {guest_name}",
        "cancel_reservation": "cancel the booking of {guest_name} from {check_in_date} to {check_out_date}",
        "modify_reservation": (
            "change the booking of {guest_name} from {old_check_in_date} to {old_check_out_date} into a {room_type} "
            "room from {check_in_date} to {check_out_date}"
        ),
        "process_guest_checkin": "check {guest_name} in for the stay from {check_in_date} to {check_out_date}",
        "process_guest_checkout": "check {guest_name} out",
        "request_room_change": "move {guest_name} to a {room_type} room because of {reason}",
        "place_room_service_order": "order {order_items} of {order_type} to the room {room_id}",
        "register_loyalty_member": "make {guest_name} a member of the loyalty programme",
    },
)
