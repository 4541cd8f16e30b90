"""The named guarantees, what a machine gives of them, and the policy that decides whether that is enough."""

import msgspec

from assay.config.executions import Executions
from assay.errors import SandboxError
from assay.sandbox.records import World

# Guarantee -> (meaning, what helps where it is missing)
GUARANTEES = {
    "wall_limited": ("any snippet is gone at the hard stop", "report this as a bug of Assay"),
    "process_tree_killed": ("no descendant survives the verdict", "allow user namespaces, or mount /proc"),
    "process_count_capped": (
        "fork fails at the cap, counted per execution",
        "allow user namespaces, or do not run as root",
    ),
    "process_memory_capped": (
        "no process gets more than its cap",
        "raise the hard limit of address space (ulimit -H -v)",
    ),
    "tree_memory_capped": ("all processes together stay below a cap", "mount /proc"),
    "disk_capped": ("all writable space together is bounded and vanishes", "allow user namespaces"),
    "write_confined": ("writes only in private folders", "allow user namespaces, or a kernel with Landlock (5.13)"),
    "read_confined": (
        "reads only interpreter, allowed packages, system libraries",
        "allow user namespaces, or a kernel with Landlock (5.13)",
    ),
    "processes_hidden": ("other processes' environment and memory unreadable", "allow user namespaces"),
    "signals_confined": (
        "cannot signal the supervisor or other executions",
        "allow user namespaces, or a kernel with Landlock version 6 (6.12)",
    ),
    "network_blocked": ("no TCP, UDP, name lookup", "allow user namespaces, or seccomp filters"),
    "abstract_sockets_blocked": (
        "abstract sockets of the host unreachable",
        "allow user namespaces, or a kernel with Landlock version 6 (6.12)",
    ),
    "env_clean": ("fixed environment, nothing inherited", "report this as a bug of Assay"),
}
CLOSED = ("write_confined", "read_confined", "network_blocked")


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """What this machine gives, proven by self-tests.

    Attributes
    ----------
    held : tuple of str
        Guarantees that hold.
    missing : dict
        The others, with what the self-test saw.
    refused : dict
        Backend -> reason, for backends that were tried and refused.
    """

    mechanism: str
    held: tuple[str, ...]
    missing: dict[str, str]
    refused: dict[str, str]
    kernel: str
    landlock_abi: int
    proc: str
    fixed_addresses: bool

    @property
    def world(self) -> World:
        """Closed if the snippet sees nothing of the machine that could differ elsewhere."""
        return "closed" if all(name in self.held for name in CLOSED) else "open"

    def why_missing(self, name: str) -> str:
        """Return the sentence about one missing guarantee."""
        reasons = [self.missing[name], *(f"{backend}: {reason}" for backend, reason in self.refused.items())]
        return f"{name} ({'; '.join(reasons)})"


def check_policy(settings: Executions, probe: Probe) -> str | None:
    """Return the warning that the run must carry, None if all is well.

    Raises
    ------
    SandboxError
        Under `isolation: require`, if a required guarantee is missing.
    """
    if settings.isolation == "off":
        return "isolation is off: model-written code runs with the rights of this user"
    if settings.isolation == "prefer":
        if not probe.missing:
            return None
        return "not guaranteed while running model-written code: " + ", ".join(probe.missing)
    lacking = [name for name in settings.isolation_required if name not in probe.held]
    if lacking:
        remedies = list(dict.fromkeys(GUARANTEES[name][1] for name in lacking))
        raise SandboxError(
            "model-written code was not run, because this machine does not give "
            + "; ".join(probe.why_missing(name) for name in lacking),
            key="isolation_required",
            remedy="; or ".join(remedies)
            + " (in Docker: --security-opt seccomp=unconfined, in Ubuntu 24.04: an AppArmor profile for this Python); "
            "or write `isolation: prefer` in configs/executions.yaml, which marks every table",
        )
    return None
