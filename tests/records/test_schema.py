"""A schema from dataclasses: every departure at once, and what is left without them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from freefloat.errors import Fault, ModelError
from freefloat.records import values
from freefloat.records.record_checks import bound_faults, value_faults
from freefloat.records.schema import Schema, TableChoice, TableKind, TableList, kind_of, table_of
from freefloat.records.toml_text import TOML
from freefloat.records.values import LARGEST, MAX_FAULTS, NotNegative, RefusedError


@dataclass(frozen=True)
class Spot:
    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Spring:
    stiffness: NotNegative
    damping: tuple[NotNegative, NotNegative] = (0.0, 0.0)


@dataclass(frozen=True)
class Part:
    name: str
    mass: float
    role: Literal["motion", "torque"] = "motion"
    spot: Spot = Spot()
    spring: Spring | None = None
    gains: dict[str, float] = field(default_factory=dict)
    levels: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.mass == 13.0:
            raise ModelError("no", [Fault("part.mass", "13", "another", "change it", "part.luck")])


@dataclass(frozen=True)
class Ramp:
    rise: float
    kind: Literal["ramp"] = "ramp"


@dataclass(frozen=True)
class Hold:
    level: float = 0.0
    kind: Literal["hold"] = "hold"


TABLE = table_of(Part, TOML, spread=("spot",))
CHOICE = TableChoice("kind", {"ramp": table_of(Ramp, TOML), "hold": table_of(Hold, TOML)})
FILE = Schema(
    TableKind({"format": values.format_1, "part": TableList(TABLE), "motion": TableList(CHOICE)}),
    TOML,
)
SOUND: dict[str, Any] = {
    "name": "a", "mass": 1, "xyz": [0, 0, 1], "role": "torque", "gains": {"b": 2}, "levels": [1, 2],
    "spring": {"stiffness": 3, "damping": [1, 2]},
}  # fmt: skip


def faults_of(**changes: Any) -> dict[tuple[str | int, ...], str]:
    raw = {key: value for key, value in (SOUND | changes).items() if value is not ...}
    found = FILE.read({"part": [SOUND, raw]}).faults
    assert all(fault.path[:2] == ("part", 1) for fault in found)
    return {fault.path[2:]: fault.code for fault in found}


def test_the_keys_come_from_the_dataclass():
    assert list(TABLE.keys) == ["name", "mass", "role", "xyz", "spring", "gains", "levels"]
    assert TABLE.required == ("name", "mass")


def test_what_is_sound_comes_back_as_the_dataclass_wants_it():
    reading = FILE.read({"format": 1, "part": [SOUND], "motion": [{"kind": "hold"}]})
    assert reading.faults == []
    (part,) = reading.content["part"]
    assert part["mass"] == 1.0 and type(part["mass"]) is float
    assert part["xyz"] == (0.0, 0.0, 1.0) and part["levels"] == (1.0, 2.0)
    assert reading.content["motion"] == [{"kind": "hold"}]


@pytest.mark.parametrize(
    ("changes", "path", "code"),
    [
        ({"mass": ...}, ("mass",), "key.missing"),
        ({"mas": 1}, ("mas",), "key.unknown"),
        ({"mass": True}, ("mass",), "value.type"),
        ({"mass": "1,5"}, ("mass",), "value.type"),
        ({"mass": float("nan")}, ("mass",), "value.range"),
        ({"mass": 10 * LARGEST}, ("mass",), "value.range"),
        ({"mass": 10**5000}, ("mass",), "value.range"),
        ({"role": "Torque"}, ("role",), "value.choice"),
        ({"role": ["torque"]}, ("role",), "value.choice"),
        ({"name": " "}, ("name",), "name.form"),
        ({"xyz": [0, 0]}, ("xyz",), "value.count"),
        ({"xyz": [0, 0, "1"]}, ("xyz",), "value.type"),
        ({"levels": 3}, ("levels",), "value.type"),
        ({"levels": [1, None]}, ("levels", 1), "value.type"),
        ({"gains": [1]}, ("gains",), "value.type"),
        ({"gains": {"a": "b"}}, ("gains", "a"), "value.type"),
        ({"spring": 3}, ("spring",), "value.type"),
        ({"spring": {}}, ("spring", "stiffness"), "key.missing"),
        ({"spring": {"stiffness": 1, "dampin": 2}}, ("spring", "dampin"), "key.unknown"),
    ],
)
def test_a_departure_has_its_path_and_code(changes, path, code):
    assert faults_of(**changes) == {path: code}


def test_departures_are_told_at_once_and_leave_the_rest():
    wrong = SOUND | {"mass": "heavy", "levels": [1, "x"], "spring": {"damping": [1, 2]}, "odd": 1}
    reading = FILE.read({"format": 2, "part": [3, wrong]})
    assert {fault.path for fault in reading.faults} == {
        ("format",),
        ("part", 0),
        ("part", 1, "mass"),
        ("part", 1, "levels", 1),
        ("part", 1, "spring", "stiffness"),
        ("part", 1, "odd"),
    }
    empty, rest = reading.content["part"]  # those behind what is no table keep their places
    assert empty == {} and rest["spring"] == {"damping": (1.0, 2.0)}
    assert not {"mass", "levels", "odd"} & rest.keys() and rest["xyz"] == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("entry", "path", "code"),
    [
        ({"kind": "ram"}, ("kind",), "value.choice"),
        ({}, ("kind",), "key.missing"),
        ({"kind": "ramp"}, ("rise",), "key.missing"),
        ({"kind": "ramp", "rise": 1, "level": 2}, ("level",), "key.unknown"),
        ({"kind": "hold", "level": "2"}, ("level",), "value.type"),
        (7, (), "value.type"),
    ],
)
def test_a_word_chooses_the_table(entry, path, code):
    (fault,) = FILE.read({"motion": [entry]}).faults
    assert (fault.path, fault.code) == (("motion", 0, *path), code)


def test_a_built_record_tells_its_own_faults():
    table = table_of(Part, TOML, spread=(), instead={"spot": values.text}, is_built=True)
    schema = Schema(TableKind({"part": TableList(table)}), TOML)
    (fault,) = schema.read({"part": [{"name": "a", "mass": 13}]}).faults
    assert (fault.path, fault.code) == (("part", 0, "mass"), "part.luck")
    (made,) = schema.read({"part": [{"name": "a", "mass": 12}]}).content["part"]
    assert made == Part("a", 12.0)


def test_shorthands_and_optional_keys_are_said_by_the_caller():
    table = table_of(
        Part, TOML, instead={"levels": values.numbers(2, 1)}, spread=("spot",), optional=("mass",)
    )
    reading = Schema(table, TOML).read({"name": "a", "levels": 3})
    assert reading.faults == [] and reading.content["levels"] == (3.0,)


def test_a_type_that_no_file_can_hold_is_our_mistake():
    with pytest.raises(TypeError, match="complex"):
        kind_of(complex, TOML)


def test_a_long_list_of_mistakes_is_cut():
    with pytest.raises(RefusedError) as caught:
        values.list_of(values.number)(["x"] * (10 * MAX_FAULTS))
    assert len(caught.value.faults) == MAX_FAULTS


def test_records_made_in_python_are_checked_by_the_same_annotations():
    assert value_faults(Ramp(1.0)) == []
    (fault,) = value_faults(Ramp("1"))  # type: ignore[arg-type]
    assert (fault.path, fault.code) == (("rise",), "value.type")
    part = Part("a", 1.0, spring=Spring(-1.0, (0.0, -2.0)))
    assert [(fault.path, fault.value) for fault in bound_faults(part)] == [
        (("spring", "stiffness"), "-1"),
        (("spring", "damping"), "-2"),
    ]
    assert bound_faults(Part("a", 1.0, spring=Spring(0.0))) == []


def test_pydantic_is_loaded_by_the_first_file_only():
    code = (
        "import sys, freefloat.records.json_text, freefloat.records.record_checks;"
        "sys.exit('pydantic_core' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
