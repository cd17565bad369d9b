"""The bytes of a file: ordinary files only, of bounded size, inside a given folder.

What is packed is refused by the size it declares before anything is unpacked, and nothing gives
more than it declared: a zip archive by `zip_members`, an array in it by `array_of`. Readers of
other packed formats declare to `FileKind.require_size` in the same way.
"""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np

from freefloat.errors import Fault, FreefloatError, require_type
from freefloat.files import settle

# format: 2 GiB, the default of max_bytes= (--max-bytes) for telemetry, on disk and in memory
DEFAULT_MAX_BYTES = 2 * 1024**3
MOST_MEMBERS = 10_000  # format: of an archive; each costs a header whatever its size


@dataclass(frozen=True)
class FileKind:
    """A kind of file: what it is called in messages, which error tells of it, how large it may be.

    shrink says what to do about a file that is too large; version is the one that is written, and
    the only one that is read.
    """

    noun: str
    error: type[FreefloatError]
    suffix: str
    max_bytes: int
    shrink: str
    version: int = 1

    @property
    def format(self) -> str:
        """What a file of this kind says it is."""
        return f"freefloat {self.noun}"

    def refuse(self, message: str, faults: Sequence[Fault]) -> FreefloatError:
        """The error to raise for a file of this kind."""
        return self.error(message, faults)

    def require_suffix(self, path: str | Path) -> None:
        """Raise unless the name of a file ends as this kind of file does."""
        require_type(path, (str, Path), "path", error=self.error)
        found = Path(path).suffix
        if found.lower() != self.suffix:
            remedy = f"end the name in {self.suffix}"
            fault = Fault(str(path), found or "no suffix", self.suffix, remedy, "file.suffix")
            raise self.refuse(f"{Path(path).name}: not a {self.noun} file", [fault])

    def require_size(self, size: int, name: str) -> None:
        """Raise if a file of `size` bytes is larger than is read."""
        if size > self.max_bytes:
            expected = f"at most {self.max_bytes} bytes"
            fault = Fault(name, f"{size} bytes", expected, self.shrink, "file.size")
            raise self.refuse(f"{name}: too large for a {self.noun} file", [fault])


def read_text(path: Path, kind: FileKind) -> str:
    """The text of a file; raises the error of its kind for one that cannot be read."""
    return decode(read_bytes(path, kind), path.name, kind)


def read_bytes(path: Path, kind: FileKind) -> bytes:
    """The content of an ordinary file that is not too large; all else raises the kind's error."""
    settle(path)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe or a device could be read for ever
            raise _unreadable(path, kind, "not an ordinary file", f"name a {kind.suffix} file")
        kind.require_size(status.st_size, path.name)
        with path.open("rb") as file:
            data = file.read(kind.max_bytes + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        remedy = "check the path and its permissions"
        raise _unreadable(path, kind, reason, remedy) from None
    except ValueError:  # a null character in the path
        raise _unreadable(path, kind, "not a path", "correct the file name") from None
    kind.require_size(len(data), path.name)  # the file may have grown since it was measured
    return data


def _unreadable(path: Path, kind: FileKind, reason: str, remedy: str) -> FreefloatError:
    expected = f"a {kind.noun} file that can be read"
    fault = Fault(path.name, reason, expected, remedy, "file.unreadable")
    return kind.refuse(f"{path.name}: cannot be read from {path.parent}", [fault])


def decode(data: bytes, name: str, kind: FileKind) -> str:
    """The text of UTF-8 bytes, without a byte order mark; the error names the first bad line."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        value = f"byte 0x{data[error.start]:02x}"
        remedy = "save the file as UTF-8"
        fault = Fault(f"{name}:{line}", value, "text in UTF-8", remedy, "file.encoding", line)
        raise kind.refuse(f"{name}: the file is not UTF-8 text", [fault]) from None


def zip_members(data: bytes, name: str, kind: FileKind) -> dict[str, bytes]:
    """The members of a zip archive by name, refused if they declare more than the kind allows.

    A member that unpacks to more or less than it declares, or to other bytes than its checksum
    tells, raises ValueError.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            kind.require_size(sum(entry.file_size for entry in entries), name)
            if len(entries) > MOST_MEMBERS or len({e.filename for e in entries}) < len(entries):
                raise ValueError("members that are too many, or two of one name")
            return {entry.filename: _unpack(archive, entry) for entry in entries}
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError) as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with archive.open(entry) as member:
        data = member.read(entry.file_size)
        if len(data) != entry.file_size or member.read(1):
            raise ValueError(f"{entry.filename} is not of the size it declares")
    return data


def array_of(data: bytes) -> np.ndarray:
    """The array in the bytes of a .npy file, to be written to; ValueError where its header lies."""
    from numpy.lib import format as npy

    file = io.BytesIO(data)
    if npy.read_magic(file) != (1, 0):
        raise ValueError("not an array as numpy.savez writes them")
    try:
        shape, is_fortran, dtype = npy.read_array_header_1_0(file)
    except Exception as error:  # a header is Python: its parser raises whatever it likes
        raise ValueError(f"a header that is none ({error})") from error
    if dtype.hasobject:
        raise ValueError("an array of objects")
    # a copy: bytes cannot be written to, and filters go on in the arrays that they are given
    array = np.frombuffer(data, dtype=dtype, offset=file.tell()).copy()
    return array.reshape(shape[::-1]).T if is_fortran else array.reshape(shape)


def path_inside(folder: Path, name: str) -> Path | Fault:
    """The file called `name` below `folder`, or the fault of a name that leads out of it."""

    def fault(reason: str) -> Fault:
        return Fault(
            "",
            f"{name!r} ({reason})",
            "the relative path of a file inside the folder of the model file",
            "copy the file next to the model file and give its name only",
            "file.outside",
        )

    # Judged by the rules of every system: a model file is safe wherever it is opened.
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    if not name.strip() or not name.isprintable():
        return fault("not a file name")
    if posix.is_absolute() or windows.drive or windows.root:
        return fault("an absolute path")
    if ".." in posix.parts or ".." in windows.parts:
        return fault("a path that climbs with ..")
    try:
        home = folder.resolve()
        path = (home / name).resolve()
    except (OSError, RuntimeError, ValueError):  # a symlink that points to itself, among others
        return fault("a path that leads nowhere")
    if not path.is_relative_to(home):
        return fault("a link that leads out of the folder")
    return path
