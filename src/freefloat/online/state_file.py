"""The whole state of an estimator in one file, bit for bit: arrays and a little JSON, no pickle."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.errors import Fault, IdentificationError
from freefloat.files import atomic_write

if TYPE_CHECKING:
    from freefloat.online.estimator import OnlineEstimator

FORMAT = 4  # format: of state files; others are refused
MOST_BYTES = 50_000_000  # format: a state is some kilobytes


def save_state(estimator: OnlineEstimator, path: str | Path) -> None:
    """Write everything an estimator knows; `restore_state` goes on as if nothing had happened."""
    arrays = {f"filter.{name}": array for name, array in estimator.filter.arrays().items()}
    content = {
        "format": FORMAT,
        "problem": _problem(estimator),
        "intake": estimator.intake.content(),
    }
    arrays["content"] = np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    atomic_write(path, buffer.getvalue())


def restore_state(estimator: OnlineEstimator, path: str | Path) -> None:
    """Go on from a file of `save_state`; IdentificationError when it belongs to another problem."""
    path = Path(path)
    arrays = _read(path)
    content = _content(arrays, path)
    ours, theirs = _problem(estimator), content["problem"]
    if theirs["method"] != ours["method"]:
        raise IdentificationError(
            f"{path} holds the state of the filter {theirs['method']!r}, and this one is"
            f" {ours['method']!r}: use method= or filter= as it was made with, or name a new file"
        )
    if theirs != ours:
        odd = [key for key in ours if theirs.get(key) != ours[key]]
        raise IdentificationError(
            f"{path} holds the state of another problem: {', '.join(odd)} differ; track with the"
            " model and options it was made with, or name a new file"
        )
    own = {n.removeprefix("filter."): a for n, a in arrays.items() if n.startswith("filter.")}
    try:
        estimator.filter.restore(own)
        estimator.intake.restore(content["intake"])
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise _state_fault(path, str(error), "a file written by this version") from error


def _problem(estimator: OnlineEstimator) -> dict[str, Any]:
    """What must be the same: the filter, the unknowns, where they start, how they are treated."""
    free = estimator.parameters.free_ones
    problem = {
        "method": estimator.filter.method,
        "model": estimator.model.name,
        "unknowns": [p.name for p in free],
        "values": [p.value for p in free],
        "channels": list(estimator.filter.channels),
        "reorder": estimator.intake.buffer.size,
        **estimator.filter.settings(),
    }
    return json.loads(json.dumps(problem))  # as it comes back from a file


def _read(path: Path) -> dict[str, np.ndarray]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise _state_fault(path, f"{path.stat().st_size} bytes", f"at most {MOST_BYTES}")
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise _state_fault(path, str(error), "a file written by save_state") from error


def _content(arrays: dict[str, np.ndarray], path: Path) -> dict[str, Any]:
    try:
        content = json.loads(arrays["content"].tobytes())
        if content["format"] != FORMAT:
            raise _state_fault(path, f"format {content['format']!r}", f"format {FORMAT}")
        if not {"intake", "problem"} <= set(content) or "method" not in content["problem"]:
            raise _state_fault(path, "parts missing", "a file written by save_state")
    except (KeyError, TypeError, ValueError) as error:
        raise _state_fault(path, str(error), "a file written by save_state") from error
    return content


def _state_fault(path: Path, value: str, expected: str) -> IdentificationError:
    remedy = "start anew with another --state file"
    fault = Fault(str(path), value, expected, remedy, code="file.damaged")
    return IdentificationError("the state file cannot be used", [fault])
