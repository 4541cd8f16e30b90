"""Truth values of the hotel's constraints. There is no session: nobody logs in."""

from collections.abc import Mapping
from datetime import datetime, time, timedelta
from typing import Any

from assay.sopbench.dates import completed_years, day, moment
from assay.sopbench.domains.hotel.functions import checked_in_booking, first_room, nights
from assay.sopbench.system import Session, System

_POINTS_PER_UNIT = 10  # loyalty points that one unit of money costs


def _clock(text: str) -> time:
    return datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007 - the hotel has one clock


class HotelSession(Session):
    """What the rules test."""

    def __init__(self, system: System, limits: Mapping[str, Any], *, careful: bool = False) -> None:
        super().__init__(system, limits, careful=careful)
        self._rooms: dict[str, Any] = self.state["rooms"]
        self._bookings: dict[str, Any] = self.state["bookings"]

    def _now(self) -> datetime:
        return moment(self.state["interaction_time"])

    def _today(self) -> datetime:
        return day(self._now().strftime("%Y-%m-%d"))

    def _checked_in(self, guest_name: str) -> dict[str, Any]:
        found = checked_in_booking(self.state, guest_name)
        return found[1]  # type: ignore[index]

    def _booking(self, guest_name: str, check_in_date: str, check_out_date: str) -> dict[str, Any] | None:
        for booking in self._bookings.values():
            if (booking["guest"], booking["check_in_date"], booking["check_out_date"]) == (
                guest_name,
                check_in_date,
                check_out_date,
            ):
                found: dict[str, Any] = booking
                return found
        return None

    def _price(self, room_type: str, check_in_date: str, check_out_date: str) -> Any:
        return (day(check_out_date) - day(check_in_date)).days * self._rooms[room_type]["price_per_night"]

    def _member(self, guest_name: str) -> dict[str, Any]:
        members = self.state["loyalty_members"].values()
        return next(member for member in members if member["name"] == guest_name)

    def _overlaps(self, booking: dict[str, Any], guest_name: str, check_in: datetime, check_out: datetime) -> bool:
        return bool(
            booking["guest"] == guest_name
            and check_in < day(booking["check_out_date"])
            and check_out > day(booking["check_in_date"])
        )

    def valid_booking_date_pair(self, check_in_date: str, check_out_date: str) -> bool:
        return day(check_out_date) > day(check_in_date)

    def room_type_available_for_dates(self, room_type: str, check_in_date: str, check_out_date: str) -> bool:
        # An unknown type is no record, which fails with the published error type (AttributeError).
        stay = nights(day(check_in_date), day(check_out_date))
        availability = self._rooms.get(room_type).get("availability")  # type: ignore[union-attr]
        return first_room({"availability": availability}, stay) is not None

    def is_booking_date_within_lead_time_range(self, check_in_date: str) -> bool:
        first = day(check_in_date)
        earliest = first - timedelta(days=self.limits["max_booking_lead_time_days"])
        return earliest <= self._today() <= first - timedelta(days=self.limits["min_booking_lead_time_days"])

    def has_exceeded_maximum_stays(self, check_in_date: str, check_out_date: str) -> bool:
        return bool((day(check_out_date) - day(check_in_date)).days > self.limits["max_stays"])

    def sufficient_amount_for_booking(
        self, room_type: str, check_in_date: str, check_out_date: str, amount: float
    ) -> bool:
        return bool(amount >= self._price(room_type, check_in_date, check_out_date))

    def has_overlapping_booking_for_booking(self, guest_name: str, check_in_date: str, check_out_date: str) -> bool:
        first, last = day(check_in_date), day(check_out_date)
        return any(self._overlaps(booking, guest_name, first, last) for booking in self._bookings.values())

    def has_overlapping_booking_for_modification(
        self,
        guest_name: str,
        check_in_date: str,
        check_out_date: str,
        old_check_in_date: str,
        old_check_out_date: str,
    ) -> bool:
        first, last = day(check_in_date), day(check_out_date)
        return any(
            self._overlaps(booking, guest_name, first, last)
            for booking in self._bookings.values()
            if (booking["check_in_date"], booking["check_out_date"]) != (old_check_in_date, old_check_out_date)
        )

    def before_modification_deadline(self, check_in_date: str) -> bool:
        arrival = datetime.combine(day(check_in_date), _clock(self.limits["check_in_time"]))
        return self._now() <= arrival - timedelta(hours=self.limits["modification_deadline_hours"])

    def has_confirmed_reservation(self, guest_name: str, check_in_date: str, check_out_date: str) -> bool:
        return any(
            booking["status"] == "confirmed"
            for booking in self._bookings.values()
            if booking["guest"] == guest_name
            and booking["check_in_date"] == check_in_date
            and booking["check_out_date"] == check_out_date
        )

    def sufficient_amount_for_reservation_modification(
        self,
        guest_name: str,
        old_check_in_date: str,
        old_check_out_date: str,
        check_in_date: str,
        check_out_date: str,
        room_type: str,
        amount: float,
    ) -> bool:
        booking = self._booking(guest_name, old_check_in_date, old_check_out_date)
        old_type = booking["room_type"]  # type: ignore[index]
        old_price = self._price(old_type, old_check_in_date, old_check_out_date)
        return bool(amount >= max(self._price(room_type, check_in_date, check_out_date) - old_price, 0))

    def valid_identification(self, identification: dict[str, str]) -> bool:
        if "type" not in identification or "birthday" not in identification:
            return False
        if identification["type"].lower() not in self.limits["valid_document_types"]:
            return False
        try:
            birthday = day(identification["birthday"])
        except ValueError:
            return False
        return bool(completed_years(birthday, self._today()) >= self.limits["min_age"])

    def after_check_in_time(self) -> bool:
        return self._now().time() >= _clock(self.limits["check_in_time"])

    def before_check_out_time(self) -> bool:
        return self._now().time() <= _clock(self.limits["check_out_time"])

    def guest_already_checked_in(self, guest_name: str) -> bool:
        # By the check-ins, whatever the booking's status says.
        present = [checkin["booking_id"] for checkin in self.state["room_checkins"].values()]
        return any(booking["guest"] == guest_name and number in present for number, booking in self._bookings.items())

    def room_key_returned(self, key_returned: bool) -> bool:
        return key_returned

    def room_type_available_for_room_change(self, guest_name: str, room_type: str) -> bool:
        stay = nights(self._today(), day(self._checked_in(guest_name)["check_out_date"]))
        return first_room(self._rooms[room_type], stay) is not None

    def has_remaining_nights(self, guest_name: str) -> bool:
        return day(self._checked_in(guest_name)["check_out_date"]) > self._today()

    def sufficient_amount_for_room_change_fee(self, guest_name: str, amount: float, room_type: str) -> bool:
        booking = self._checked_in(guest_name)
        difference = self._rooms[room_type]["price_per_night"] - self._rooms[booking["room_type"]]["price_per_night"]
        return bool(amount >= max(difference * (day(booking["check_out_date"]) - self._today()).days, 0))

    def within_max_room_changes(self, guest_name: str) -> bool:
        return bool(self._checked_in(guest_name)["room_change"] < self.limits["max_room_changes"])

    def within_room_service_order_daily_limit(self, guest_name: str, room_id: str) -> bool:
        assignment = self.state["room_assignment"]
        found = None
        for booking_id, booking in self._bookings.items():
            if assignment.get(booking_id) == room_id and booking["guest"] == guest_name:
                found = booking
        served = found["room_service"].get(self._today().strftime("%Y-%m-%d"), 0) if found else 0
        return bool(served < self.limits["max_room_service_orders_per_day"])

    def within_room_service_hours(self) -> bool:
        start, end = _clock(self.limits["room_service_start"]), _clock(self.limits["room_service_end"])
        return start <= self._now().time() <= end

    def payment_with_loyalty_points(self, payment_method: str) -> bool:
        return payment_method == "loyalty_points"

    def sufficient_payment_for_room_service(
        self,
        guest_name: str,
        order_type: str,
        order_items: list[dict[str, Any]],
        payment_method: str,
        amount: float | None,
    ) -> bool:
        prices = self.state["room_service_options"][order_type]
        total = sum(prices[item["name"]] * item.get("quantity", 0) for item in order_items)
        if payment_method != "loyalty_points":
            return amount is not None and amount >= total
        return bool(self._member(guest_name)["loyalty_points"] >= total * _POINTS_PER_UNIT)

    def is_gold_or_higher_member(self, guest_name: str) -> bool:
        return self._member(guest_name)["tier"].lower() in ("gold", "platinum")

    def amount_positive_restr(self, amount: float) -> bool:
        return amount > 0
