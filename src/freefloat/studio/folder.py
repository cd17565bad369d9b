"""The working folder: what is uploaded or saved goes there, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from freefloat.errors import Fault, FreefloatError
from freefloat.files import atomic_write

LONGEST_NAME = 120  # format: characters of a file's name that every file system takes
UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")
RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)")


@dataclass(frozen=True)
class WorkingFolder:
    """A folder and the only ways to put a file there."""

    path: Path

    def place(self, name: str) -> Path:
        """The path for a file that is to be saved under a name, which may be no path.

        Raises:
            FreefloatError: a name that leads elsewhere.

        >>> WorkingFolder(Path("work")).place("fit.json").name
        'fit.json'
        """
        name = name.strip()
        if not name or name != safe_name(name):
            remedy = f"write {safe_name(name)!r}" if safe_name(name) else "write a file's name"
            expected = "a file's name of letters, digits, dots, dashes and underscores"
            fault = Fault("name", name, expected, remedy, "file.outside")
            raise FreefloatError("files are saved in the working folder", [fault])
        return self.path / name

    def keep(self, name: str, content: bytes, suffixes: str | Iterable[str] = ()) -> Path:
        """Write an upload; the same bytes again are the same file, others get another name.

        Raises:
            FreefloatError: a file of another kind.
        """
        known = [one.strip() for one in suffixes.split(",")] if isinstance(suffixes, str) else []
        clean = safe_name(Path(name.replace("\\", "/")).name) or "upload"
        if known and Path(clean).suffix.lower() not in known:
            fault = Fault(clean, Path(clean).suffix or "no suffix", " or ".join(known),
                          "choose such a file", "file.suffix")  # fmt: skip
            raise FreefloatError("this file is of another kind", [fault])
        self.path.mkdir(parents=True, exist_ok=True)
        stem, suffix = Path(clean).stem, Path(clean).suffix
        for number in range(1, 1000):
            path = self.path / (clean if number == 1 else f"{stem}-{number}{suffix}")
            if path.is_symlink():
                continue
            if not path.exists():
                atomic_write(path, content)
                return path
            is_alike = path.is_file() and path.stat().st_size == len(content)
            if is_alike and path.read_bytes() == content:
                return path
        raise FreefloatError(f"there are too many files called {clean}", code="file.exists")


def safe_name(name: str) -> str:
    """A name that is no path and no hidden file; empty where nothing is left of it.

    >>> safe_name("../../etc/passwd"), safe_name(".profile"), safe_name("my flight.csv")
    ('etc_passwd', 'profile', 'my_flight.csv')
    """
    clean = UNSAFE.sub("_", name)[:LONGEST_NAME].lstrip("._-").rstrip(".")
    return f"_{clean}"[:LONGEST_NAME].lstrip("_") + "_" if RESERVED.match(clean) else clean
