"""xacro files: expanded by xacrodoc where it is installed, refused with a remedy otherwise."""

from __future__ import annotations

import sys

import pytest
from fault_codes import refused

from freefloat.errors import ModelError
from freefloat.model import load_model

XACRO = """<?xml version="1.0"?>
<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="m" value="2.5"/>
  <xacro:macro name="body" params="name">
    <link name="${name}"><inertial><mass value="${2 * m}"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  </xacro:macro>
  <xacro:body name="bus"/>
</robot>
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "r.urdf.xacro"
    path.write_text(XACRO, encoding="utf-8")
    return path


def test_macros_are_expanded(file, tmp_path, capfd):
    pytest.importorskip("xacrodoc")
    assert load_model(file).body("bus").mass == 5.0
    model = tmp_path / "r.toml"
    model.write_text(f'format = 1\nname = "r"\nurdf = "{file.name}"\n', encoding="utf-8")
    assert load_model(model).body("bus").mass == 5.0
    assert capfd.readouterr() == ("", "")


def test_what_does_not_expand_is_a_fault(file):
    pytest.importorskip("xacrodoc")
    file.write_text(XACRO.replace("2 * m", "2 * mass"), encoding="utf-8")
    with refused(ModelError, "urdf.xacro", naming="mass"):
        load_model(file)


def test_without_the_package_it_is_said_what_to_install(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with refused(ModelError, "file.package", naming="freefloat[xacro]"):
        load_model(file)
