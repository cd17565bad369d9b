"""Models written to disk: complete as a model file (TOML), bodies and joints as URDF."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freefloat.errors import Fault, ModelError
from freefloat.files import atomic_write
from freefloat.model.checks import structure_faults
from freefloat.model.parts import Body, Joint, Limits, Target
from freefloat.model.urdf_write import extras_faults, write_urdf
from freefloat.records.toml_text import changed_fields, table_text, value_text
from freefloat.wiring import service

if TYPE_CHECKING:
    from freefloat.model.model import Model

MJCF = (".xml", ".mjcf")
SUFFIXES = (".toml", ".urdf", *MJCF)


def save_model(model: Model, path: str | Path, *, like: str | Path | None = None) -> None:
    """Write a model to a .toml file (complete), a .urdf (bodies and joints) or MJCF (.xml).

    The file is written whole or not at all. URDF and MJCF name in a comment what they cannot hold.

    Args:
        model: what to write.
        path: the file; its ending says the format.
        like: the URDF or MJCF that the model was read from, in the same folder. It is copied with
            the numbers of the model: comments, meshes, order and all else stay.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if like is not None and suffix != ".toml":
        text = _text_like(model, path, Path(like))
    elif suffix == ".toml":
        text = write_model_text(model)
    elif suffix == ".urdf":
        text = write_urdf(model)
    elif suffix in MJCF:
        from freefloat.model.mujoco_render import render_mjcf

        text = render_mjcf(model)
    else:
        remedy = "end the name in .toml (complete), .urdf (bodies and joints) or .xml (MJCF)"
        value, expected = suffix or "no suffix", " or ".join(SUFFIXES)
        fault = Fault(str(path), value, expected, remedy, "file.suffix")
        raise ModelError(f"{path.name}: cannot write this kind of file", [fault])
    atomic_write(path, text)


def _text_like(model: Model, path: Path, like: Path) -> str:
    """The text of `like` with the numbers of a model, to be written beside it."""
    services = {".urdf": "edit_urdf"} | dict.fromkeys(MJCF, "write_mjcf")
    maker = services.get(path.suffix.lower(), "")
    if services.get(like.suffix.lower()) != maker or not maker:
        expected = "two URDFs or two MJCF files"
        remedy = "name a file of the format that is written, or leave `like` out"
        fault = Fault(str(path), f"like {like}", expected, remedy, "file.suffix")
        raise ModelError(f"{path.name}: cannot be written", [fault])
    if like.absolute().parent != path.absolute().parent:
        expected = "a file in the same folder: meshes and included files are named from there"
        remedy = "write it beside that file, or leave `like` out"
        code = "mjcf.source" if maker == "write_mjcf" else "urdf.source"
        fault = Fault(str(path), f"like {like}", expected, remedy, code)
        raise ModelError(f"{path.name}: cannot be written", [fault])
    return service(maker)(model, like)


def write_model_text(model: Model) -> str:
    """The model as the text of a model file; reading it back gives the same bits.

    Raises ModelError for a model that does not hold together.

    >>> from freefloat.model import Body, Model, Root
    >>> print(write_model_text(Model("one", Root("bus"), (Body("bus", 5.0, (0.0, 0.0, 0.1)),))))
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
    root = {"type": model.root.type, **changed_fields(model.root)}
    blocks = [table_text("format = 1", _head_content(model)), table_text("[root]", root)]
    blocks += [table_text("[[body]]", _body_content(body)) for body in model.bodies]
    blocks += [table_text("[[joint]]", _joint_content(joint)) for joint in model.joints]
    blocks += _part_blocks(model, ("tank", "wheel", "thruster"))
    blocks += [table_text("[[target]]", _target_content(target)) for target in model.targets]
    blocks += _part_blocks(model, ("frame", "sensor", "capsule"))
    if model.orbit is not None:
        blocks.append(table_text("[orbit]", changed_fields(model.orbit)))
    if model.limits != Limits():
        blocks.append(table_text("[limits]", changed_fields(model.limits)))
    if model.uncertainty:
        blocks.append(table_text("[uncertainty]", model.uncertainty))
    text = "\n".join(blocks)
    if not text.isascii() and (bad := _first_surrogate(text)):
        place, expected = f"model {model.name!r}", "text that UTF-8 can hold"
        fault = Fault(place, bad, expected, "delete it", "file.encoding")
        raise ModelError(f"the model {model.name!r} cannot be written", [fault])
    return text


def _part_blocks(model: Model, sections: Iterable[str]) -> list[str]:
    return [
        table_text(f"[[{section}]]", changed_fields(part, spread=("placement",)))
        for section in sections
        for part in getattr(model, f"{section}s")
    ]


def _first_surrogate(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"the character U+{ord(text[error.start]):04X}"
    return ""


def _head_content(model: Model) -> dict[str, Any]:
    head: dict[str, Any] = {"name": model.name}
    if model.description:
        head["description"] = model.description
    if value_text(model.gravity) != "[0.0, 0.0, 0.0]":
        head["gravity"] = model.gravity
    return head | ({"extras": model.extras} if model.extras else {})


def _body_content(body: Body) -> dict[str, Any]:
    given = changed_fields(body)
    xx, xy, xz, yy, yz, zz = body.inertia
    # As text: a product of inertia of minus zero is not zero, and three moments would lose it.
    if "inertia" in given and value_text((xy, xz, yz)) == "[0.0, 0.0, 0.0]":
        given["inertia"] = (xx, yy, zz)
    return given


def _joint_content(joint: Joint) -> dict[str, Any]:
    given = changed_fields(joint, spread=("placement",))
    if joint.drive is not None:  # the reader takes "passive" beside a drive, where we omit it
        given.pop("role", None)
        if joint.role != "passive":
            given["role"] = joint.role
    tables = ("limits", "drive", "extras")  # after the numbers: they are long lines
    order = [*(name for name in given if name not in tables), *(n for n in tables if n in given)]
    return {name: given[name] for name in order}


def _target_content(target: Target) -> dict[str, Any]:
    body = _body_content(target.body)
    return {"name": body.pop("name"), "on": target.on, **changed_fields(target.placement), **body}
