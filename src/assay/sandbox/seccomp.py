"""A small seccomp filter, assembled by hand: no library is needed to load it."""

import platform
import struct

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _RETURN, _AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
# Offsets in struct seccomp_data; low halves of the arguments.
_NUMBER, _ARCHITECTURE, _ARGUMENT_0, _ARGUMENT_1, _ARGUMENT_2 = 0, 4, 16, 24, 32
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
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # Who may change priorities can put off the end of his own time for as long as somebody else works.
    "setpriority": (141, 140),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
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
# Modes, owners, times and attributes of files: Landlock does not confine them.
_METADATA = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "file_setattr": (469, 469),
}
_ATTRIBUTES = {
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
}
# Landlock confines the length of files from version 3 on; before, who may read a file may also open it to be cut.
_TRUNCATE = {"truncate": (76, 45)}
_OPEN, _OPENAT, _OPENAT2, _TRUNCATE_ONLY, _TRUNCATE_OR_ACCESS = (2, None), (257, 56), (437, 437), 0o1000, 0o1003
_OWN_ONLY = {"prlimit64": (302, 261), "sched_setaffinity": (203, 122)}  # first argument: a process, 0 for the caller
_CLONE, _CLONE3, _SOCKET, _SOCKETPAIR = (56, 220), (435, 435), (41, 198), (53, 199)
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


def _own_only(column: int) -> list[bytes]:
    """Refuse calls on other processes, which a process of the same user is otherwise allowed."""
    program = []
    for pair in _OWN_ONLY.values():
        program += [
            _instruction(_JUMP_EQUAL, pair[column], no=4),
            _instruction(_LOAD, _ARGUMENT_0),
            _instruction(_JUMP_EQUAL, 0, yes=1),
            _instruction(_RETURN, _ERRNO | _EPERM),
            _instruction(_RETURN, _ALLOW),
        ]
    return program


def _sockets(column: int, *, namespaces: bool) -> list[bytes]:
    """Allow local sockets: all kinds in namespaces, elsewhere only connected pairs, which have no address.

    A socket that somebody bound to a path (a D-Bus, an agent, a resolver) is reached past Landlock; so is one by a
    datagram from a pair.
    """
    local = [_instruction(_LOAD, _ARGUMENT_0), _instruction(_JUMP_EQUAL, 1, yes=1)]  # AF_UNIX
    refuse, allow = _instruction(_RETURN, _ERRNO | _EACCES), _instruction(_RETURN, _ALLOW)
    if namespaces:
        single, pair = [*local, refuse, allow], [*local, refuse, allow]
    else:
        kind = [_instruction(_LOAD, _ARGUMENT_1), _instruction(_AND, 0xF)]
        streams = [_instruction(_JUMP_EQUAL, 1, yes=2), _instruction(_JUMP_EQUAL, 5, yes=1)]  # stream, seqpacket
        single, pair = [refuse], [*local, refuse, *kind, *streams, refuse, allow]
    return [
        _instruction(_JUMP_EQUAL, _SOCKET[column], no=len(single)),
        *single,
        _instruction(_JUMP_EQUAL, _SOCKETPAIR[column], no=len(pair)),
        *pair,
    ]


def _no_truncating_reads(column: int) -> list[bytes]:
    """Refuse to cut a file while opening it for anything but writing, a right that Landlock always confines."""
    # openat2 hides its flags in memory; libc does not use it.
    program = [_instruction(_JUMP_EQUAL, _OPENAT2[column], no=1), _instruction(_RETURN, _ERRNO | _ENOSYS)]
    for number, flags in ((_OPEN[column], _ARGUMENT_1), (_OPENAT[column], _ARGUMENT_2)):
        if number is not None:
            program += [
                _instruction(_JUMP_EQUAL, number, no=6),
                _instruction(_LOAD, flags),
                _instruction(_AND, _TRUNCATE_OR_ACCESS),
                _instruction(_JUMP_EQUAL, _TRUNCATE_ONLY, yes=1),  # for reading
                _instruction(_JUMP_EQUAL, _TRUNCATE_OR_ACCESS, no=1),  # for neither reading nor writing
                _instruction(_RETURN, _ERRNO | _EACCES),
                _instruction(_RETURN, _ALLOW),
            ]
    return program


def snippet_filter(*, namespaces: bool = True, own_user: bool = True, truncation: bool = False) -> bytes:
    """Return the filter of every snippet: local sockets only, no namespaces, no reach into other processes.

    Parameters
    ----------
    namespaces : bool
        Whether the snippet has namespaces; without them the filter must close what Landlock leaves open.
    own_user : bool
        Whether the snippet runs as a user that owns nothing else, and with no right of others.
    truncation : bool
        Whether the filter must keep the length of files that Landlock, before its version 3, does not.
    """
    machine = platform.machine()
    column = list(_AUDIT).index(machine)
    denied = dict(_DENIED)
    if not namespaces:
        denied |= _ATTRIBUTES if own_user else _ATTRIBUTES | _METADATA
    if truncation:
        denied |= _TRUNCATE
    numbers = [number for pair in denied.values() if (number := pair[column]) is not None]
    program = _start(machine) + _deny(numbers) + (_no_truncating_reads(column) if truncation else [])
    program += _clone(column) + _own_only(column)
    program += [*_sockets(column, namespaces=namespaces), _instruction(_RETURN, _ALLOW)]
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
