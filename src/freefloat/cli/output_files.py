"""The files that a verb was asked to write, refused at once where that could not end well."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from freefloat.cli.options import require
from freefloat.errors import Fault

STANDARD_OUTPUT = 1  # format: its file descriptor
FilesRead = str | Path | Sequence[Path] | None


class OutputFiles:
    """The files that a verb was asked to write, by what they hold.

    >>> files = OutputFiles(fit=("--out", Path("fit.txt")), report=("--report", None))
    >>> [(fault.place, fault.code) for fault in files.faults()]
    [('--out', 'file.suffix')]
    """

    def __init__(self, **asked: tuple[str, Path | None]) -> None:
        self.options = {what: option for what, (option, _) in asked.items()}
        self.paths = {what: path for what, (_, path) in asked.items() if path is not None}

    def faults(self) -> Iterator[Fault]:
        """Files whose suffix says that they hold something else."""
        for what, path in self.paths.items():
            suffixes = _suffixes(what)
            if suffixes and path.suffix.lower() not in suffixes:
                value = f"{path} ({path.suffix or 'no suffix'})"
                expected = "a name that ends in " + " or ".join(suffixes)
                remedy = "the suffix chooses the format"
                yield Fault(self.options[what], value, expected, remedy, "file.suffix")

    def require_possible(self, *, beside: Path | None = None, **inputs: FilesRead) -> None:
        """Refuse at once what could not be written in the end, or would destroy something.

        Args:
            beside: A file that comes with `--out`, as the truth does.
            inputs: The files that the command reads, if any, by the name of their argument; `model`
                may be the name of a built-in one.
        """
        from freefloat.files import unwritable_fault
        from freefloat.part_files import is_same_file, resolve_output

        if "plot" in self.paths:
            from freefloat.report.plots import require_matplotlib

            require_matplotlib()
        asked = [(self.options[what], path) for what, path in self.paths.items()]
        asked += [] if beside is None else [("--out", beside)]
        taken = [(f"{name} {path}", path) for name, path in _files_read(inputs)]
        is_printed_to = _printed_file()
        faults = []
        for option, path in asked:
            try:
                resolve_output(path)
            except OSError as error:
                faults.append(unwritable_fault(option, path, error))
                continue
            if is_printed_to(path):
                expected = "a file other than the one that standard output goes to"
                remedy = "name a new file"
                faults.append(Fault(option, str(path), expected, remedy, "file.conflict"))
            for name, other in taken:
                if is_same_file(path, other):
                    faults.append(Fault(option, str(path), f"a file other than {name}",
                                        "name a new file", "file.conflict"))  # fmt: skip
            taken.append((f"{option} {path}", path))
        require(faults, "these files cannot be written:")
        for _, path in asked:
            require_writable(path)


def _printed_file() -> Callable[[Path], bool]:
    """Whether a path is the ordinary file that standard output is redirected to, if it is."""
    with suppress(OSError):  # closed by whoever started us
        printed = os.fstat(STANDARD_OUTPUT)
        if stat.S_ISREG(printed.st_mode):
            return lambda path: path.exists() and os.path.samestat(path.stat(), printed)
    return lambda path: False


def _files_read(inputs: Mapping[str, FilesRead]) -> Iterator[tuple[str, Path]]:
    """Every file that a command reads, with the name of its argument."""
    for name, given in inputs.items():
        if given is None:
            continue
        if name == "model":
            from freefloat.model.loading import model_files

            given = model_files(str(given))
        for path in [given] if isinstance(given, str | Path) else given:
            yield "the truth of FILE," if name == "truth" else name.upper(), Path(path)


def _suffixes(what: str) -> tuple[str, ...]:
    if what == "telemetry":
        from freefloat.telemetry.readers import suffixes

        return tuple(suffixes(can_write=True))
    if what == "plot":
        from freefloat.report.plots import SUFFIXES

        return tuple(SUFFIXES)
    return {
        "model": (".toml", ".urdf", ".xml", ".mjcf"),
        "plan": (".toml",), "map": (".toml",), "table": (".csv",), "fit": (".json",),
        "verdict": (".json",), "rows": (".json",), "report": (".html", ".htm"),
        "parquet": (".parquet", ".pq"), "mcap": (".mcap",),
        "archive": (".zip",),
        "estimates": (), "state": (),  # any name will do
        "export": (),  # looked at by the verb: it knows the format
    }[what]  # fmt: skip


def require_writable(path: Path) -> None:
    """Raise FreefloatError unless a file can be written at `path`; nothing is left behind."""
    from freefloat.files import atomic_path

    class Enough(Exception):  # noqa: N818 - no error: it leaves the block before the file is made
        pass

    with suppress(Enough), atomic_path(path):
        raise Enough


def paths_as_text(paths: Mapping[str, Path]) -> dict[str, str]:
    """Files for JSON."""
    return {what: str(path) for what, path in paths.items()}
