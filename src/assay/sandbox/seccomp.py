"""A small seccomp filter, assembled by hand: no library is needed to load it."""

import platform
import struct

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENT_0 = 0, 4, 16  # offsets in struct seccomp_data; low half of the argument
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _EACCES, _ENOSYS = 1, 13, 38
_NAMESPACE_FLAGS = 0x7E020080  # user, PID, network, IPC, UTS, cgroup, mount, time

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# System calls that no snippet needs and that reach other processes, the kernel, or memory that no cap counts.
_DENIED = {
    # name: (x86_64, aarch64); None where the call does not exist
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "syslog": (103, 116),
    "iopl": (172, None),
    "ioperm": (173, None),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "vhangup": (153, 58),
    "mknod": (133, None),
    "mknodat": (259, 33),
}
_CLONE, _CLONE3, _SOCKET = (56, 220), (435, 435), (41, 198)
_UNSHARE, _SETNS, _MOUNT, _UMOUNT = (_DENIED[name] for name in ("unshare", "setns", "mount", "umount2"))


def _instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def _start(machine: str) -> list[bytes]:
    program = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_JUMP_EQUAL, _AUDIT[machine], yes=1),
        _instruction(_RETURN, _KILL),  # a 32-bit call would slip through the numbers below
        _instruction(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        program += [_instruction(_JUMP_AT_LEAST, 0x40000000, no=1), _instruction(_RETURN, _ERRNO | _ENOSYS)]
    return program


def _clone(column: int) -> list[bytes]:
    return [
        # clone3 hides its flags in memory; libc falls back to clone, whose flags can be read.
        _instruction(_JUMP_EQUAL, _CLONE3[column], no=1),
        _instruction(_RETURN, _ERRNO | _ENOSYS),
        _instruction(_JUMP_EQUAL, _CLONE[column], no=4),
        _instruction(_LOAD, _ARGUMENT_0),
        _instruction(_JUMP_SET, _NAMESPACE_FLAGS & ~0x80, no=1),
        _instruction(_RETURN, _ERRNO | _EPERM),
        _instruction(_RETURN, _ALLOW),
    ]


def _deny(numbers: list[int]) -> list[bytes]:
    program = []
    for number in numbers:
        program += [_instruction(_JUMP_EQUAL, number, no=1), _instruction(_RETURN, _ERRNO | _EPERM)]
    return program


def supported() -> bool:
    """Tell whether the filter can be assembled for this processor."""
    return platform.system() == "Linux" and platform.machine() in _AUDIT


def snippet_filter() -> bytes:
    """Return the filter of every snippet: local sockets only, no namespaces, no reach into other processes."""
    machine = platform.machine()
    column = list(_AUDIT).index(machine)
    numbers = [pair[column] for pair in _DENIED.values()]
    program = _start(machine) + _deny([number for number in numbers if number is not None]) + _clone(column)
    program += [
        _instruction(_JUMP_EQUAL, _SOCKET[column], no=4),
        _instruction(_LOAD, _ARGUMENT_0),
        _instruction(_JUMP_EQUAL, 1, yes=1),  # AF_UNIX
        _instruction(_RETURN, _ERRNO | _EACCES),
        _instruction(_RETURN, _ALLOW),
        _instruction(_RETURN, _ALLOW),
    ]
    return b"".join(program)


def container_filter() -> bytes:
    """Return a filter that refuses what a container's default profile refuses: namespaces and mounts.

    For tests and for `assay sandbox probe --as-in-container`: it shows on any machine what is left there.
    """
    machine = platform.machine()
    column = list(_AUDIT).index(machine)
    names = ("unshare", "setns", "mount", "umount2", "pivot_root", "mount_setattr", "open_tree", "move_mount", "fsopen")
    numbers = [number for name in names if (number := _DENIED[name][column]) is not None]
    return b"".join(_start(machine) + _deny(numbers) + _clone(column) + [_instruction(_RETURN, _ALLOW)])
