"""`freefloat bug-report`: all that somebody needs to see a failure again, in one archive.

Nothing leaves this machine: the archive is a file, to look through and to hand on.
"""

from __future__ import annotations

import io
import json
import os
import platform
import shlex
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Annotated

from freefloat.cli import screen
from freefloat.cli.options import FLAG, Shared, check_value, require
from freefloat.cli.output_files import OutputFiles
from freefloat.errors import Fault
from freefloat.provenance import provenance
from freefloat.records.values import Positive

MOST_INPUT = 256 * 2**20  # format: bytes of a file that is put into the archive
EPOCH = (1980, 1, 1, 0, 0, 0)  # format: the least time of a zip member; nobody needs another


def bug_report(
    archive: Path,
    /,
    *,
    run: str = "",
    inputs: Annotated[bool, FLAG] = False,
    seconds: float = 600.0,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Collect what is needed to reproduce a failure: versions, command, output.

    The command is run once more with --debug, and its output is kept. The files
    it names are included only with --inputs. Nothing is sent anywhere: look
    through the archive, then pass it to the maintainer.

    For example:
      freefloat bug-report bug.zip --run 'identify my.toml flight.csv' --inputs

    Parameters
    ----------
    archive
        The archive to write (.zip).
    run
        The command that fails, without the word freefloat; quote it as a whole.
    inputs
        Include the files that the command names.
    seconds
        Time after which the command is stopped [s].
    """
    words = _split(run)
    files = OutputFiles(archive=("archive", archive))
    require([*files.faults(), *check_value("--seconds", seconds, Positive), *_faults(words)])
    named = _named_files(words)
    files.require_possible(inputs=named)
    command = shlex.join(["freefloat", *words]) if words else ""
    members = {"about.json": json.dumps(_about(command), indent=2).encode()}
    if words:
        screen.note(f"running {command}")
        members |= _outcome(words, seconds)
    for number, path in enumerate(named if inputs else [], start=1):
        members[f"inputs/{number}_{path.name}"] = path.read_bytes()
    _write(archive, members)
    if shared.json:
        screen.print_json({"archive": str(archive), "members": sorted(members)})
    else:
        rows = [(name, f"{len(content)} B") for name, content in sorted(members.items())]
        screen.show(*screen.section(str(archive), screen.facts(rows)))
        if named and not inputs:
            screen.note("the command's files are not in it; --inputs puts them in")
    return 0


def _split(run: str) -> list[str]:
    """The words of a command; FreefloatError where its quotes do not match."""
    try:
        words = shlex.split(run)
    except ValueError as error:
        fault = Fault("--run", run, f"matching quotes ({error})", "close the quote", "value.form")
        require([fault])
        raise
    return words[1:] if words[:1] == ["freefloat"] else words


def _faults(words: list[str]) -> Iterator[Fault]:
    if words[:1] == ["bug-report"]:
        remedy = "name the command that fails"
        yield Fault("--run", "bug-report", "another verb", remedy, "value.choice")
    for path in _named_files(words):
        if path.stat().st_size > MOST_INPUT:
            expected = f"files of at most {MOST_INPUT} B"
            remedy = "cut the recording to where it fails, and name that"
            yield Fault("--run", f"{path}: {path.stat().st_size} B", expected, remedy, "file.size")


def _named_files(words: list[str]) -> list[Path]:
    """The arguments of a command that are files, each once."""
    values = [word.partition("=")[2] if word.startswith("--") else word for word in words]
    paths = dict.fromkeys(Path(value) for value in values if value)
    return [path for path in paths if path.is_file()]


def _about(command: str) -> dict[str, object]:
    """Versions of everything, the machine as far as it matters, settings of the environment."""
    packages = {one.metadata["Name"]: one.version for one in distributions()}
    return {
        "command": command,
        "versions": provenance(),
        "packages": dict(sorted(packages.items(), key=lambda item: str(item[0]).lower())),
        "processor": {"machine": platform.machine(), "cores": os.cpu_count()},
        "environment": {
            name: value
            for name, value in sorted(os.environ.items())
            if name.startswith(("FREEFLOAT_", "NUMBA_", "OMP_", "OPENBLAS_"))
        },
    }


def _outcome(words: list[str], seconds: float) -> dict[str, bytes]:
    """What the command prints and how it ends, run in a process of its own."""
    begun = time.monotonic()
    command = [sys.executable, "-m", "freefloat", *words, "--debug"]
    try:
        ended = subprocess.run(
            command, capture_output=True, timeout=seconds, stdin=subprocess.DEVNULL, check=False
        )
        output, errors, code = ended.stdout, ended.stderr, str(ended.returncode)
    except subprocess.TimeoutExpired as late:
        output, errors, code = late.stdout or b"", late.stderr or b"", "stopped: out of time"
    told = {"exit_code": code, "seconds": round(time.monotonic() - begun, 1)}
    return {
        "outcome.json": json.dumps(told, indent=2).encode(),
        "stdout.txt": output,
        "stderr.txt": errors,
    }


def _write(archive: Path, members: dict[str, bytes]) -> None:
    from freefloat.files import atomic_write

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in sorted(members.items()):
            file.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
    atomic_write(archive, packed.getvalue())
