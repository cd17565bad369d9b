"""The whole state of an estimator in one file, bit for bit: arrays and a little JSON, no pickle."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.errors import Fault, IdentificationError
from freefloat.files import atomic_write
from freefloat.online.health import Event
from freefloat.online.unknown_channels import UnknownChannels
from freefloat.telemetry.sample_rows import Sample

if TYPE_CHECKING:
    from freefloat.online.estimator import OnlineEstimator

FORMAT = 3
MOST_BYTES = 50_000_000
TAKEN = ("vector", "levels", "wrench")


def save_state(estimator: OnlineEstimator, path: str | Path) -> None:
    """Write everything an estimator knows; `restore_state` goes on as if nothing had happened."""
    arrays = {f"memory.{name}": array for name, array in estimator.memory._asdict().items()}
    arrays |= {f"taken.{name}": getattr(estimator.taken, name) for name in TAKEN}
    arrays |= estimator.early.arrays() | estimator._more_arrays()
    content = {
        "format": FORMAT,
        "problem": _problem(estimator),
        "clock": asdict(estimator.clock),
        "held": [[s.time, dict(s.values)] for s in estimator.buffer.held],
        "counts": estimator.counts,
        "events": [asdict(event) for event in estimator.events],
        "time": estimator.time,
        "silenced": sorted(estimator.silenced),
        "lacking": estimator.lacking,
        "strangers": estimator.strangers.names,
    }
    arrays["content"] = np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    atomic_write(path, buffer.getvalue())


def restore_state(estimator: OnlineEstimator, path: str | Path) -> None:
    """Go on from a file of `save_state`; IdentificationError when it belongs to another problem."""
    arrays = _read(Path(path))
    content = _content(arrays, Path(path))
    if content["problem"] != (ours := _problem(estimator)):
        odd = [key for key in ours if content["problem"].get(key) != ours[key]]
        raise IdentificationError(
            f"{path} holds the state of another problem: {', '.join(odd)} differ; track with the"
            " model and options it was made with, or name a new file"
        )
    for name, array in estimator.memory._asdict().items():
        _put(arrays, f"memory.{name}", array, Path(path))
    for name in TAKEN:
        _put(arrays, f"taken.{name}", getattr(estimator.taken, name), Path(path))
    try:
        estimator.early.restore(arrays)
        estimator._restore_more(arrays)
    except (KeyError, ValueError, TypeError) as error:
        raise _damaged(Path(path), str(error), "a file written by this version") from error
    estimator.clock.__dict__.update(content["clock"])
    estimator.buffer.held = [Sample(float(t), values) for t, values in content["held"]]
    estimator.counts.clear()
    estimator.counts.update(content["counts"])
    estimator.events[:] = [Event(**event) for event in content["events"]]
    estimator.time = content["time"]
    estimator.silenced = set(content["silenced"])
    estimator.lacking = dict(content["lacking"])
    estimator.strangers = UnknownChannels(estimator.model)
    estimator.strangers.look(content["strangers"])


def _problem(estimator: OnlineEstimator) -> dict[str, Any]:
    """What must be the same: the unknowns, where they start, and how they are treated."""
    p = estimator.problem
    return {
        "model": estimator.model.name,
        "unknowns": list(estimator.unknowns.names),
        "values": [parameter.value for parameter in estimator.unknowns.free],
        "channels": list(estimator.channels.names),
        "noise": p.sigma.tolist(),
        "random_walk": p.walk.tolist(),
        "forgetting": p.forgetting,
        "correct": bool(p.probing),
        "gate": p.gates.tolist(),
        "reorder": estimator.buffer.size,
    }


def _read(path: Path) -> dict[str, np.ndarray]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise _damaged(path, f"{path.stat().st_size} bytes", f"at most {MOST_BYTES}")
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise _damaged(path, str(error), "a file written by save_state") from error


def _content(arrays: dict[str, np.ndarray], path: Path) -> dict[str, Any]:
    try:
        content = json.loads(arrays["content"].tobytes())
        if content["format"] != FORMAT:
            raise _damaged(path, f"format {content['format']!r}", f"format {FORMAT}")
        for key in ("problem", "clock", "held", "counts", "events", "time", "silenced",
                    "lacking", "strangers"):  # fmt: skip
            content[key]
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path, str(error), "a file written by save_state") from error
    return content


def _put(arrays: dict[str, np.ndarray], name: str, into: np.ndarray, path: Path) -> None:
    found = arrays.get(name)
    if found is None or found.shape != into.shape or found.dtype != into.dtype:
        raise _damaged(path, f"{name} of another shape", f"{into.shape} {into.dtype}")
    into[...] = found


def _damaged(path: Path, value: str, expected: str) -> IdentificationError:
    remedy = "start anew with another --state file"
    fault = Fault(str(path), value, expected, remedy, "file.damaged")
    return IdentificationError("the state file cannot be used", [fault])
