"""A Model as the text of a model file (TOML): complete, readable, and the same bits when read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from freefloat.errors import Fault, ModelError
from freefloat.model.checks import structure_faults
from freefloat.model.model import Model
from freefloat.model.parts import Body, Joint, Limits, Placement, Target
from freefloat.model.urdf_write import extras_faults

_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(32), 127)}
_ESCAPES |= {ord('"'): '\\"', ord("\\"): "\\\\"}
_ESCAPES |= {ord("\n"): "\\n", ord("\t"): "\\t", ord("\r"): "\\r"}
_LONG_ESCAPES = {code: text for code, text in _ESCAPES.items() if code != ord("\n")}


def write_toml(model: Model) -> str:
    """The model as the text of a model file; reading it back gives the same bits.

    Raises ModelError for a model that does not hold together.

    >>> from freefloat.model import Body, Model, Root
    >>> print(write_toml(Model("one", Root("bus"), (Body("bus", 5.0, (0.0, 0.0, 0.1)),))))
    format = 1
    name = "one"
    <BLANKLINE>
    [root]
    type = "floating"
    body = "bus"
    <BLANKLINE>
    [[body]]
    name = "bus"
    mass = 5.0
    com = [0.0, 0.0, 0.1]
    <BLANKLINE>
    """
    faults = [*structure_faults(model), *extras_faults(model)]
    if faults:
        raise ModelError(f"the model {model.name!r} cannot be written", faults)
    blocks = [_head(model), _table("[root]", {"type": model.root.type, **_given(model.root)})]
    blocks += [_table("[[body]]", _body(body)) for body in model.bodies]
    blocks += [_table("[[joint]]", _joint(joint)) for joint in model.joints]
    for name in ("tank", "wheel", "thruster"):
        blocks += [_table(f"[[{name}]]", _given(part)) for part in getattr(model, f"{name}s")]
    blocks += [_table("[[target]]", _target(target)) for target in model.targets]
    for name in ("frame", "sensor", "capsule"):
        blocks += [_table(f"[[{name}]]", _given(part)) for part in getattr(model, f"{name}s")]
    if model.orbit is not None:
        blocks.append(_table("[orbit]", _given(model.orbit)))
    if model.limits != Limits():
        blocks.append(_table("[limits]", _given(model.limits)))
    text = "\n".join(blocks)
    if not text.isascii() and (bad := _first_surrogate(text)):
        fault = Fault(f"model {model.name!r}", bad, "text that UTF-8 can hold", "delete it")
        raise ModelError(f"the model {model.name!r} cannot be written", [fault])
    return text


def _first_surrogate(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"the character U+{ord(text[error.start]):04X}"
    return ""


def _head(model: Model) -> str:
    values: dict[str, Any] = {"format": 1, "name": model.name}
    if model.description:
        values["description"] = model.description
    if _value(model.gravity) != "[0.0, 0.0, 0.0]":
        values["gravity"] = model.gravity
    if model.extras:
        values["extras"] = model.extras
    return "".join(f"{key} = {_value(value)}\n" for key, value in values.items())


def _body(body: Body) -> dict[str, Any]:
    given = _given(body)
    if "inertia" in given and _value(_products(body)) == "[0.0, 0.0, 0.0]":
        given["inertia"] = (body.inertia[0], body.inertia[3], body.inertia[5])
    return given


def _products(body: Body) -> tuple[float, float, float]:
    return (body.inertia[1], body.inertia[2], body.inertia[4])


def _joint(joint: Joint) -> dict[str, Any]:
    given = _given(joint)
    if joint.drive is not None:  # the reader takes "passive" beside a drive, where we omit it
        given.pop("role", None)
        if joint.role != "passive":
            given["role"] = joint.role
    order = [*(name for name in given if name not in ("limits", "drive", "extras"))]
    order += [name for name in ("limits", "drive", "extras") if name in given]
    return {name: given[name] for name in order}


def _target(target: Target) -> dict[str, Any]:
    body = _body(target.body)
    place = _given(target.placement)
    return {"name": body.pop("name"), "on": target.on, **place, **body}


def _given(part: Any) -> dict[str, Any]:
    """The values of a part that differ from its defaults, placements as xyz and rpy."""
    given: dict[str, Any] = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, Placement):
            given |= _given(value)
        elif value is not None and not _is_default(field, value):
            given[field.name] = value
    return given


def _is_default(field: Field[Any], value: object) -> bool:
    # Compared as text: minus zero equals zero, yet it is a value of its own, to be kept.
    return field.default is not MISSING and _value(field.default) == _value(value)


def _table(header: str, values: dict[str, Any]) -> str:
    lines = [f"{key} = {_value(value)}" for key, value in values.items()]
    return "\n".join([header, *lines, ""])


def _value(value: Any) -> str:
    """A value as TOML writes it, on one line unless it is a text of several."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return repr(value)
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_item(item) for item in value) + "]"
    if is_dataclass(value):
        return _inline(_given(value).items())
    return "" if value is None else repr(float(value))


def _item(value: Any) -> str:
    return _basic(value) if isinstance(value, str) else _value(value)


def _inline(pairs: Iterable[tuple[str, Any]]) -> str:
    inner = ", ".join(f"{key} = {_value(value)}" for key, value in pairs)
    return "{ " + inner + " }" if inner else "{}"


def _text(text: str) -> str:
    if "\n" in text:
        return '"""\n' + text.translate(_LONG_ESCAPES) + '"""'
    return _basic(text)


def _basic(text: str) -> str:
    # Single quotes take everything as it is, which leaves XML readable.
    if '"' in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    return '"' + text.translate(_ESCAPES) + '"'
