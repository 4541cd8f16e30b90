"""The health insurer: policies, claims, providers, appointments."""

from typing import Any

from assay.sopbench.system import System

Pair = tuple[bool, Any]


class Healthcare(System):
    """State and functions of the health insurer."""

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__(state)
        self._accounts: dict[str, Any] = state["accounts"]
        self._providers: dict[str, Any] = state["providers"]

    def _policy(self, username: str) -> dict[str, Any]:
        policy: dict[str, Any] = self._accounts[username]["policy"]
        return policy

    def _claim(self, username: str, claim_id: str) -> dict[str, Any] | None:
        return next((claim for claim in self._policy(username)["claims"] if claim["claim_id"] == claim_id), None)

    def _claim_exists(self, username: str, claim_id: str) -> bool:
        return username in self._accounts and self._claim(username, claim_id) is not None

    def login_user(self, username: str, identification: Any) -> bool:
        if username not in self._accounts:
            return False
        return bool(self._accounts[username]["identification"] == identification)

    def logout_user(self, username: str) -> bool:
        return True

    def update_policy(self, username: str, policy_type: str, coverage_amount: float, annual_income: float) -> bool:
        if not (coverage_amount >= 0 and annual_income >= 0):
            return False
        details = self._policy(username)["details"]
        details["type"] = policy_type
        details["coverage_amount"] = coverage_amount
        details["annual_income"] = annual_income
        return True

    def submit_claim(self, username: str, amount: float, description: str, provider_id: str) -> bool:
        if not (provider_id in self._providers and amount >= 0):
            return False
        claims = self._policy(username)["claims"]
        claims.append(
            {
                "claim_id": f"CLM-{len(claims) + 1}",
                "amount": amount,
                "status": "pending",
                "description": description,
                "provider_id": provider_id,
                # The full time, although the appeal period is read as a plain date (as published).
                "claim_date": self.state["interaction_time"],
            }
        )
        return True

    def get_claim_details(self, username: str, claim_id: str) -> Pair:
        if not self._claim_exists(username, claim_id):
            return False, {}
        return True, self._claim(username, claim_id)

    def add_authorized_provider(self, username: str, provider_id: str) -> bool:
        if provider_id not in self._providers:
            return False
        self._policy(username)["details"]["authorized_providers"].append(provider_id)
        return True

    def get_claim_history(self, username: str) -> Pair:
        return True, self._policy(username)["claims"]

    def deactivate_policy(self, username: str) -> bool:
        policy = self._policy(username)
        policy["details"] = {
            "type": "Inactive",
            "coverage_amount": 0,
            "enrollment_date": "",
            "authorized_providers": [],
            "annual_income": 0,
        }
        policy["claims"] = []
        return True

    def reactivate_policy(self, username: str, policy_type: str, coverage_amount: float, annual_income: float) -> bool:
        if not coverage_amount >= 0:
            return False
        self._policy(username)["details"] = {
            "type": policy_type,
            "coverage_amount": coverage_amount,
            "enrollment_date": self.state["interaction_time"],
            "authorized_providers": [],
            "annual_income": annual_income,
        }
        return True

    def schedule_appointment(self, username: str, provider_id: str, appointment_date: str) -> bool:
        if provider_id not in self._providers:
            return False
        appointments = self._accounts[username]["scheduled_appointments"]
        appointment_id = f"APT-{len(appointments) + 1}"
        appointments.append(
            {"appointment_id": appointment_id, "provider_id": provider_id, "appointment_date": appointment_date}
        )
        self._providers[provider_id]["appointments"].append(
            {"appointment_id": appointment_id, "username": username, "appointment_date": appointment_date}
        )
        return True

    def appeal_claim(self, username: str, claim_id: str) -> bool:
        if not self._claim_exists(username, claim_id):
            return False
        claim = self._claim(username, claim_id)
        if claim is None:
            return False
        claim["status"] = "pending"
        return True

    def get_policy_details(self, username: str) -> Pair:
        return True, self._accounts.get(username, {}).get("policy", {}).get("details", {})

    def get_provider_details(self, provider_id: str) -> Pair:
        if provider_id not in self._providers:
            return False, {}
        return True, self._providers[provider_id]

    def internal_get_database(self) -> Pair:
        return True, self.state

    def internal_check_username_exist(self, username: str) -> Pair:
        return True, username in self._accounts

    def internal_check_claim_exists(self, username: str, claim_id: str) -> bool | Pair:
        if username not in self._accounts:
            return False
        return True, self._claim(username, claim_id) is not None

    def internal_check_provider_exists(self, provider_id: str) -> Pair:
        return True, provider_id in self._providers

    def internal_get_interaction_time(self) -> Pair:
        return True, self.state["interaction_time"]
