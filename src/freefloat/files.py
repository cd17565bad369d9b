"""Files that are either wholly written or not touched at all, singly and in sets.

A set is what belongs together, as telemetry and its truth, or fit, model and report. All its files
are prepared first and take their names last. Renames follow one another, so a run may die between
two of them: therefore a marker, `.NAME.freefloat-set`, is laid beside every file of the set before
the first rename, and all are removed after the last. Where all markers are there the set is decided
and whoever reads or writes one of its files next completes it; where one is missing no file has
been renamed yet, or all have, and the rest is swept away.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import time
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from freefloat.errors import Fault, FreefloatError
from freefloat.part_files import (
    PartFile,
    create_owned,
    is_part_name,
    is_same_file,
    make_part,
    release,
    resolve_output,
    short_name,
    synchronise,
    synchronise_folder,
    take_over,
)

PATIENCE = 10.0  # format: [s] to wait for another run that is renaming the same files
PAUSE = 0.01  # format: [s] between two looks at it
LARGEST_MARKER = 1_000_000  # format: [B]; a marker names some files
_REMEDY_OF = {
    errno.ENOENT: "create the folder first",
    errno.ENOTDIR: "a part of the path is a file; choose another folder",
    errno.EISDIR: "the path is a folder; add a file name",
    errno.ENXIO: "name an ordinary file",
    errno.ELOOP: "remove the link, or name the file itself",
    errno.EILSEQ: "rename the file or folder, or work inside that folder",
    errno.EACCES: "choose a place you may write to, or ask for permission",
    errno.EPERM: "choose a place you may write to, or ask for permission",
    errno.EROFS: "the file system is read-only; choose another folder",
    errno.ENOSPC: "free some space or choose another disk; the old file, if any, is untouched",
    errno.EFBIG: "the file would be larger than is allowed; the old file, if any, is untouched",
    errno.EDQUOT: "your quota is used up; the old file, if any, is untouched",
    errno.EINVAL: "choose an ordinary file name",
    errno.ENAMETOOLONG: "choose a shorter file name",
    errno.EBUSY: "wait until the other run has ended",
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

    When the block ends well the temporary file, safely on disk, takes the name `path`; within
    `together` it does so when that ends. When the block raises, the temporary file is removed and
    the file at `path`, if any, is as it was. A link is followed and its target replaced. An OSError
    leaves as a FreefloatError that says what to do, as does a `path` that is no ordinary file.
    """
    files = _open_set.get()
    try:
        target = resolve_output(path)
        settle(target)
        part = make_part(target)
        try:
            yield part.path
            synchronise(part.path)
            if files is None:
                part.publish()
                synchronise_folder(target.parent)
            else:
                files.add(part)
        except BaseException:  # an interrupted write must not leave its pieces behind either
            part.discard()
            raise
        if files is None:
            part.close()
    except OSError as error:
        raise unwritable(Path(path), error) from error


@contextlib.contextmanager
def together() -> Iterator[None]:
    """Make the files written inside the `with` block one set: all are replaced, or none.

    It also decorates a function. Sets inside sets are one set.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with together():
    ...         atomic_write(Path(folder, "a"), "1")
    ...         before = Path(folder, "a").exists()
    ...     before, Path(folder, "a").read_text()
    (False, '1')
    """
    if _open_set.get() is not None:
        yield
        return
    files = _FileSet()
    outer = _open_set.set(files)
    try:
        yield
        files.publish()
    finally:
        _open_set.reset(outer)
        files.close()


def unwritable(path: Path, error: OSError) -> FreefloatError:
    """Return the FreefloatError that explains why `path` could not be written."""
    fault = unwritable_fault(str(path), path, error)
    return FreefloatError(f"cannot write {path}: {fault.value}", [fault])


def unwritable_fault(place: str, path: Path, error: OSError) -> Fault:
    """The fault of an output that the system, or we ourselves, refuse to write."""
    reason = error.strerror or str(error) or type(error).__name__
    remedy = _REMEDY_OF.get(error.errno or 0, "check the path and the disk, then try again")
    value = reason if place == str(path) else f"{path} ({reason})"
    return Fault(place, value, "a place that can be written to", remedy, "file.unwritable")


def output_fault(path: Path) -> Fault | None:
    """The fault of an output that is there and must not be replaced: a pipe, a device, a folder."""
    try:
        if os.path.lexists(path):
            resolve_output(path)
    except OSError as error:
        return unwritable_fault(str(path), path, error)
    return None


# -- sets ------------------------------------------------------------------------------------------


class _FileSet:
    """The files of one set, prepared and not yet renamed."""

    def __init__(self) -> None:
        self.parts: dict[Path, PartFile] = {}
        self.is_pending = False  # the parts are the markers' business

    def add(self, part: PartFile) -> None:
        for other in self.parts:
            if is_same_file(other, part.target):
                expected, remedy = f"a file other than {other}", "name a new file"
                fault = Fault(str(part.target), "written twice", expected, remedy, "file.conflict")
                raise FreefloatError(f"two outputs are one file: {part.target}", [fault])
        self.parts[part.target] = part

    def publish(self) -> None:
        """Let all take their names: beyond the last marker an interrupt cannot stop it."""
        try:
            if len(self.parts) > 1:
                self._publish_by_markers()
                return
            for part in self.parts.values():
                part.publish()
                synchronise_folder(part.target.parent)
        except OSError as error:
            raise unwritable(next(iter(self.parts)), error) from error

    def _publish_by_markers(self) -> None:
        entries = [_Entry(_absolute(p.target), _absolute(p.path)) for p in self.parts.values()]
        name, handles = os.urandom(8).hex(), []
        self.is_pending = True
        try:
            for entry in sorted(entries):  # sorted, or two runs might wait for each other
                handles.append(_lay_marker(entry.target, name, entries))
            _sync_folders(entries)
            if not _conclude(name, entries):
                raise OSError(errno.EBUSY, "another program removed its markers")
        except BaseException as error:
            if isinstance(error, OSError) and all(entry.part.exists() for entry in entries):
                _take_back(name, entries)  # the first rename failed: nothing has happened yet
            _conclude(name, entries)  # to whichever end the markers say
            raise
        finally:
            for handle in handles:
                release(handle)
        self.is_pending = False

    def close(self) -> None:
        """Remove what has not taken its name, unless markers promise that it will."""
        for part in self.parts.values():
            part.close() if self.is_pending else part.discard()


class _Entry(NamedTuple):
    """One file of a set: what it becomes, and what it is until then."""

    target: Path
    part: Path


_open_set: ContextVar[_FileSet | None] = ContextVar("open_set", default=None)


def settle(path: str | os.PathLike[str]) -> None:
    """Complete the set that `path` belongs to, or sweep it away, if a run died renaming it.

    Call it before a file is read that may be one of a set. FreefloatError where a set is decided
    but cannot be completed: its files do not belong together as they are.
    """
    try:
        target = _absolute(Path(path))
        marker = _marker_of(target)
        if not os.path.lexists(marker):  # as nearly always
            return
    except (OSError, ValueError):  # no path at all: whoever reads it will say so
        return
    until = time.monotonic() + PATIENCE
    try:
        while not _settle_marker(marker) and time.monotonic() < until:
            time.sleep(PAUSE)  # a living run is about to complete it
    except OSError as error:
        fault = unwritable_fault(str(target), target, error)
        message = f"{target}: a run that was killed left it half replaced, and it cannot be mended"
        raise FreefloatError(message, [fault]) from error


def _settle_marker(marker: Path) -> bool:
    """Bring the set of a marker to its end; False while a living run has a part in it."""
    with contextlib.ExitStack() as held:

        def is_held(one: Path) -> bool:
            handle = take_over(one)
            if handle is not None:
                held.callback(release, handle)
            return handle is not None

        if not is_held(marker):
            return not os.path.lexists(marker)
        name, entries = _read_marker(marker)
        # All of them, or another run might be at the same set and lay markers of its next one.
        others = {_marker_of(entry.target) for entry in entries} - {marker}
        if not all(is_held(one) or not os.path.lexists(one) for one in sorted(others)):
            return False
        _conclude(name, entries)
        if not name:  # not written to its end, so nothing has been renamed
            marker.unlink(missing_ok=True)
        return True


def _absolute(path: Path) -> Path:
    """Where a file really is, so that every run means the same one."""
    return Path(os.path.realpath(path))


def _marker_of(target: Path) -> Path:
    return target.parent / f".{short_name(target.name)}.freefloat-set"


def _lay_marker(target: Path, name: str, entries: list[_Entry]) -> int:
    """The marker of one file of a set, which says what the set is; ours until it is closed."""
    marker, until = _marker_of(target), time.monotonic() + PATIENCE
    here = target.parent
    # Names alone within a folder: it may be moved before the set is completed.
    files = [(e.target.name if e.target.parent == here else str(e.target), e.part.name)
             for e in entries]  # fmt: skip
    content = json.dumps({"set": name, "files": files}).encode("ascii")
    while True:
        settle(target)
        with contextlib.suppress(FileExistsError):
            handle = create_owned(marker, content)
            if handle is not None:
                return handle
        if time.monotonic() > until:
            raise OSError(errno.EBUSY, f"another run is writing it ({marker.name} is there)")
        time.sleep(PAUSE)


def _read_marker(marker: Path) -> tuple[str, list[_Entry]]:
    """The set that a marker names; none if there is none, or it names what no set of ours could."""
    try:
        with marker.open("rb") as opened:
            content = json.loads(opened.read(LARGEST_MARKER))
        name, entries = str(content["set"]), []
        for target, part in content["files"]:
            file = marker.parent / target
            if not is_part_name(part, file):
                return "", []
            entries.append(_Entry(file, file.parent / part))
        return name, entries
    except (FileNotFoundError, ValueError, LookupError, TypeError):
        return "", []


def _conclude(name: str, entries: list[_Entry]) -> bool:
    """Rename all files of a set whose markers are all there, else remove them; then the markers.

    Returns whether they were renamed. Whoever calls it holds the markers that are there.
    """
    laid = _laid_markers(name, entries)
    is_decided = len(laid) == len(entries)
    for target, part in entries:
        with contextlib.suppress(FileNotFoundError):
            if is_decided:
                os.replace(part, target)
            else:
                part.unlink()
    _sync_folders(entries)
    for marker in laid:
        marker.unlink(missing_ok=True)
    return is_decided


def _take_back(name: str, entries: list[_Entry]) -> None:
    """Remove a marker of ours, so that the set is no longer decided."""
    for marker in _laid_markers(name, entries)[:1]:
        marker.unlink(missing_ok=True)


def _laid_markers(name: str, entries: list[_Entry]) -> list[Path]:
    markers = [_marker_of(entry.target) for entry in entries]
    return [marker for marker in markers if _read_marker(marker)[0] == name]


def _sync_folders(entries: list[_Entry]) -> None:
    for folder in {entry.target.parent for entry in entries}:
        synchronise_folder(folder)
