"""The bytes of a model file: ordinary files only, of bounded size, inside a given folder."""

from __future__ import annotations

import stat
from pathlib import Path, PurePosixPath, PureWindowsPath

from freefloat.errors import Fault, ModelError

MAX_PARTS = 1000  # of one kind: above it a file is a mistake, and checks would take seconds


def read_bytes(path: Path, limit: int) -> bytes:
    """The content of an ordinary file of at most `limit` bytes; anything else is a ModelError."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe or a device could be read for ever
            raise _unreadable(path, "not an ordinary file", "name a .toml or .urdf file")
        if status.st_size > limit:
            raise _too_large(path, status.st_size, limit)
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise _unreadable(path, reason, "check the path and its permissions") from None
    except ValueError:  # a null character in the path
        raise _unreadable(path, "not a path", "correct the file name") from None
    if len(data) > limit:  # the file has grown since it was measured
        raise _too_large(path, len(data), limit)
    return data


def _unreadable(path: Path, reason: str, remedy: str) -> ModelError:
    fault = Fault(path.name, reason, "a model file that can be read", remedy)
    return ModelError(f"{path.name}: cannot be read from {path.parent}", [fault])


def _too_large(path: Path, size: int, limit: int) -> ModelError:
    return ModelError(f"{path.name}: the file is too large", [size_fault(path.name, size, limit)])


def size_fault(name: str, size: int, limit: int) -> Fault:
    """The fault of an input of `size` bytes where at most `limit` are read."""
    return Fault(
        name,
        f"{size} bytes",
        f"at most {limit} bytes",
        "move meshes and pictures to files of their own, or check that this is a model file",
    )


def decoded(data: bytes, name: str) -> str:
    """The text of UTF-8 bytes, without a byte order mark; a ModelError names the first bad line."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fault = Fault(
            f"{name}:{line}",
            f"byte 0x{data[error.start]:02x}",
            "text in UTF-8",
            "save the file as UTF-8",
        )
        raise ModelError(f"{name}: the file is not UTF-8 text", [fault]) from None


def inside(folder: Path, name: str) -> Path | Fault:
    """The file called `name` below `folder`, or the fault of a name that leads out of it."""

    def fault(reason: str) -> Fault:
        return Fault(
            "",
            f"{name!r} ({reason})",
            "the relative path of a file inside the folder of the model file",
            "copy the file next to the model file and give its name only",
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
