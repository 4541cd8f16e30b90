"""The motor vehicle office: vehicles, driver licences, tests."""

from datetime import timedelta
from typing import Any

from assay.canonical import text_digest
from assay.sopbench.dates import day, moment
from assay.sopbench.system import System

Pair = tuple[bool, Any]


def licence_number(username: str) -> str:
    """Return a licence number: "D" and ten columns, right-aligned.

    Upstream draws it from the process-randomised string hash, so that no other process can reproduce a database. Ours
    comes from the sha256 of the name.
    """
    return f"D{int(text_digest(username), 16) % 10**9:10d}"


class Dmv(System):
    """State and functions of the motor vehicle office."""

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__(state)
        self._accounts: dict[str, Any] = state["accounts"]

    def _vehicle(self, username: str, plate_num: str) -> dict[str, Any]:
        vehicle: dict[str, Any] = self._accounts[username]["vehicles"][plate_num]
        return vehicle

    def _valid_type(self, test_type: str) -> bool:
        return test_type in self.state["test_slots"]

    def login_user(self, username: str, identification: str) -> bool:
        if username not in self._accounts:
            return False
        return bool(self._accounts[username]["identification"] == identification)

    def logout_user(self, username: str) -> bool:
        return True

    def authenticate_admin_password(self, username: str, admin_password: str) -> bool:
        return bool(self._accounts[username]["admin_password"] == admin_password)

    def set_admin_password(self, username: str, admin_password_new: str) -> bool:
        self._accounts[username]["admin_password"] = admin_password_new
        return True

    def register_vehicle(self, username: str, plate_num: str, model: str, vin: str) -> bool:
        account = self._accounts[username]
        account["vehicles"][plate_num] = {
            "model": model,
            "vin": vin,
            "reg_date": self.state["interaction_time"][:10],
            "address": account["address"],
            "insurance_status": "expired",
        }
        return True

    def get_reg_status(self, username: str, plate_num: str) -> Pair:
        return True, self._vehicle(username, plate_num)["reg_date"]

    def change_vehicle_address(self, username: str, plate_num: str, address_new: str) -> bool:
        self._vehicle(username, plate_num)["address"] = address_new
        return True

    def validate_vehicle_insurance(self, username: str, plate_num: str) -> bool:
        self._vehicle(username, plate_num)["insurance_status"] = "valid"
        return True

    def renew_vehicle(self, username: str, plate_num: str) -> Pair:
        vehicle = self._vehicle(username, plate_num)
        vehicle["reg_date"] = (day(vehicle["reg_date"]) + timedelta(days=365)).strftime("%Y-%m-%d")
        return True, vehicle["reg_date"]

    def get_dl_status(self, username: str) -> Pair:
        return True, self._accounts[username]["driver_license"]["exp_date"]

    def update_dl_legal_name(self, username: str, new_name: str) -> bool:
        self._accounts[username]["driver_license"]["legal_name"] = new_name
        return True

    def change_dl_address(self, username: str, address_new: str) -> bool:
        self._accounts[username]["driver_license"]["address"] = address_new
        return True

    def renew_dl(self, username: str) -> Pair:
        licence = self._accounts[username]["driver_license"]
        expiry = day(licence["exp_date"])
        licence["exp_date"] = expiry.replace(year=expiry.year + 5).strftime("%Y-%m-%d")
        return True, licence["exp_date"]

    def show_available_test_slots(self, username: str, test_type: str) -> bool | Pair:
        if not self._valid_type(test_type):
            return False
        return True, self.state["test_slots"][test_type]

    def schedule_test(self, username: str, test_type: str, schedule_time: str) -> bool:
        if not self._valid_type(test_type):
            return False
        test = self._accounts[username]["tests"][test_type]
        test["status"] = "scheduled"
        test["scheduled_time"] = schedule_time
        test["attempts"] += 1
        return True

    def cancel_test(self, username: str, test_type: str) -> bool:
        if not self._valid_type(test_type):
            return False
        test = self._accounts[username]["tests"][test_type]
        test["status"] = "not scheduled"
        test["scheduled_time"] = None
        test["attempts"] -= 1
        return True

    def update_test_status(self, username: str, test_type: str, passed: bool, legal_name: str | None = None) -> bool:
        if not self._valid_type(test_type):
            return False
        account = self._accounts[username]
        test = account["tests"][test_type]
        test["status"] = "passed" if passed else "not scheduled"
        test["scheduled_time"] = None
        if passed and test_type == "drive":
            birthday = day(account["birthday"])
            expiry = birthday.replace(year=moment(self.state["interaction_time"]).year + 5)
            account["driver_license"] = {
                "dl_number": licence_number(username),
                "legal_name": legal_name or username,
                "exp_date": expiry.strftime("%Y-%m-%d"),
                "address": account["address"],
            }
        return True

    def transfer_title(self, username: str, target_owner: str, plate_num: str) -> bool:
        self._accounts[target_owner]["vehicles"][plate_num] = self._accounts[username]["vehicles"].pop(plate_num)
        return True

    def internal_get_database(self) -> Pair:
        return True, self.state

    def internal_check_username_exist(self, username: str) -> Pair:
        return True, username in self._accounts

    def internal_get_user_birthday(self, username: str) -> bool | Pair:
        if username not in self._accounts:
            return False
        return True, self._accounts[username]["birthday"]

    def internal_has_vehicle(self, username: str, plate_num: str) -> bool | Pair:
        if username not in self._accounts:
            return False
        return True, plate_num in self._accounts[username]["vehicles"]

    def internal_vehicle_registered(self, plate_num: str) -> Pair:
        return True, any(plate_num in account["vehicles"] for account in self._accounts.values())

    def internal_get_vehicle_details(self, username: str, plate_num: str) -> bool | Pair:
        if username not in self._accounts or plate_num not in self._accounts[username]["vehicles"]:
            return False
        return True, self._vehicle(username, plate_num)

    def internal_has_dl(self, username: str) -> bool | Pair:
        if username not in self._accounts:
            return False
        return True, self._accounts[username]["driver_license"] is not None

    def internal_get_dl_details(self, username: str) -> bool | Pair:
        if username not in self._accounts or self._accounts[username]["driver_license"] is None:
            return False
        return True, self._accounts[username]["driver_license"]

    def internal_valid_test_type(self, test_type: str) -> Pair:
        return True, self._valid_type(test_type)

    def internal_check_test_slot_available(self, test_type: str, schedule_time: str) -> bool | Pair:
        if not self._valid_type(test_type):
            return False
        return True, schedule_time in self.state["test_slots"][test_type]

    def internal_get_test_details(self, username: str, test_type: str) -> bool | Pair:
        if username not in self._accounts or not self._valid_type(test_type):
            return False
        return True, self._accounts[username]["tests"][test_type]

    def internal_get_interaction_time(self) -> Pair:
        return True, self.state["interaction_time"]
