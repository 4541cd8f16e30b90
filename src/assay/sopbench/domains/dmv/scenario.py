"""New tasks of the motor vehicle office: accounts with vehicles, licences and tests, and what they ask for."""

from datetime import datetime
from random import Random
from typing import Any

from assay.sopbench.dates import moment
from assay.sopbench.domain import Scenario
from assay.sopbench.domains.dmv.functions import Dmv
from assay.sopbench.pools import account_name, address, birthday, chosen, clock, code, mostly, people, secret, shifted

_CREDENTIALS = ("username", "identification", "admin_password")
_MODELS = ("Otter 3", "Plover", "Heron GT")


def world(draw: Random) -> dict[str, Any]:
    """Draw three accounts and the free times of both tests."""
    now = clock(draw)
    slots = {
        kind: [f"{shifted(now, d)}T{h:02d}:00:00" for d in (1, 2, 3) for h in (9, 14)]
        for kind in ("knowledge", "drive")
    }
    accounts = {account_name(person): _account(draw, now, person) for person in people(draw, 3)}
    return {"accounts": accounts, "test_slots": slots, "interaction_time": now.isoformat()}


def _account(draw: Random, now: datetime, person: str) -> dict[str, Any]:
    home = address(draw)
    licensed = draw.random() < 0.7
    return {
        "identification": secret(draw),
        "admin_password": secret(draw),
        "birthday": birthday(draw, now.date(), *((18, 70) if licensed else mostly(draw, ((17, 40),), ((12, 15),)))),
        "vehicles": {code(draw, 3, 4): _vehicle(draw, now, home) for _ in range(draw.randrange(1, 3))},
        "address": home,
        "driver_license": _licence(draw, now, home, person) if licensed else None,
        "tests": {"knowledge": _test(draw, now, licensed), "drive": _test(draw, now, licensed)},
    }


def _vehicle(draw: Random, now: datetime, home: str) -> dict[str, Any]:
    return {
        "model": draw.choice(_MODELS),
        "vin": secret(draw, 9),
        "reg_date": shifted(now, mostly(draw, (5, 30, 80), (-40, 200))),
        "address": home,
        "insurance_status": draw.choice(("valid", "valid", "expired")),
    }


def _licence(draw: Random, now: datetime, home: str, person: str) -> dict[str, Any]:
    expiry = shifted(now, mostly(draw, (20, 90, 170), (-10, 400)))
    return {
        "dl_number": code(draw, 1, 10),
        "legal_name": person,
        "exp_date": expiry.replace("02-29", "02-28"),
        "address": home,
    }


def _test(draw: Random, now: datetime, licensed: bool) -> dict[str, Any]:
    state = "passed" if licensed else draw.choice(("not scheduled", "scheduled", "passed"))
    time = f"{shifted(now, draw.choice((-3, -1, 2, 6)))}T09:00:00" if state == "scheduled" else None
    return {"status": state, "scheduled_time": time, "attempts": draw.choice((0, 1, 2, 3))}


def request(draw: Random, state: dict[str, Any], goal: str) -> dict[str, Any]:
    """Draw a visitor and what is asked for."""
    user, other = draw.sample(sorted(state["accounts"]), 2)
    account = state["accounts"][user]
    kind = draw.choice(("knowledge", "drive"))
    now = moment(state["interaction_time"])
    fresh = code(draw, 3, 4)
    plates = sorted(account["vehicles"])
    values: dict[str, Any] = {
        "username": user,
        "identification": account["identification"],
        "admin_password": account["admin_password"],
        "admin_password_new": secret(draw),
        "plate_num": mostly(draw, plates, sorted(state["accounts"][other]["vehicles"])),
        "model": draw.choice(_MODELS),
        "vin": secret(draw, 9),
        "address_new": mostly(draw, (address(draw),), (account["address"],)),
        "new_name": people(draw, 1)[0],
        "test_type": mostly(draw, (kind,), ("hearing",), 0.92),
        "schedule_time": mostly(draw, state["test_slots"][kind], (f"{shifted(now, 40)}T09:00:00",)),
        "passed": draw.choice((True, False)),
        "legal_name": people(draw, 1)[0],
        "target_owner": mostly(draw, (other,), (account_name(people(draw, 1)[0]),)),
    }
    if goal == "register_vehicle":
        values["plate_num"] = mostly(draw, (fresh,), plates)
    return chosen(values, (*_CREDENTIALS, *Dmv.parameters[goal]))


SCENARIO = Scenario(
    world,
    request,
    {
        "set_admin_password": "change the administrator's password of {username}",
        "register_vehicle": "register the vehicle {plate_num}, a {model} with number {vin}",
        "get_reg_status": "know the registration date of the vehicle {plate_num}",
        "change_vehicle_address": "change the address of the vehicle {plate_num} to {address_new}",
        "validate_vehicle_insurance": "have the insurance of the vehicle {plate_num} marked as valid",
        "renew_vehicle": "renew the registration of the vehicle {plate_num}",
        "get_dl_status": "know when the driver's licence of {username} expires",
        "update_dl_legal_name": "change the name on the driver's licence to {new_name}",
        "change_dl_address": "change the address on the driver's licence to {address_new}",
        "renew_dl": "renew the driver's licence of {username}",
        "show_available_test_slots": "see the free times of the test {test_type}",
        "schedule_test": "take the test {test_type} at {schedule_time}",
        "cancel_test": "cancel the test {test_type}",
        "update_test_status": "have the test {test_type} noted with passed = {passed}",
        "transfer_title": "hand the vehicle {plate_num} over to {target_owner}",
    },
)
