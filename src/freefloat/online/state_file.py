"""The whole state of an estimator in one file, bit for bit: arrays and a little JSON, no pickle."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from pathlib import Path
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.errors import Fault, IdentificationError
from freefloat.files import atomic_write
from freefloat.online.kernels.kernel_limits import KernelLimits
from freefloat.records.bounded_read import FileKind, array_of, read_bytes, zip_members
from freefloat.records.option_record import require_value
from freefloat.records.values import LARGEST, Count

if TYPE_CHECKING:
    from freefloat.online.estimator import OnlineEstimator
    from freefloat.online.filter_options import FilterOptions

FORMAT = 8  # format: of state files; others are refused
STATE_FILE = FileKind(
    "state", IdentificationError, "", 50_000_000,  # a state is some kilobytes
    "start anew with another --state file, or allow more by max_bytes=", FORMAT,
)  # fmt: skip
_WRITTEN = "a file written by save_state"


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


def restore_state(
    estimator: OnlineEstimator, path: str | Path, *, max_bytes: int = STATE_FILE.max_bytes
) -> None:
    """Go on from a file of `save_state`, which then gives the same estimates bit for bit.

    Args:
        estimator: As it was made before: the same model, parameters and options.
        path: The file.
        max_bytes: A file that would take more [B], on disk or unpacked, is refused.

    Raises:
        IdentificationError: the file is damaged or of another version (`file.damaged`,
            `file.version`), or was made with another filter, problem or options (`state.method`,
            `state.problem`, `state.options`).
    """
    path = Path(path)
    require_value(max_bytes, Count, "max_bytes", IdentificationError)
    arrays = _read(path, max_bytes=max_bytes)
    content = _content(arrays, path)
    faults = _differences(_problem(estimator), content["problem"])
    if faults:
        text = f"{path} holds the state of a run with another model, other parameters or options"
        raise IdentificationError(text, faults)
    own = {n.removeprefix("filter."): a for n, a in arrays.items() if n.startswith("filter.")}
    try:
        _check_numbers(own, estimator.filter.arrays())
        _check_intake(content["intake"], estimator.intake.content())
        estimator.filter.restore(own)
        estimator.intake.restore(content["intake"])
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
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


def _read(path: Path, *, max_bytes: int) -> dict[str, np.ndarray]:
    kind = replace(STATE_FILE, max_bytes=max_bytes)
    try:
        members = zip_members(read_bytes(path, kind), path.name, kind)
        return {name.removesuffix(".npy"): array_of(data) for name, data in members.items()}
    except (ValueError, TypeError, OverflowError) as error:
        raise _state_fault(path, str(error), _WRITTEN) from error


def _check_numbers(arrays: Mapping[str, np.ndarray], own: Mapping[str, Any]) -> None:
    """Raise ValueError for numbers that no estimator has: not finite, or beyond all measure.

    What is not known yet is NaN, in arrays that a new estimator has it in and in frames that wait
    for their channels.
    """
    for name, array in arrays.items():
        if array.dtype.kind != "f":
            continue
        known = np.asarray(own.get(name, 0.0))
        may_wait = name.startswith("frames.") or not np.isfinite(known.astype(float)).all()
        is_bad = np.abs(array) > LARGEST if may_wait else ~(np.abs(array) <= LARGEST)
        if may_wait:
            is_bad &= np.isfinite(array)
        if is_bad.any():
            raise ValueError(f"{name} has {array[is_bad].flat[0]:g}")


def _check_intake(content: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Raise ValueError where the intake is not as one is written: keys, and what they hold."""
    own = json.loads(json.dumps(own))
    if content.keys() != own.keys() or content["clock"].keys() != own["clock"].keys():
        raise ValueError("keys of the intake that are missing or unknown")
    for name, value in own.items():
        if isinstance(value, dict | list) and type(content[name]) is not type(value):
            raise ValueError(f"intake.{name} is {short(content[name])}")
    for name, value in {**content["clock"], "time": content["time"]}.items():
        is_sound = value is None or (isinstance(value, int | float) and not isinstance(value, bool))
        if not is_sound and name != "late":
            raise ValueError(f"intake.{name} is {short(value)}")
    if not all(type(n) is int and n >= 0 for n in content["counts"].values()):
        raise ValueError(f"intake.counts are {short(content['counts'])}")


def _no_constant(text: str) -> float:
    raise ValueError(f"the number {text}")


def _number(text: str) -> float:
    value = float(text)
    if not abs(value) <= LARGEST:
        raise ValueError(f"the number {short(text)}")
    return value


def _content(arrays: dict[str, np.ndarray], path: Path) -> dict[str, Any]:
    try:
        content = json.loads(
            arrays["content"].tobytes(), parse_constant=_no_constant, parse_float=_number
        )
        version = content["format"]
        if version != FORMAT:
            found, expected = f"format {version!r}", f"format {FORMAT}, that of this version"
            raise _state_fault(path, found, expected, code="file.version")
        problem, intake = content["problem"], content["intake"]
        is_whole = isinstance(problem.get("options"), dict) and "method" in problem
        if not (is_whole and isinstance(intake, dict)):
            raise _state_fault(path, "parts missing", _WRITTEN)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise _state_fault(path, str(error), _WRITTEN) from error
    return content


def _state_fault(
    path: Path, value: str, expected: str, *, code: str = "file.damaged"
) -> IdentificationError:
    remedy = "start anew with another --state file"
    fault = Fault(str(path), value, expected, remedy, code=code)
    return IdentificationError("the state file cannot be used", [fault])
