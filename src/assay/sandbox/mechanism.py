"""Finds the strongest confinement that works here, proves it, and makes servers under it."""

import os
from functools import lru_cache
from pathlib import Path

from assay.config.executions import Executions
from assay.errors import SandboxError
from assay.sandbox import plans, seccomp
from assay.sandbox.control import ServerError
from assay.sandbox.guarantees import Probe
from assay.sandbox.inside import linux
from assay.sandbox.launching import Plan
from assay.sandbox.selftest import SelfTest
from assay.sandbox.worker import Server

_TRIES = 2  # what is short for a moment must not decide how a run is confined


def choose(settings: Executions) -> tuple[plans.Backend, dict[str, str]]:
    """Return the strongest backend whose server starts, and why stronger ones were refused."""
    plans.refuse_elsewhere()
    refused: dict[str, str] = {}
    if settings.isolation == "off":
        return "plain", {}
    for _ in range(_TRIES):
        try:
            Server(plans.namespaces_plan(settings, ())).close()
            return "namespaces", {}
        except ServerError as error:
            refused["namespaces"] = _explained(error)
    if linux.landlock_abi() and seccomp.supported():
        return "landlock", refused
    refused["landlock"] = "this kernel has no Landlock" if seccomp.supported() else "this processor is not known"
    return "plain", refused


def _explained(error: ServerError) -> str:
    text = str(error)
    if error.step in ("user namespace", "user map", "mount namespace"):
        for path, name in (
            ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "AppArmor's restriction is on"),
            ("/proc/sys/kernel/unprivileged_userns_clone", "unprivileged_userns_clone is 0"),
            ("/proc/sys/user/max_user_namespaces", "max_user_namespaces is 0"),
        ):
            try:
                value = Path(path).read_text().strip()
            except OSError:
                continue
            if value == ("1" if "apparmor" in path else "0"):
                text += f"; {name}"
    return text


class Mechanism:
    """A chosen backend; makes servers, each with a folder of its own where it needs one."""

    def __init__(self, settings: Executions, backend: plans.Backend) -> None:
        self.settings = settings
        self.backend = backend

    def slot(self) -> plans.Slot | None:
        """Return a new folder for a worker, if this backend needs one."""
        return None if self.backend == "namespaces" else plans.Slot()

    def plan(self, preload: tuple[str, ...], slot: plans.Slot | None) -> Plan:
        """Return how to start a server."""
        if slot is None:
            return plans.namespaces_plan(self.settings, preload)
        return plans.folder_plan(self.settings, preload, slot, self.backend)


def probe(settings: Executions | None = None) -> Probe:
    """Return the guarantees that this machine gives, each proven by doing; known for the rest of the process."""
    settings = settings or Executions()
    off = settings.isolation == "off"
    return _probe(settings.interpreter, settings.distributions, settings.backend, off, os.geteuid())


@lru_cache(maxsize=16)
def _probe(interpreter: str | None, distributions: tuple[str, ...], backend: str, off: bool, _user: int) -> Probe:
    settings = Executions.model_validate(
        {
            "interpreter": interpreter,
            "distributions": distributions,
            "backend": backend,
            "preload": (),
            "isolation": "off" if off else "prefer",
            "model_code_may_read_and_change_my_files": off,
        }
    )
    chosen, refused = choose(settings)
    mechanism = Mechanism(settings, chosen)
    slot = mechanism.slot()
    try:
        plan = mechanism.plan((), slot)
        test = SelfTest(lambda: Server(plan))
        try:
            held, missing = test.run()
            launched, facts = test.server.launched, test.server.facts
        finally:
            test.close()
    except (ServerError, OSError) as error:
        raise SandboxError(f"no server can be started: {error}", remedy="run `assay sandbox probe`") from error
    finally:
        if slot is not None:
            slot.close()
    fresh = launched["fresh_proc"]
    return Probe(
        mechanism=chosen,
        held=held,
        missing=missing,
        refused=refused,
        kernel=os.uname().release,
        landlock_abi=facts.get("landlock", linux.landlock_abi()),
        proc="fresh" if fresh else "none" if chosen == "namespaces" else "host",
        fixed_addresses=launched["fixed_addresses"],
    )
