"""Truth values of the health insurer's constraints, and its session: one user."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar

from assay.sopbench.dates import day, moment
from assay.sopbench.sessions import OneUserSession
from assay.sopbench.system import System

_APPOINTMENT_FORMATS = (
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%d",
)


class HealthcareSession(OneUserSession):
    """Who is logged in, and what the rules test."""

    login_defaults: ClassVar[dict[str, Any]] = {"identification": None}

    def __init__(self, system: System, limits: Mapping[str, Any], *, careful: bool = False) -> None:
        super().__init__(system, limits, careful=careful)
        self._accounts: dict[str, Any] = self.state["accounts"]

    def _details(self, username: str) -> dict[str, Any]:
        details: dict[str, Any] = self._accounts[username]["policy"]["details"]
        return details

    def _claims(self, username: str) -> list[dict[str, Any]]:
        claims: list[dict[str, Any]] = self._accounts[username]["policy"]["claims"]
        return claims

    def _claim(self, username: str, claim_id: str) -> dict[str, Any]:
        return next(claim for claim in self._claims(username) if claim["claim_id"] == claim_id)

    def _provider(self, provider_id: str) -> dict[str, Any]:
        provider: dict[str, Any] = self.state["providers"][provider_id]
        return provider

    def _days_since(self, date: str, limit: str) -> bool:
        """Return whether the time since a date's midnight is within a limit of days."""
        return moment(self.state["interaction_time"]) - day(date) <= timedelta(days=self.limits[limit])

    def amount_positive_restr(self, amount: float) -> bool:
        return amount >= 0

    def claim_within_coverage_amount(self, username: str, amount: float) -> bool:
        open_claims = [claim for claim in self._claims(username) if claim["status"] in ("pending", "approved")]
        total = sum(claim["amount"] for claim in open_claims)
        return bool(total + amount <= self._details(username)["coverage_amount"])

    def claim_within_limits(self, amount: float) -> bool:
        return bool(amount < self.limits["maximum_claimable_amount"])

    def provider_not_already_authorized(self, username: str, provider_id: str) -> bool:
        return provider_id not in self._details(username)["authorized_providers"]

    def policy_active(self, username: str) -> bool:
        return bool(self._details(username)["type"] != "Inactive")

    def policy_inactive(self, username: str) -> bool:
        return bool(self._details(username)["type"] == "Inactive")

    def provider_available(self, provider_id: str) -> bool:
        # The published data spell it "Avaliable", which is not available.
        return bool(self._provider(provider_id)["availability"].lower() == "available")

    def no_pending_claims(self, username: str) -> bool:
        return all(claim["status"] != "pending" for claim in self._claims(username))

    def provider_covers_policy(self, username: str, provider_id: str) -> bool:
        return bool(self._provider(provider_id)["service_type"] == self._details(username)["type"])

    def income_proof_enough(self, coverage_amount: float, annual_income: float) -> bool:
        return bool(coverage_amount <= annual_income * self.limits["max_coverage_percentage"] / 100)

    def claim_status_denied(self, username: str, claim_id: str) -> bool:
        return bool(self._claim(username, claim_id)["status"] == "denied")

    def provider_authorized(self, username: str, provider_id: str) -> bool:
        return provider_id in self._details(username)["authorized_providers"]

    def within_enrollment_period(self, username: str) -> bool:
        return self._days_since(self._details(username)["enrollment_date"], "enrollment_period")

    def within_appeal_period(self, username: str, claim_id: str) -> bool:
        return self._days_since(self._claim(username, claim_id)["claim_date"], "appeal_period")

    def policy_type_valid(self, policy_type: str) -> bool:
        return policy_type in ("Health", "Dental", "Pharmacy", "Vision")

    def appointment_date_valid(self, appointment_date: str) -> bool:
        for form in _APPOINTMENT_FORMATS:
            try:
                parsed = datetime.strptime(appointment_date, form)  # noqa: DTZ007 - no zone in this domain
            except ValueError:
                continue
            return parsed.replace(hour=0, minute=0, second=0) >= moment(self.state["interaction_time"])
        return False
