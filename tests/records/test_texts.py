"""TOML and JSON of ours: written with every bit, read within bounds, lines found."""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import dataclass

import numpy as np
import pytest
from fault_codes import refused
from hypothesis import given
from hypothesis import strategies as st

from freefloat.errors import ModelError
from freefloat.notes import Note
from freefloat.records.bounded_read import FileKind, path_inside, read_text
from freefloat.records.fault_list import FaultList, NamedFaults
from freefloat.records.json_text import JSON, MAX_KEYS, parse_json, read_json, write_json
from freefloat.records.schema import Schema, TableKind, table_of
from freefloat.records.toml_text import (
    MAX_PARTS,
    changed_fields,
    line_of_long_key,
    lines_of,
    parse_toml,
    table_text,
    value_text,
)
from freefloat.records.values import PathFault

KIND = FileKind("thing", ModelError, ".json", 1000, "make it smaller")


@dataclass(frozen=True)
class Thing:
    name: str
    value: float
    limits: tuple[float, float] | None = None
    is_known: bool = True
    n: int = 0
    notes: tuple[str, ...] = ()


SCHEMA = Schema(TableKind(table_of(Thing, JSON).keys, ("name", "value")), JSON)


# -- TOML ------------------------------------------------------------------------------------------

texts = st.text(st.characters(codec="utf-8"), max_size=20)
numbers = st.floats(allow_nan=False, allow_infinity=False)
plain = st.one_of(numbers, texts, st.lists(numbers, max_size=4), st.dictionaries(texts, numbers))


@given(st.dictionaries(st.sampled_from("abcdef"), plain))
def test_toml_comes_back(content):
    back = tomllib.loads(table_text("[t]", content))["t"]
    assert repr(back) == repr(content)  # minus zero is not zero


def test_only_what_differs_from_a_default_is_written():
    assert changed_fields(Thing("a", 0.0)) == {"name": "a", "value": 0.0}
    assert changed_fields(Thing("a", -0.0, (1.0, -0.0), n=3)) == {
        "name": "a",
        "value": -0.0,
        "limits": (1.0, -0.0),
        "n": 3,
    }
    assert value_text(np.array([1, 2])) == "[1.0, 2.0]"


def test_lines_are_found_around_long_texts_and_lists():
    text = (
        'a = 1\nb = """\n[c]\nd = 2\n"""\n[[e]]\nf = [\n  [1, 2],\n]\ng = 3\n[[e]]\n[e.h]\ni = 4\n'
    )
    lines = lines_of(text)
    assert lines[("a",)] == 1
    assert lines[("b",)] == 2
    assert ("c",) not in lines
    assert lines[("e", 0)] == 6
    assert lines[("e", 0, "g")] == 10
    assert lines[("e", 1)] == 11
    assert lines[("e", 1, "h", "i")] == 13


def test_only_keys_of_very_many_parts_are_long():
    assert line_of_long_key("x = 1\n" + "a." * 20 + "b = 1") == 2
    assert line_of_long_key('"a" . ' * 20 + "b = 1") == 1
    assert line_of_long_key("x = [" + "1.0, " * 100 + "]") is None
    assert line_of_long_key('d = "One. Two words. And so on. ' + "A sentence here. " * 50) is None


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a = 1,5", "file.syntax", 1),
        ("a = 1\nb = 8 kg", "file.syntax", 2),
        ("a = [1", "file.syntax", None),
        ("a." * 20 + "b = 1", "file.depth", 1),
        ("x = " + "[" * 900, "file.depth", None),
        ("#" * 1001, "file.size", None),
        ("p = [" + "{}," * (MAX_PARTS + 1) + "]", "value.count", None),
    ],
)
def test_what_is_no_toml_of_ours_is_refused(text, code, line):
    kind = FileKind("thing", ModelError, ".toml", 10_000 if "p =" in text else 1000, "")
    with refused(ModelError, code) as caught:
        parse_toml(text, file="a.toml", kind=kind, sections=("p",))
    assert caught.value.faults[0].line == line


def test_places_are_named_with_their_lines():
    faults = NamedFaults("a.toml", lines={("joint", 1): 5, ("joint", 1, "axis"): 7})
    faults.names["joint", 1] = "arm"
    faults.register(("joint", 1), "arm", kinds=("body",))
    assert faults.place(("joint", 1, "axis")) == 'a.toml: joint[1] "arm".axis (line 7)'
    assert faults.place(("joint", 1, "limits", 0)) == 'a.toml: joint[1] "arm".limits[0] (line 5)'
    assert faults.path_of("joint 'arm'.axis") == ("joint", 1, "axis")
    assert faults.path_of("body 'arm'") == ("joint", 1)
    assert faults.path_of("sensor[3] (gyro).on") == ("sensor", 3, "on")
    assert faults.path_of("joint 'leg'.axis") is None
    faults.add(PathFault(("joint", 1, "limits"), "1", "2", "3"))
    assert faults.is_told(("joint", 1, "limits", "lower"))
    assert not faults.is_told(("joint", 1))


# -- JSON ------------------------------------------------------------------------------------------


@given(st.floats(), texts, st.none() | st.tuples(st.floats(), st.floats()))
def test_json_comes_back(value, text, limits):
    thing = Thing(text, value, limits, notes=(text, Note("a.b", text)))
    content = {key: getattr(thing, key) for key in SCHEMA.table.keys}
    back = Thing(**read_json(write_json(content, KIND), SCHEMA, file="a", kind=KIND))
    assert repr(back) == repr(thing)
    assert isinstance(back.notes[1], Note) and back.notes[1].code == "a.b"


def test_arrays_and_records_are_written():
    text = write_json({"a": np.array([[1.0, math.nan]]), "b": [Thing("x", math.inf)]}, KIND)
    raw = json.loads(text)
    assert raw["a"] == [[1.0, None]] and raw["b"][0]["value"] == "inf"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "file.syntax"),
        ("[]", "file.syntax"),
        ('{"a": NaN}', "file.syntax"),
        ('{"a": 1, "a": 2}', "file.syntax"),
        ("[" * 10**5, "file.depth"),
        ('{"a": ' + "1" * 5000 + "}", "file.syntax"),
        ("{" + ",".join(f'"k{i}": 1' for i in range(MAX_KEYS + 1)) + "}", "file.syntax"),
    ],
)
def test_what_is_no_json_of_ours_is_refused(text, code):
    with refused(ModelError, code):
        parse_json(text, "a.json", KIND)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"format": "freefloat model"}, "file.format"),
        ({"version": 2}, "file.version"),
        ({"version": True}, "file.version"),
        ({"value": "1"}, "value.type"),
        ({"value": True}, "value.type"),
        ({"limits": [1]}, "value.count"),
        ({"n": 1.5}, "value.type"),
        ({"n": -1}, "value.type"),
        ({"is_known": 1}, "value.type"),
        ({"nam": "x"}, "key.unknown"),
        ({"notes": [{"code": "a"}]}, "value.type"),
    ],
)
def test_a_departure_has_its_code(changes, code):
    raw = json.loads(write_json({"name": "a", "value": 1.0}, KIND))
    with refused(ModelError, code):
        read_json(json.dumps(raw | changes), SCHEMA, file="a.json", kind=KIND)


# -- files -----------------------------------------------------------------------------------------


def test_files_are_opened_with_care(tmp_path):
    (tmp_path / "large.json").write_bytes(b" " * 1001)
    (tmp_path / "latin.json").write_bytes(b"\n\xe9")
    (tmp_path / "mark.json").write_bytes(b"\xef\xbb\xbfa")
    assert read_text(tmp_path / "mark.json", KIND) == "a"
    for name, code in (
        ("large.json", "file.size"),
        ("latin.json", "file.encoding"),
        ("none.json", "file.unreadable"),
        (".", "file.unreadable"),
        ("a\0.json", "file.unreadable"),
    ):
        with refused(ModelError, code):
            read_text(tmp_path / name, KIND)
    with refused(ModelError, "file.suffix"):
        KIND.require_suffix("a.toml")
    KIND.require_suffix("A.JSON")


def test_paths_stay_inside_a_folder(tmp_path):
    assert path_inside(tmp_path, "a/b.urdf") == tmp_path.resolve() / "a" / "b.urdf"
    for name in ("../a", "/a", "C:/a", "a/../../b", "", "a\n"):
        assert path_inside(tmp_path, name).code == "file.outside"  # type: ignore[union-attr]


def test_nothing_is_raised_where_nothing_is_wrong():
    FaultList("a.json").raise_any(KIND)
    faults = FaultList("a.json")
    faults.extend([PathFault(("a", 0), "1", "2", "3", "value.range")] * 2)
    with refused(ModelError, "value.range", "value.range") as caught:
        faults.raise_any(KIND)
    assert caught.value.faults[0].place == "a.json: a[0]"
