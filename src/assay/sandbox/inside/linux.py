"""The Linux calls that the sandbox needs and that Python 3.11 does not offer, through libc.

Runs inside the sandbox too, where only the standard library exists.
"""

import ctypes
import os
import platform
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
CLONE_PIDFD = 0x00001000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_SET_SECCOMP = 1, 4, 8, 22
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 36, 38, 47
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_SETPCAP, CAP_SYS_ADMIN = 1, 2, 8, 21
ADDR_NO_RANDOMIZE = 0x0040000

_NUMBERS = {
    # name: (x86_64, aarch64)
    "clone": (56, 220),
    "pivot_root": (155, 41),
    "capget": (125, 90),
    "capset": (126, 91),
    "close_range": (436, 436),
    "mount_setattr": (442, 442),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}
_COLUMN = {"x86_64": 0, "aarch64": 1}.get(platform.machine())

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> int:
    """Return the result of a libc call, or raise the error it left in errno."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(name: str, *arguments: object) -> int:
    """Make a system call by name; integers, bytes and ctypes values are passed as they are."""
    if _COLUMN is None:
        raise OSError(38, f"{name}: system call numbers of {platform.machine()} are not known")
    values = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result: int = libc.syscall(ctypes.c_long(_NUMBERS[name][_COLUMN]), *values)
    return check(result, name)


def unshare(flags: int) -> None:
    """Leave the namespaces named by the flags for new ones."""
    check(libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount a file system, or bind, move or remount one."""
    what = f"mount {target}"
    encoded = None if kind is None else kind.encode()
    check(libc.mount(source.encode(), target.encode(), encoded, ctypes.c_ulong(flags), options.encode()), what)


def umount(target: str) -> None:
    """Detach a mount and everything below it."""
    check(libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def restrict_mount(path: str, *, devices: bool) -> None:
    """Make a mount and all below it read-only, without set-user-id and, unless asked for, without devices."""
    flags = MS_RDONLY | MS_NOSUID | (0 if devices else MS_NODEV)
    try:
        # struct mount_attr: attr_set, attr_clr, propagation, userns_fd. Recursive; keeps what is already locked.
        attributes = struct.pack("=QQQQ", flags, 0, 0, 0)
        syscall("mount_setattr", -100, path.encode(), 0x8000, attributes, len(attributes))
    except OSError:
        # Before Linux 5.12: a remount must repeat the flags that the source has, or it is refused.
        have = os.statvfs(path).f_flag
        kept = have & (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC | 1024 | 2048)
        kept |= (1 << 21) if have & 4096 else 0  # relatime has another number here
        mount("none", path, None, MS_REMOUNT | MS_BIND | flags | kept)


def prctl(option: int, *arguments: int) -> None:
    """Change an attribute of this process."""
    padded = [ctypes.c_ulong(a) for a in (*arguments, 0, 0, 0, 0)[:4]]
    check(libc.prctl(ctypes.c_int(option), *padded), f"prctl {option}")


def set_capabilities(mask: int) -> None:
    """Make `mask` the permitted, effective and inheritable capabilities."""
    low, high = mask & 0xFFFFFFFF, mask >> 32
    syscall("capset", struct.pack("=Ii", 0x20080522, 0), struct.pack("=6I", low, low, low, high, high, high))


def keep_over_exec(*capabilities: int) -> None:
    """Keep capabilities of a user namespace through the next exec of a user other than root."""
    set_capabilities(sum(1 << number for number in capabilities))
    for number in capabilities:
        prctl(PR_CAP_AMBIENT, 2, number)


def permitted_capabilities() -> int:
    """Return the permitted capabilities as a mask."""
    header, data = struct.pack("=Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
    syscall("capget", header, data)
    words: tuple[int, ...] = struct.unpack("=6I", data.raw)
    return words[1] | words[4] << 32


def close_from(first: int) -> None:
    """Close all descriptors from `first` on."""
    try:
        syscall("close_range", first, 0x7FFFFFFF, 0)
    except OSError:
        os.closerange(first, 1 << 16)


def empty_folder(path: str) -> None:
    """Remove all that lies in a folder, whatever modes it has and however deep it is nested.

    By descriptors, and one level after the other by moving what is inside up: a tree can be nested deeper than a path
    may be long, or than Python recurses.
    """
    top = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    number = 0
    try:
        while entries := _entries(top):
            taken = {name for name, _ in entries}
            for name, is_folder in entries:
                if not is_folder:
                    os.unlink(name, dir_fd=top)
                    continue
                os.chmod(name, 0o700, dir_fd=top)
                inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=top)
                try:
                    for below, has_below in _entries(inner):
                        if has_below:
                            os.chmod(below, 0o700, dir_fd=inner)  # a folder that moves must be writable itself
                            while str(number) in taken:
                                number += 1
                            os.rename(below, str(number), src_dir_fd=inner, dst_dir_fd=top)
                            number += 1
                        else:
                            os.unlink(below, dir_fd=inner)
                finally:
                    os.close(inner)
                os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)


def _entries(folder: int) -> list[tuple[str, bool]]:
    """Return the names in an open folder, each with whether it is a folder itself."""
    with os.scandir(folder) as entries:
        return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]


def drop_privileges() -> None:
    """Give up every capability and every way to regain one."""
    prctl(PR_CAP_AMBIENT, 4)
    set_capabilities(0)
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def fork_into(flags: int) -> tuple[int, int]:
    """Fork into new namespaces; return (process id, pidfd) in the parent and (0, -1) in the child.

    The raw call, because `unshare` would need one more process per snippet. The caller has one thread only. What
    Python and libraries do in a child after a fork (new seeds, new locks) is left to the next, ordinary fork, which
    makes the snippet's process: for this one, with its copy of the only thread, nothing has changed.
    """
    pidfd = ctypes.c_int(-1)
    ctypes.pythonapi.PyOS_BeforeFork()
    try:
        pid = syscall("clone", flags | CLONE_PIDFD | 17, 0, ctypes.byref(pidfd), 0, 0)
    finally:
        ctypes.pythonapi.PyOS_AfterFork_Parent()
    return (pid, pidfd.value) if pid else (0, -1)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def load_filter(program: bytes) -> None:
    """Load a seccomp filter (an array of struct sock_filter) into this process and all it will fork."""
    value = _Program(len(program) // 8, program)
    check(libc.prctl(PR_SET_SECCOMP, ctypes.c_ulong(2), ctypes.byref(value), 0, 0), "seccomp")


def landlock_abi() -> int:
    """Return the Landlock version of the kernel, 0 where there is none."""
    try:
        return syscall("landlock_create_ruleset", None, 0, 1)
    except OSError:
        return 0


def landlock_ruleset(
    readable: list[str], writable: list[str], shared: tuple[str, ...] = (), *, scoped: bool = True
) -> int:
    """Return a ruleset descriptor that allows reading, and reading and writing, below the given paths only.

    Shared folders take plain files: who knows a name may open it, nobody may list them, nor leave folders there.
    From version 4 on it also refuses TCP, and from version 6 on abstract sockets and signals to the outside.
    """
    abi = landlock_abi()
    files = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(abi, 16)) - 1
    attributes = struct.pack("=QQQ", files, 3 if abi >= 4 else 0, 3 if abi >= 6 and scoped else 0)
    size = {1: 8, 2: 8, 3: 8, 4: 16, 5: 16}.get(abi, 24)
    ruleset = syscall("landlock_create_ruleset", attributes, size, 0)
    read_folder, on_file = 0b1101, files & 0b1100000000000111  # execute, write, read, truncate, ioctl
    plain_files = files & 0b100000100100110  # write, read, remove file, make file, truncate
    for paths, allowed in ((readable, read_folder), (writable, files), (shared, plain_files)):
        for path in paths:
            try:
                descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue  # what does not exist needs no rule
            rights = allowed if os.path.isdir(path) else allowed & on_file
            syscall("landlock_add_rule", ruleset, 1, struct.pack("=Qi", rights, descriptor), 0)
            os.close(descriptor)
    return ruleset


def landlock_restrict(ruleset: int) -> None:
    """Confine this process and all it will fork to a ruleset."""
    syscall("landlock_restrict_self", ruleset, 0)
