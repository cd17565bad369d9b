"""Files while they are written: beside the file they will become, each with one living owner.

The owner holds a lock, which the system drops when the owner dies, however it dies. So a later run
tells what a dead one left from what a living one is writing, without trusting process numbers.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import time
from dataclasses import dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where a file that somebody has open cannot be removed anyway
    fcntl = None

ABANDONED = 86400.0  # format: [s] after which a file is a dead run's where there are no locks
NOTHING_HELD = -1  # format: in place of a file descriptor
LONGEST_STEM = 60  # format: [B] of the name that a part repeats; a file name has at most 255
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a pipe (FIFO)"),
    (stat.S_ISSOCK, "a socket"),
)


def resolve_output(path: str | os.PathLike[str]) -> Path:
    """The ordinary file, there or yet to be made, that writing to `path` makes or replaces.

    A link is followed. OSError for what must never be replaced by a file: a device, a pipe, a
    socket, a folder, a link that leads nowhere, a file that is protected against writing.
    """
    asked = target = Path(path)
    _require_file_name(asked)
    if asked.is_symlink():
        target = Path(os.path.realpath(asked))
        _require_file_name(target)
    try:
        status = asked.stat()
    except FileNotFoundError:
        if asked.is_symlink():
            raise OSError(errno.ELOOP, "a link whose target is missing") from None
        target.parent.stat()  # the system's own words for a folder that is not there
        return target
    for is_kind, name in _KINDS:
        if is_kind(status.st_mode):
            number = errno.EISDIR if name == "a folder" else errno.ENXIO
            raise OSError(number, f"{name}, not an ordinary file")
    if target != asked and not target.exists():  # /dev/stdout may lead to what has no name
        raise OSError(errno.ENXIO, "not an ordinary file")
    if not os.access(target, os.W_OK):
        raise OSError(errno.EACCES, "protected against writing")
    return target


def _require_file_name(path: Path) -> None:
    text = str(path)
    if "\0" in text:
        raise OSError(errno.EINVAL, "the path holds a null character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # libraries that write for us take UTF-8 only
        raise OSError(errno.EILSEQ, "the path is not UTF-8") from None


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths are one file: by inode where both exist, else by where links lead."""
    with contextlib.suppress(OSError, ValueError):
        return one.samefile(other)
    with contextlib.suppress(OSError, ValueError):
        return os.path.realpath(one) == os.path.realpath(other)
    return False


# -- one part --------------------------------------------------------------------------------------


@dataclass
class PartFile:
    """A file being written at `path`, to become `target`."""

    target: Path
    path: Path
    handle: int

    def publish(self) -> None:
        """Let it take the name of its target, in place of what is there."""
        os.replace(self.path, self.target)

    def discard(self) -> None:
        """Remove it, if it has not become its target."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Give up the ownership."""
        release(self.handle)
        self.handle = NOTHING_HELD


def make_part(target: Path) -> PartFile:
    """A new part of `target`, empty, ours; parts of it that dead runs left are removed."""
    remove_litter(target)
    # Same folder, hence same file system: the final rename is atomic then. The suffix is kept
    # because some writers look at it.
    before, after = _around_token(target)
    while True:
        path = target.parent / f"{before}{os.urandom(6).hex()}{after}"
        handle = create_owned(path)
        if handle is not None:
            break
    with contextlib.suppress(FileNotFoundError):  # a file that is replaced keeps its permissions
        os.chmod(path, target.stat().st_mode & 0o777)
    return PartFile(target, path, handle)


def remove_litter(target: Path) -> None:
    """Remove the parts of `target` that dead runs left."""
    try:
        names = os.listdir(target.parent)
    except PermissionError:  # a folder that may be written to but not listed
        return
    for name in names:
        if is_part_name(name, target) and (handle := take_over(target.parent / name)) is not None:
            with contextlib.suppress(OSError):
                (target.parent / name).unlink()
            release(handle)


def is_part_name(name: str, target: Path) -> bool:
    """Whether a part of `target` may be called so."""
    before, after = _around_token(target)
    return re.fullmatch(re.escape(before) + "[0-9a-f]{12}" + re.escape(after), name) is not None


def _around_token(target: Path) -> tuple[str, str]:
    return f".{short_name(target.stem)}.", f".part{target.suffix[:10]}"


def short_name(name: str) -> str:
    """The name, or a digest of one that is too long to be made longer."""
    data = os.fsencode(name)
    return name if len(data) <= LONGEST_STEM else hashlib.sha256(data).hexdigest()[:32]


# -- ownership -------------------------------------------------------------------------------------


def create_owned(path: Path, content: bytes = b"") -> int | None:
    """Make a file and own it until `release`; None if a run took it for a dead one's meanwhile."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
    try:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a disk without locks
                fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            is_there = os.path.samestat(os.fstat(handle), os.stat(path))
        except FileNotFoundError:
            is_there = False
        if is_there and content:
            os.write(handle, content)
            os.fsync(handle)
    except BaseException:
        path.unlink(missing_ok=True)
        os.close(handle)
        raise
    if is_there:
        return _hold(handle)
    os.close(handle)
    return None


def release(handle: int) -> None:
    """Give up what `create_owned` or `take_over` gave."""
    if handle != NOTHING_HELD:
        os.close(handle)


def _hold(handle: int) -> int:
    """Keep a file open for its lock; without locks that would only keep it from being renamed."""
    if fcntl is not None:
        return handle
    os.close(handle)
    return NOTHING_HELD


def take_over(path: Path) -> int | None:
    """Own a file whose owner is dead; None if it lives, or if there is no such file of ours."""
    try:
        # A link or a pipe of that name is none of ours, and must not be waited for.
        kinds = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        handle = os.open(path, os.O_RDONLY | kinds)
    except OSError:
        return None
    status = os.fstat(handle)
    # What somebody else put there is not ours to judge.
    is_ours = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    if is_ours and stat.S_ISREG(status.st_mode) and not _has_owner(handle, status):
        # Whoever owned it until now may have put another in its place.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(status, path.lstat()):
                return _hold(handle)
    os.close(handle)
    return None


def _has_owner(handle: int, status: os.stat_result) -> bool:
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        except BlockingIOError:
            return True
        except OSError:  # a disk without locks
            pass
    return time.time() - status.st_mtime < ABANDONED


# -- on the disk -----------------------------------------------------------------------------------


def synchronise(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def synchronise_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    # Windows and some network disks cannot; files are whole there all the same.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
