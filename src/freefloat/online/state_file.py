"""The whole state of an estimator in one file, bit for bit: arrays and a little JSON, no pickle."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import is_dataclass
from pathlib import Path
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.errors import Fault, IdentificationError
from freefloat.files import atomic_write
from freefloat.online.kernels.kernel_limits import KernelLimits

if TYPE_CHECKING:
    from freefloat.online.estimator import OnlineEstimator
    from freefloat.online.filter_options import FilterOptions

FORMAT = 6  # format: of state files; others are refused
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
    """Go on from a file of `save_state`, which then gives the same estimates bit for bit.

    Raises:
        IdentificationError: the file is damaged or of another version (`file.damaged`,
            `file.version`), or was made with another filter, problem or options (`state.method`,
            `state.problem`, `state.options`).
    """
    path = Path(path)
    arrays = _read(path)
    content = _content(arrays, path)
    faults = _differences(_problem(estimator), content["problem"])
    if faults:
        raise IdentificationError(f"{path} holds the state of another problem", faults)
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
        "options": _option_values(estimator.options),
    }
    return json.loads(json.dumps(problem))  # as it comes back from a file


def _option_values(options: FilterOptions) -> dict[str, Any]:
    """Every option by its group and name, as `track --set` writes them.

    >>> from freefloat.online.filter_options import FilterOptions
    >>> values = _option_values(FilterOptions())
    >>> values["filter.clock_jump"], values["limits.long_gap"], values["kalman.jerk"]
    (30.0, 10.0, 3.0)
    """
    groups: dict[str, dict[str, Any]] = {"filter": {}}
    for name, value in vars(options).items():
        if isinstance(value, KernelLimits):
            groups[name] = value._asdict()
        elif is_dataclass(value):
            groups[name] = vars(value)
        else:
            groups["filter"][name] = value
    return {f"{group}.{n}": value for group, own in groups.items() for n, value in own.items()}


def _differences(ours: dict[str, Any], theirs: dict[str, Any]) -> list[Fault]:
    """What a state was made with and this estimator was not."""
    if theirs["method"] != ours["method"]:  # all else then differs too, and says nothing
        remedy = "use method= or filter= as it was made with, or name a new file"
        value, made = repr(ours["method"]), repr(theirs["method"])
        return [Fault("method", value, made, remedy, code="state.method")]
    own, other = dict(ours), dict(theirs)
    options, made_options = own.pop("options"), other.pop("options")
    remedy = "track with the model and settings it was made with, or name a new file"
    faults = [
        Fault(key, short(own.get(key)), short(other.get(key)), remedy, code="state.problem")
        for key in own | other
        if own.get(key) != other.get(key)
    ]
    remedy = "set the option as it was (options=, --set), or name a new file"
    faults += [
        Fault(f"option {key}", short(options.get(key)), short(made_options.get(key)), remedy,
              code="state.options")
        for key in options | made_options
        if options.get(key) != made_options.get(key)
    ]  # fmt: skip
    return faults


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
        version = content["format"]
        if version != FORMAT:
            found, expected = f"format {version!r}", f"format {FORMAT}, that of this version"
            raise _state_fault(path, found, expected, code="file.version")
        problem, intake = content["problem"], content["intake"]
        is_whole = isinstance(problem.get("options"), dict) and "method" in problem
        if not (is_whole and isinstance(intake, dict)):
            raise _state_fault(path, "parts missing", "a file written by save_state")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _state_fault(path, str(error), "a file written by save_state") from error
    return content


def _state_fault(
    path: Path, value: str, expected: str, *, code: str = "file.damaged"
) -> IdentificationError:
    remedy = "start anew with another --state file"
    fault = Fault(str(path), value, expected, remedy, code=code)
    return IdentificationError("the state file cannot be used", [fault])
