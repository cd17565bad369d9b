"""`freefloat models`: the built-in models, to look at and to copy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App

from freefloat.cli.options import FLAG, Shared

if TYPE_CHECKING:
    from freefloat.model import Model

HELP = """\
List the built-in models, or copy one to change it.

Every verb takes the name of a built-in model where it takes a file.

For example:
  freefloat models
  freefloat models copy servicer my_robot.toml"""

models = App(name="models", help=HELP, help_format="plaintext", result_action="return_value")


@models.default
def list_models(*, shared: Shared = Shared()) -> int:  # noqa: B008
    """List the built-in models."""
    from rich.text import Text

    from freefloat.cli import screen
    from freefloat.model import builtin_models, load_model

    listed = [(entry, load_model(entry.name)) for entry in builtin_models()]
    if shared.json:
        screen.print_json({"models": [_summary(model) for _, model in listed]})
        return 0
    for entry, model in listed:
        about = _summary(model)
        counts = f"{about['bodies']} bodies, {about['moving_joints']} moving joints"
        line = f"{model.root.type:<9} {counts:<27} {model.mass:>7.4g} kg"
        screen.show(Text.assemble((f"{entry.name:<21} ", "bold"), line))
        screen.show(screen.indent(Text(entry.description, style="dim")))
    screen.show("", "Bodies include fuel, what is grasped, and links without mass.")
    screen.show("`freefloat check NAME` shows one, `freefloat models copy NAME` copies it.")
    return 0


@models.command
def copy(
    name: str,
    to: Path = Path("."),
    /,
    *,
    force: Annotated[bool, FLAG] = False,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Copy a built-in model, to change it.

    For example:
      freefloat models copy servicer
      freefloat models copy cepheus my_robot.toml

    Parameters
    ----------
    name
        The built-in model, as `freefloat models` lists it.
    to
        A folder, or the .toml file to write; by default the current folder.
    force
        Replace files that exist.
    """
    from freefloat.cli import screen
    from freefloat.errors import ModelError, visible
    from freefloat.model import copy_model

    try:
        made = copy_model(name, to, overwrite=force)
    except ModelError as error:  # its remedy is an argument of Python; here it is an option
        faults = [replace(f, remedy=_command_remedy(f.remedy)) for f in error.faults]
        raise ModelError(error.message, faults) from error
    if shared.json:
        screen.print_json({"ok": True, "files": [str(path) for path in made]})
    else:
        shown = [visible(str(path)) for path in made]
        screen.show(*(f"wrote {path}" for path in shown))
        screen.show(f"`freefloat check {shown[0]}` shows what is in it.")
    return 0


def _summary(model: Model) -> dict[str, object]:
    return {
        "name": model.name,
        "description": model.description,
        "root": model.root.type,
        "bodies": len(model.bodies) + len(model.targets) + len(model.tanks),
        "moving_joints": sum(joint.type != "fixed" for joint in model.joints),
        "mass": model.mass,
    }


def _command_remedy(remedy: str) -> str:
    return remedy.replace("say overwrite=True", "add --force")
