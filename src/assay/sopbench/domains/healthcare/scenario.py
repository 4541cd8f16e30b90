"""New tasks of the health insurer: policies, claims and providers, and what the insured ask for."""

from datetime import datetime
from random import Random
from typing import Any

from assay.sopbench.dates import moment
from assay.sopbench.domain import Scenario
from assay.sopbench.domains.healthcare.functions import Healthcare
from assay.sopbench.pools import account_name, address, chosen, clock, code, mostly, people, secret, shifted

_KINDS = ("Health", "Dental", "Pharmacy", "Vision")
_CREDENTIALS = ("username", "identification")


def world(draw: Random) -> dict[str, Any]:
    """Draw three insured users and four providers."""
    now = clock(draw)
    providers = {code(draw, 2, 3): _provider(draw, kind) for kind in _KINDS}
    accounts = {account_name(person): _account(draw, now, sorted(providers)) for person in people(draw, 3)}
    return {"accounts": accounts, "providers": providers, "interaction_time": now.isoformat()}


def _provider(draw: Random, kind: str) -> dict[str, Any]:
    return {
        "name": f"Practice of {people(draw, 1)[0]}",
        "location": address(draw),
        "service_type": kind,
        "availability": mostly(draw, ("Available",), ("Full",)),
        "appointments": [],
    }


def _account(draw: Random, now: datetime, providers: list[str]) -> dict[str, Any]:
    inactive = draw.random() < 0.2
    details = {
        "type": "Inactive" if inactive else draw.choice(_KINDS),
        "coverage_amount": 0 if inactive else draw.choice((3000.0, 9000.0, 15000.0)),
        "enrollment_date": "" if inactive else shifted(now, mostly(draw, (-10, -60), (-120, -300))),
        "authorized_providers": [] if inactive else draw.sample(providers, draw.randrange(3)),
        "annual_income": 0 if inactive else draw.choice((30000.0, 60000.0)),
    }
    claims = [] if inactive else [_claim(draw, now, number, providers) for number in range(1, draw.randrange(1, 4))]
    return {
        "identification": secret(draw),
        "policy_number": code(draw, 2, 6),
        "policy": {"details": details, "claims": claims},
        "scheduled_appointments": [],
    }


def _claim(draw: Random, now: datetime, number: int, providers: list[str]) -> dict[str, Any]:
    return {
        "claim_id": f"CLM-{number}",
        "amount": float(draw.randrange(1, 20) * 100),
        "status": draw.choice(("approved", "approved", "denied", "denied", "pending")),
        "description": draw.choice(("check-up", "glasses", "filling")),
        "provider_id": draw.choice(providers),
        "claim_date": shifted(now, mostly(draw, (-20, -100), (-200, -400))),
    }


def request(draw: Random, state: dict[str, Any], goal: str) -> dict[str, Any]:
    """Draw an insured user and what is asked for."""
    user = draw.choice(sorted(state["accounts"]))
    account = state["accounts"][user]
    now = moment(state["interaction_time"])
    claims = [claim["claim_id"] for claim in account["policy"]["claims"]]
    values: dict[str, Any] = {
        "username": user,
        "identification": account["identification"],
        "policy_type": mostly(draw, _KINDS, ("Travel",)),
        "coverage_amount": mostly(draw, (4000.0, 6000.0), (30000.0,)),
        "annual_income": draw.choice((40000.0, 80000.0)),
        "amount": mostly(draw, (150.0, 700.0), (5200.0, 12000.0)),
        "description": draw.choice(("X-ray", "braces", "eye test")),
        "provider_id": mostly(draw, sorted(state["providers"]), ("ZZ000",), 0.93),
        "claim_id": mostly(draw, claims or ("CLM-1",), ("CLM-99",)),
        "appointment_date": shifted(now, mostly(draw, (1, 5, 30), (-2, 0))),
    }
    return chosen(values, (*_CREDENTIALS, *Healthcare.parameters[goal]))


SCENARIO = Scenario(
    world,
    request,
    {
        "update_policy": "change the policy to {policy_type} with a coverage of {coverage_amount} dollars",
        "submit_claim": "claim {amount} dollars for {description} by the provider {provider_id}",
        "get_claim_details": "see the claim {claim_id}",
        "add_authorized_provider": "have the provider {provider_id} authorised",
        "get_claim_history": "see all claims of {username}",
        "deactivate_policy": "end the policy of {username}",
        "reactivate_policy": "start the policy again as {policy_type} with a coverage of {coverage_amount} dollars",
        "schedule_appointment": "get an appointment with the provider {provider_id} on {appointment_date}",
        "appeal_claim": "appeal against the decision on the claim {claim_id}",
        "get_policy_details": "see the policy of {username}",
    },
)
