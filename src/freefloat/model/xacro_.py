"""xacro expanded to URDF by the reference tool, where it is installed (freefloat[xacro])."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from freefloat.errors import Fault, ModelError, shorten
from freefloat.model.urdf_xml import URDF_FILE
from freefloat.records.bounded_read import read_bytes


def read_urdf_bytes(path: Path) -> bytes:
    """The URDF of a file: its bytes, or for .xacro what its macros expand to."""
    data = read_bytes(path, URDF_FILE)  # a file that is too big is refused before it is expanded
    return _expand(path) if path.suffix.lower() == ".xacro" else data


def _expand(path: Path) -> bytes:
    try:
        from xacrodoc import XacroDoc
    except ImportError:
        value, expected = "xacro macros", "the package xacrodoc, which expands them"
        remedy = "pip install 'freefloat[xacro]', or expand it: xacro robot.xacro > robot.urdf"
        fault = Fault(path.name, value, expected, remedy, "file.package")
        raise ModelError(f"{path.name}: cannot be expanded", [fault]) from None
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # the library never prints
            # package:// stays: a model that is written elsewhere still names its meshes
            return XacroDoc.from_file(str(path), resolve_packages=False).to_urdf_string().encode()
    except Exception as error:  # xacro evaluates Python: anything can be raised in there
        value = shorten(f"{type(error).__name__}: {error}", 200)
        expected, remedy = "a xacro file that expands", "correct it: `xacrodoc FILE` says more"
        fault = Fault(path.name, value, expected, remedy, "urdf.xacro")
        raise ModelError(f"{path.name}: the xacro cannot be expanded", [fault]) from None
