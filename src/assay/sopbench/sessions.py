"""What the sessions of several domains have in common."""

from collections.abc import Mapping
from typing import Any

from assay.sopbench.system import Session, System


class OneUserSession(Session):
    """A session with at most one user: whoever logged in last."""

    def __init__(self, system: System, limits: Mapping[str, Any], *, careful: bool = False) -> None:
        super().__init__(system, limits, careful=careful)
        self._user: str | None = None

    def on_login_user(self, username: str, **_credential: Any) -> None:
        """Remember who logged in, whatever the credential."""
        self._user = username

    def on_logout_user(self, username: str) -> None:
        """Forget who it was."""
        self._user = None

    def logged_in_user(self, username: str) -> bool:
        """Tell whether this user is the one."""
        return self._user == username
