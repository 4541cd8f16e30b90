"""A domain that a user might write: lending bikes. In a project each part stands in a module of its own."""

from random import Random
from typing import Any, ClassVar

from assay.sopbench.domain import Domain, Procedure, Scenario, Texts
from assay.sopbench.pools import account_name, chosen, code, mostly, people, secret
from assay.sopbench.rules import Rules
from assay.sopbench.sessions import OneUserSession
from assay.sopbench.system import System
from assay.sopbench.tools import number, string, toolbox


class Bikes(System):
    """State and functions: what a model talks to."""

    def login_user(self, rider: str, pin: str) -> bool:
        return rider in self.state["accounts"] and bool(self.state["accounts"][rider]["pin"] == pin)

    def lend_bike(self, rider: str, bike: str) -> bool:
        self.state["bikes"][bike]["rider"] = rider
        return True

    def take_back(self, rider: str, bike: str) -> bool:
        self.state["bikes"][bike]["rider"] = None
        return True

    def pay_deposit(self, rider: str, sum: float) -> bool:  # noqa: A002 - the tool's own word
        self.state["accounts"][rider]["deposit"] += sum
        return True

    def internal_rider_exists(self, rider: str) -> tuple[bool, bool]:
        return True, rider in self.state["accounts"]

    def internal_bike_exists(self, bike: str) -> tuple[bool, bool]:
        return True, bike in self.state["bikes"]

    def internal_get_deposit(self, rider: str) -> tuple[bool, float]:
        return True, self.state["accounts"][rider]["deposit"]

    def internal_who_has(self, bike: str) -> tuple[bool, Any]:
        return True, self.state["bikes"][bike]["rider"]


class BikesSession(OneUserSession):
    """Who is logged in (`logged_in_user` is called `logged_in` here), and what the rules test."""

    login_defaults: ClassVar[dict[str, Any]] = {}

    def on_login_user(self, rider: str, pin: str) -> None:
        self._user = rider

    def logged_in(self, rider: str) -> bool:
        return self._user == rider

    def enough_deposit(self, rider: str) -> bool:
        return bool(self.state["accounts"][rider]["deposit"] >= self.limits["minimum_deposit"])

    def bike_free(self, bike: str) -> bool:
        return self.state["bikes"][bike]["rider"] is None

    def has_bike(self, rider: str, bike: str) -> bool:
        return bool(self.state["bikes"][bike]["rider"] == rider)

    def sum_positive(self, sum: float) -> bool:  # noqa: A002
        return sum > 0


RULES = Rules.of(
    innate={"login_user": "internal_rider_exists(rider)", "pay_deposit": "sum_positive(sum)"},
    required={
        "lend_bike": "and[logged_in(rider), bike_free(bike)]",
        "take_back": "and[logged_in(rider), has_bike(rider, bike)]",
        "pay_deposit": "logged_in(rider)",
    },
    customizable={"lend_bike": "enough_deposit(rider)"},
    links={"logged_in": "login_user(rider)"},
    dependencies={
        "enough_deposit": "internal_rider_exists(rider)",
        "bike_free": "internal_bike_exists(bike)",
        "has_bike": "internal_bike_exists(bike)",
    },
    processes={
        "enough_deposit": "internal_get_deposit(rider)",
        "bike_free": "and[internal_bike_exists(bike), internal_who_has(bike)]",
        "has_bike": "and[internal_bike_exists(bike), internal_who_has(bike)]",
        "internal_rider_exists": "internal_rider_exists(rider)",
        "internal_bike_exists": "internal_bike_exists(bike)",
    },
    limits={"minimum_deposit": 15},
)

TEXTS = Texts(
    role="You serve people who borrow bikes.",
    conditions={
        "logged_in": "the user named by {rider} is logged in",
        "enough_deposit": "the deposit of {rider} is at least {limits[minimum_deposit]} dollars",
        "bike_free": "nobody has {bike}",
        "has_bike": "{rider} has {bike}",
        "sum_positive": "{sum} is more than zero",
        "internal_rider_exists": "there is an account of {rider}",
        "internal_bike_exists": "there is a bike {bike}",
    },
)

TOOLBOX = toolbox(
    {
        "rider": string("Name of the account."),
        "pin": string("The account's number to prove it."),
        "bike": string("Number of the bike."),
        "sum": number("Dollars."),
    },
    {
        "login_user(rider, pin)": "Log a rider in.",
        "lend_bike(rider, bike)": "Lend a bike.",
        "take_back(rider, bike)": "Take a bike back.",
        "pay_deposit(rider, sum)": "Pay money into the deposit.",
        "internal_rider_exists(rider)": "Check whether there is such an account.",
        "internal_bike_exists(bike)": "Check whether there is such a bike.",
        "internal_get_deposit(rider)": "Tell the deposit of an account.",
        "internal_who_has(bike)": "Tell who has a bike.",
    },
)


def world(draw: Random) -> dict[str, Any]:
    """Draw two riders and three bikes."""
    riders = [account_name(person) for person in people(draw, 2)]
    bikes = [code(draw, 1, 3) for _ in range(3)]
    return {
        "accounts": {rider: {"pin": secret(draw, 6), "deposit": draw.choice((5, 15, 40))} for rider in riders},
        "bikes": {bike: {"rider": draw.choice((None, None, *riders))} for bike in bikes},
    }


def request(draw: Random, state: dict[str, Any], goal: str) -> dict[str, Any]:
    """Draw who asks for what."""
    rider = draw.choice(sorted(state["accounts"]))
    values = {
        "rider": rider,
        "pin": state["accounts"][rider]["pin"],
        "bike": mostly(draw, sorted(state["bikes"]), ("no such bike",), 0.9),
        "sum": mostly(draw, (10, 25), (-5,), 0.8),
    }
    return chosen(values, ("rider", "pin", *Bikes.parameters[goal]))


SCENARIO = Scenario(
    world,
    request,
    {
        "lend_bike": "borrow the bike {bike}",
        "take_back": "bring the bike {bike} back",
        "pay_deposit": "pay {sum} dollars into the deposit of {rider}",
    },
)

BIKES = Domain(Procedure("bikes", Bikes, BikesSession, RULES), TEXTS, TOOLBOX, SCENARIO)
