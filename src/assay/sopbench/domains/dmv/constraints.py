"""Truth values of the motor vehicle office's constraints; its session holds several users and one admin flag."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, ClassVar

from assay.sopbench.dates import completed_years, day, moment
from assay.sopbench.system import Session, System


class DmvSession(Session):
    """Who is logged in, whether an admin password was given, and what the rules test."""

    login_defaults: ClassVar[dict[str, Any]] = {"identification": None}

    def __init__(self, system: System, limits: Mapping[str, Any], *, careful: bool = False) -> None:
        super().__init__(system, limits, careful=careful)
        self._accounts: dict[str, Any] = self.state["accounts"]
        self._users: set[str] = set()
        self._admins: set[str] = set()

    def on_login_user(self, username: str, identification: Any) -> None:
        self._users.add(username)

    def on_logout_user(self, username: str) -> None:
        self._users.remove(username)
        if self.careful:
            # As published, the admin flag outlives the login.
            self._admins.discard(username)

    def on_authenticate_admin_password(self, username: str, admin_password: str) -> None:
        self._admins.add(username)

    def logged_in_user(self, username: str) -> bool:
        return username in self._users

    def authenticated_admin_password(self, username: str) -> bool:
        return username in self._admins if self.careful else bool(self._admins)

    def _today(self) -> date:
        return moment(self.state["interaction_time"]).date()

    def _vehicle(self, username: str, plate_num: str) -> dict[str, Any]:
        vehicle: dict[str, Any] = self._accounts[username]["vehicles"][plate_num]
        return vehicle

    def _test(self, username: str, test_type: str) -> dict[str, Any]:
        test: dict[str, Any] = self._accounts[username]["tests"][test_type]
        return test

    def _within(self, last_day: str, window: str) -> bool:
        last = day(last_day).date()
        return last - timedelta(days=int(self.limits[window])) <= self._today() <= last

    def is_vehicle_address_different(self, username: str, plate_num: str, address_new: str) -> bool:
        return bool(self._vehicle(username, plate_num)["address"] != address_new)

    def valid_vehicle_insurance(self, username: str, plate_num: str) -> bool:
        return bool(self._vehicle(username, plate_num)["insurance_status"] == "valid")

    def within_vehicle_renewal_period(self, username: str, plate_num: str) -> bool:
        return self._within(self._vehicle(username, plate_num)["reg_date"], "vehicle_renewal_window")

    def is_dl_address_different(self, username: str, address_new: str) -> bool:
        return bool(self._accounts[username]["driver_license"]["address"] != address_new)

    def within_dl_renewal_period(self, username: str) -> bool:
        return self._within(self._accounts[username]["driver_license"]["exp_date"], "dl_renewal_window")

    def above_minimum_age(self, username: str) -> bool:
        birthday = day(self._accounts[username]["birthday"]).date()
        return completed_years(birthday, self._today()) >= int(self.limits["min_age"])

    def test_type_is_drive(self, test_type: str) -> bool:
        return test_type == "drive"

    def drive_test_ready(self, username: str) -> bool:
        tests = self._accounts[username]["tests"]
        return bool(tests["knowledge"]["status"] == "passed" and tests["drive"]["status"] == "not scheduled")

    def test_scheduled(self, username: str, test_type: str) -> bool:
        test = self._test(username, test_type)
        return bool(test["status"] == "scheduled" and test["scheduled_time"] is not None)

    def within_attempt_limit(self, username: str, test_type: str) -> bool:
        return bool(self._test(username, test_type)["attempts"] < int(self.limits["attempt_limit"]))

    def before_test_date(self, username: str, test_type: str) -> bool:
        return moment(self.state["interaction_time"]) < moment(self._test(username, test_type)["scheduled_time"])
