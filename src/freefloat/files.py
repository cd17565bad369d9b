"""Files that are either wholly written or not touched at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from freefloat.errors import Fault, FreefloatError

_REMEDY_OF = {
    errno.ENOENT: "create the folder first",
    errno.ENOTDIR: "a part of the path is a file; choose another folder",
    errno.EISDIR: "the path is a folder; add a file name",
    errno.EACCES: "choose a folder you may write to, or ask for permission",
    errno.EPERM: "choose a folder you may write to, or ask for permission",
    errno.EROFS: "the file system is read-only; choose another folder",
    errno.ENOSPC: "free some space or choose another disk; the old file, if any, is untouched",
    errno.EDQUOT: "your quota is used up; the old file, if any, is untouched",
    errno.EINVAL: "choose an ordinary file name",
    errno.ENAMETOOLONG: "choose a shorter file name",
}


def atomic_write(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Write `data` to `path` so that a reader sees the old file or the new one, never a part.

    Text is written as UTF-8. Raises FreefloatError, with a remedy, when the system refuses.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     atomic_write(Path(folder, "note.txt"), "ready")
    ...     Path(folder, "note.txt").read_text()
    'ready'
    """
    content = data.encode("utf-8") if isinstance(data, str) else data
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside `path`, to be written inside the `with` block.

    When the block ends well the temporary file, safely on disk, takes the name `path`. When it
    raises, the temporary file is removed and the file at `path`, if any, is as it was. An OSError
    leaves as a FreefloatError that says what to do.
    """
    target = Path(path)
    try:
        temporary = _temporary_beside(target)
        try:
            yield temporary
            _synchronise(temporary)
            os.replace(temporary, target)
        except BaseException:  # an interrupted write must not leave its pieces behind either
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        _synchronise_folder(target.parent)
    except OSError as error:
        raise unwritable(target, error) from error


def unwritable(path: Path, error: OSError) -> FreefloatError:
    """Return the FreefloatError that explains why `path` could not be written."""
    reason = error.strerror or str(error) or type(error).__name__
    remedy = _REMEDY_OF.get(error.errno or 0, "check the path and the disk, then try again")
    fault = Fault(str(path), reason, "a place that can be written to", remedy, "file.unwritable")
    return FreefloatError(f"cannot write {path}: {reason}", [fault])


def _temporary_beside(target: Path) -> Path:
    if "\0" in str(target):
        raise OSError(errno.EINVAL, "the path holds a null character")
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    # Same folder, hence same file system: the final rename is then atomic. The suffix is kept
    # because some writers look at it. Part of the name only, or a long one would be too long.
    name = f".{target.stem[:40]}.{secrets.token_hex(6)}.part{target.suffix[:20]}"
    temporary = target.parent / name
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    with contextlib.suppress(FileNotFoundError):  # a file that is replaced keeps its permissions
        os.chmod(temporary, target.stat().st_mode & 0o777)
    return temporary


def _synchronise(path: Path) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _synchronise_folder(folder: Path) -> None:
    # Makes the rename itself durable. Windows and some network disks cannot; the file is whole
    # there all the same.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
