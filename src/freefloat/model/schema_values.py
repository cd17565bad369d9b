"""Single values of a model file (TOML), checked strictly, each refusal with its remedy."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Annotated, Any, get_args

from pydantic import PlainValidator
from pydantic_core import PydanticCustomError

from freefloat.model.parts import SensorKind
from freefloat.model.value_checks import LARGEST

LONGEST_NAME = 200


def _refusal(expected: str, remedy: str) -> PydanticCustomError:
    return PydanticCustomError("refused", "{expected}", {"expected": expected, "remedy": remedy})


def _number(value: Any) -> float:
    # bool is an int to Python, but true is not a mass.
    if isinstance(value, bool) or not isinstance(value, int | float):
        remedy = "write it like 1.5 or -2e-3, without quotes or unit (SI is implied)"
        raise _refusal("a number", remedy)
    if not -LARGEST <= value <= LARGEST:  # nan fails this too, and a huge integer does not raise
        raise _refusal(f"a finite number up to {LARGEST:g}", "correct it, or leave the key out")
    return float(value)


def _numbers(*counts: int) -> Callable[[Any], tuple[float, ...]]:
    expected = " or ".join(map(str, counts)) + " numbers in brackets"

    def check(value: Any) -> tuple[float, ...]:
        values = value if isinstance(value, list) else [value]
        is_alone = not isinstance(value, list) and 1 not in counts
        if is_alone or len(values) not in counts:
            example = "[" + ", ".join(["0.0"] * counts[0]) + "]"
            raise _refusal(expected, f"write it like {example}")
        return tuple(map(_number, values))

    return check


def _axes(value: Any) -> tuple[tuple[float, ...], ...]:
    if not isinstance(value, list) or len(value) != 2:
        raise _refusal("two axes", "write them like [[1, 0, 0], [0, 1, 0]]")
    return tuple(map(_numbers(3), value))


def _bias(value: Any) -> tuple[float, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(map(_number, values))


def _prose(value: Any) -> str:
    if not isinstance(value, str):
        raise _refusal("text in quotes", "put it in quotes")
    return value


def _name(value: Any) -> str:
    text = _prose(value)
    if not text.strip() or len(text) > LONGEST_NAME:
        raise _refusal(f"a name of 1 to {LONGEST_NAME} characters", "give it a name")
    return text


def _extras(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _refusal("a list of texts", "put it in brackets")
    return tuple(map(_prose, value))


def _format(value: Any) -> int:
    if isinstance(value, bool) or value != 1:
        raise _refusal("1", "write format = 1, or use the freefloat that wrote this file")
    return 1


def _one_of(*options: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in options:
            close = get_close_matches(value[:50], options, n=1) if isinstance(value, str) else []
            remedy = f"did you mean {close[0]!r}?" if close else "choose one of these"
            raise _refusal(" or ".join(map(repr, options)), remedy)
        return value

    return check


Number = Annotated[float, PlainValidator(_number)]
Vector3 = Annotated[tuple[float, ...], PlainValidator(_numbers(3))]
Inertia = Annotated[tuple[float, ...], PlainValidator(_numbers(6, 3, 1))]
OneOrTwo = Annotated[tuple[float, ...], PlainValidator(_numbers(2, 1))]
Axes = Annotated[tuple[tuple[float, ...], ...], PlainValidator(_axes)]
Bias = Annotated[tuple[float, ...], PlainValidator(_bias)]
Prose = Annotated[str, PlainValidator(_prose)]
Name = Annotated[str, PlainValidator(_name)]
Extras = Annotated[tuple[str, ...], PlainValidator(_extras)]
Format = Annotated[int, PlainValidator(_format)]
RoleName = Annotated[str, PlainValidator(_one_of("motion", "torque", "passive", "locked"))]
WheelRole = Annotated[str, PlainValidator(_one_of("motion", "torque"))]
RootKind = Annotated[str, PlainValidator(_one_of("floating", "planar", "fixed"))]
JointKind = Annotated[str, PlainValidator(_one_of("revolute", "prismatic", "fixed"))]
DriveForm = Annotated[str, PlainValidator(_one_of("disc", "geared"))]
SensorKindName = Annotated[str, PlainValidator(_one_of(*get_args(SensorKind)))]
