"""The hotel: rooms, bookings, check-in and check-out, room service, loyalty members. Nobody logs in."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any

from assay.sopbench.dates import day, moment
from assay.sopbench.system import System

Pair = tuple[bool, Any]
_POINTS_PER_NIGHT = {"silver": 10, "gold": 25, "platinum": 50}


def nights(first: datetime, check_out: datetime) -> list[str]:
    """Return the nights of a stay as dates; the check-out day is none of them."""
    return [(first + timedelta(days=number)).strftime("%Y-%m-%d") for number in range((check_out - first).days)]


def first_room(room_type: dict[str, Any], wanted: list[str]) -> str | None:
    """Return the first room of a type, in mapping order, that has all dates free."""
    for room_id, free in room_type["availability"].items():
        if all(date in free for date in wanted):
            return str(room_id)
    return None


def checked_in_booking(state: dict[str, Any], guest_name: str) -> tuple[str, dict[str, Any]] | None:
    """Return id and record of the guest's first booking with status "checked-in"."""
    for booking_id, booking in state["bookings"].items():
        if booking["guest"] == guest_name and booking["status"] == "checked-in":
            return booking_id, booking
    return None


def _found(booking: tuple[str, dict[str, Any]] | None) -> tuple[str, dict[str, Any]]:
    """Return a booking that was looked for, or fail like the published code, whose error type models see."""
    if booking is None:
        raise UnboundLocalError("no booking matches")
    return booking


class Hotel(System):
    """State and functions of the hotel."""

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__(state)
        self._rooms: dict[str, Any] = state["rooms"]
        self._bookings: dict[str, Any] = state["bookings"]

    def _member(self, guest_name: str) -> tuple[str, dict[str, Any]] | None:
        members = self.state["loyalty_members"].items()
        return next(((number, member) for number, member in members if member["name"] == guest_name), None)

    def _points(self, guest_name: str, n_nights: int) -> int:
        member = self._member(guest_name)
        return n_nights * _POINTS_PER_NIGHT[member[1]["tier"].lower()] if member else 0

    def _matching(
        self, guest_name: str, check_in_date: str, check_out_date: str
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        for booking_id, booking in self._bookings.items():
            if (
                booking["guest"] == guest_name
                and booking["check_in_date"] == check_in_date
                and booking["check_out_date"] == check_out_date
            ):
                yield booking_id, booking

    def _today(self) -> str:
        return moment(self.state["interaction_time"]).strftime("%Y-%m-%d")

    def _knows_items(self, order_type: str, order_items: list[dict[str, Any]]) -> bool:
        options = self.state["room_service_options"][order_type]
        return all(item["name"] in options for item in order_items)

    def _fee(self, order_type: str, order_items: list[dict[str, Any]]) -> Any:
        prices = self.state["room_service_options"][order_type]
        return sum(prices[item["name"]] * item.get("quantity", 0) for item in order_items)

    def show_available_rooms(self) -> Pair:
        return True, self._rooms

    def show_room_change_options(self) -> Pair:
        return True, self.state["valid_room_change_reasons"]

    def book_room(
        self, guest_name: str, room_type: str, check_in_date: str, check_out_date: str, amount: float
    ) -> bool | Pair:
        if not (amount > 0 and room_type in self._rooms and day(check_out_date) > day(check_in_date)):
            return False
        stay = nights(day(check_in_date), day(check_out_date))
        booking_id = f"BK{len(self._bookings) + 1:03d}"
        self._bookings[booking_id] = {
            "guest": guest_name,
            "room_type": room_type,
            "check_in_date": check_in_date,
            "check_out_date": check_out_date,
            "booking_time": self.state["interaction_time"],
            "status": "confirmed",
            "loyalty_points_to_add": self._points(guest_name, len(stay)),
            "room_change": 0,
            "room_service": 0,  # a number where a map is expected (as published)
        }
        self._assign(booking_id, room_type, stay)
        return True, True

    def _assign(self, booking_id: str, room_type: str, stay: list[str]) -> None:
        room_id = first_room(self._rooms[room_type], stay)
        self.state["room_assignment"][booking_id] = room_id
        if room_id is not None:
            free = self._rooms[room_type]["availability"][room_id]
            for date in stay:
                free.remove(date)

    def find_booking_info(self, guest_name: str, check_in_date: str, check_out_date: str) -> Pair:
        found = next(self._matching(guest_name, check_in_date, check_out_date), None)
        return True, found[1] if found else {}

    def cancel_reservation(self, guest_name: str, check_in_date: str, check_out_date: str) -> bool | Pair:
        if not day(check_out_date) > day(check_in_date):
            return False
        found = next(self._matching(guest_name, check_in_date, check_out_date), None)
        # Without a match the last booking goes (as published; the strict system never gets here without one).
        booking_id, booking = found or list(self._bookings.items())[-1]
        room_id = self.state["room_assignment"].get(booking_id)
        if room_id is not None and found:
            self._restore(booking["room_type"], room_id, nights(day(check_in_date), day(check_out_date)))
        del self._bookings[booking_id]
        self.state["room_assignment"].pop(booking_id, None)
        return True, True

    def _restore(self, room_type: str, room_id: str, stay: list[str]) -> list[str]:
        free: list[str] = self._rooms[room_type]["availability"].setdefault(room_id, [])
        free.extend(date for date in stay if date not in free)
        free.sort()
        return free

    def modify_reservation(
        self,
        guest_name: str,
        old_check_in_date: str,
        old_check_out_date: str,
        check_in_date: str,
        check_out_date: str,
        room_type: str,
        amount: float,
    ) -> bool | Pair:
        if not (amount > 0 and room_type in self._rooms):
            return False
        if not (day(check_out_date) > day(check_in_date) and day(old_check_out_date) > day(old_check_in_date)):
            return False
        booking_id, booking = _found(next(self._matching(guest_name, old_check_in_date, old_check_out_date), None))
        room_id = self.state["room_assignment"].get(booking_id)
        if room_id is not None:
            # The same list then stands under both types (as published): a date taken from one is taken from both.
            old_nights = nights(day(old_check_in_date), day(old_check_out_date))
            free = self._rooms[booking["room_type"]]["availability"].get(room_id, [])
            free.extend(date for date in old_nights if date not in free)
            free.sort()
            self._rooms[room_type]["availability"][room_id] = free
        stay = nights(day(check_in_date), day(check_out_date))
        booking["room_type"] = room_type
        booking["check_in_date"] = check_in_date
        booking["check_out_date"] = check_out_date
        booking["booking_time"] = self.state["interaction_time"]
        booking["status"] = "confirmed"
        booking["loyalty_points_to_add"] = self._points(guest_name, len(stay))
        self._assign(booking_id, room_type, stay)
        return True, True

    def process_guest_checkin(
        self, guest_name: str, check_in_date: str, check_out_date: str, identification: dict[str, str]
    ) -> Pair:
        booking_id, booking = next(self._matching(guest_name, check_in_date, check_out_date), (None, None))
        room_id = self.state["room_assignment"].get(booking_id)
        self.state["room_checkins"][room_id] = {
            "booking_id": booking_id,
            "check_in_time": self.state["interaction_time"],
            "identity_document": identification.get("type"),
        }
        # Without a match this fails here, after the check-in was noted under no room (as published).
        booking["status"] = "checked-in"  # type: ignore[index]
        return True, room_id

    def process_guest_checkout(self, guest_name: str, key_returned: bool) -> Pair:
        booking_id, booking = _found(next((b for b in self._bookings.items() if b[1]["guest"] == guest_name), None))
        checkins = self.state["room_checkins"]
        for room_id in [room for room, checkin in checkins.items() if checkin["booking_id"] == booking_id]:
            del checkins[room_id]
        member = self._member(guest_name)
        if member is not None:
            member[1]["loyalty_points"] += booking["loyalty_points_to_add"]
        del self._bookings[booking_id]
        return True, True

    def request_room_change(self, guest_name: str, amount: float, reason: str, room_type: str) -> bool | Pair:
        if not amount > 0:
            return False
        if not self._bookings:
            raise UnboundLocalError("there is no booking")
        found = checked_in_booking(self.state, guest_name)
        booking_id, booking = found  # type: ignore[misc]  # another guest's bookings only: TypeError, as published
        old_room = self.state["room_assignment"][booking_id]
        today, check_out = day(self._today()), day(booking["check_out_date"])
        self._restore(booking["room_type"], old_room, nights(today + timedelta(days=1), check_out))
        stay = nights(today, check_out)
        new_room = first_room(self._rooms[room_type], stay)
        booking["room_type"] = room_type
        booking["room_change"] += 1
        if new_room is None:
            # Only here, after the old nights were restored and the booking changed (as published).
            raise UnboundLocalError("no room of the type is free")
        free = self._rooms[room_type]["availability"][new_room]
        for date in stay:
            free.remove(date)
        self.state["room_assignment"][booking_id] = new_room
        self.state["room_checkins"][new_room] = self.state["room_checkins"].pop(old_room)
        return True, True

    def place_room_service_order(
        self,
        guest_name: str,
        room_id: str,
        order_type: str,
        order_items: list[dict[str, Any]],
        payment_method: str,
        amount: float | None = None,
    ) -> bool | Pair:
        if order_type not in self.state["room_service_options"] or not self._knows_items(order_type, order_items):
            return False
        prices = self.state["room_service_options"][order_type]
        orders = self.state["room_service_orders"]
        orders[f"RS{len(orders) + 1:03d}"] = {
            "room": room_id,
            "order_time": self.state["interaction_time"],
            "order_type": order_type,
            "order_details": [
                {
                    "item": item["name"],
                    "quantity": item["quantity"],
                    "price": prices[item["name"]] * item["quantity"],
                }
                for item in order_items
            ],
            "order_total": self._fee(order_type, order_items),
            "payment": payment_method,
            "status": "in-progress",
        }
        assigned = next((b for b, room in self.state["room_assignment"].items() if room == room_id), None)
        if assigned in self._bookings:
            served = self._bookings[assigned]["room_service"]
            served[self._today()] = served.get(self._today(), 0) + 1
        return True, True

    def register_loyalty_member(self, guest_name: str) -> Pair:
        # Python's generator seeded with the name, which is the same on every machine; None would be the clock's.
        draw = Random("" if guest_name is None else guest_name)
        number = f"HTL{draw.randint(1000, 9999)}{chr(draw.randint(65, 90))}"
        self.state["loyalty_members"][number] = {"name": guest_name, "loyalty_points": 0, "tier": "silver"}
        return True, True

    def internal_get_room_checkin_details(self) -> Pair:
        return True, self.state["room_checkins"]

    def internal_get_booking_details(self) -> Pair:
        return True, self._bookings

    def internal_get_loyalty_member_info(self, guest_name: str) -> bool | Pair:
        member = self._member(guest_name)
        return (True, {member[0]: member[1]}) if member else False

    def internal_get_interaction_time(self) -> Pair:
        return True, self.state["interaction_time"]

    def internal_get_room_service_order_details(self) -> Pair:
        return True, self.state["room_service_orders"]

    def internal_get_room_assignment(self) -> Pair:
        return True, self.state["room_assignment"]

    def internal_compute_room_service_order_fee(
        self, order_type: str, order_items: list[dict[str, Any]]
    ) -> bool | Pair:
        if order_type not in self.state["room_service_options"] or not self._knows_items(order_type, order_items):
            return False
        return True, self._fee(order_type, order_items)

    def internal_valid_room_type(self, room_type: str) -> Pair:
        return True, room_type in self._rooms

    def internal_is_loyalty_member(self, guest_name: str) -> Pair:
        return True, self._member(guest_name) is not None

    def internal_valid_room_change_reason(self, reason: str) -> Pair:
        return True, reason in self.state["valid_room_change_reasons"]

    def internal_valid_room_service_order_type(self, order_type: str) -> Pair:
        return True, order_type in self.state["room_service_options"]

    def internal_valid_room_service_item(self, order_type: str, order_items: list[dict[str, Any]]) -> bool | Pair:
        if order_type not in self.state["room_service_options"]:
            return False
        return True, self._knows_items(order_type, order_items)

    def internal_valid_room_id(self, room_id: str) -> Pair:
        return True, any(room_id in kind["availability"] for kind in self._rooms.values())

    def internal_valid_room_service_payment_method(self, payment_method: str) -> Pair:
        return True, payment_method in self.state["room_service_payment_method"]
