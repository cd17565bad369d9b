"""Model files that are damaged, hostile or absurd: a sound Model or a FreefloatError, in time.

FREEFLOAT_MUTANTS sets how many mutants of each format are read (200 when it is not set);
`pytest -m full` reads 10 000 of each.
"""

from __future__ import annotations

import ast
import dataclasses
import math
import os
import pickle
import random
import re
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from damaged_texts import every_number
from fault_codes import refused
from model_samples import TOML, URDF

import freefloat
from freefloat.errors import FreefloatError, ModelError
from freefloat.model import Model, builtin_models, load_model
from freefloat.model import inertia as inertial
from freefloat.model.model_file import MODEL_FILE, read_model_text
from freefloat.model.urdf import read_urdf
from freefloat.model.urdf_xml import MAX_DEPTH, URDF_FILE

MUTANTS = int(os.environ.get("FREEFLOAT_MUTANTS", "200"))
MOST_SECONDS = 5.0  # of processor time, so that a busy machine does not fail the tests

NUMBERS = ["heavy", "1,5", "nan", "inf", "-inf", "1e400", "-1", "", "0x10", "1_000", "١٢", "1e-400"]
NUMBERS += [
    "0",
    "-0.0",
    "1e308",
    "1e50",
    "1e-300",
    "true",
    '"1"',
    "[]",
    "1" * 400,
    "0." + "9" * 400,
]
TOKENS = ["<!DOCTYPE r [<!ENTITY a 'b'>]>", "&a;", "<!--", "-->", "<![CDATA[", "]]>", "<?x?>", "'"]
TOKENS += ['"', "[[", "]]", "{", "}", "=", "\0", "\ud7ff", "\u202e", "<a>" * 70, "[" * 2000]
TOKENS += ["a." * 500, "<robot>", "</link>", '"""', "#", "\r", "\\u0000", "1979-05-27", "*", "?"]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
WORD = re.compile(r"[A-Za-z_]\w+")
ELEMENT = re.compile(r"<(\w+)[^<>]*?/>|<(\w+)[^<>]*?>.*?</\2>|\w+=\"[^\"]*\"", re.DOTALL)
LINE = re.compile(r"[^\n]*\n")


def pick(chance: random.Random, pattern: re.Pattern[str], text: str) -> tuple[int, int]:
    found = [match.span() for match in pattern.finditer(text)]
    return chance.choice(found) if found else (0, 0)


def flip_bytes(chance: random.Random, text: str) -> bytes:
    data = bytearray(text.encode())
    for _ in range(chance.choice([1, 1, 1, 3, 20])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def truncate(chance: random.Random, text: str) -> bytes:
    data = text.encode()
    cut = chance.randrange(len(data))
    return chance.choice([data[:cut], data[cut:], data[:cut] + data[cut + 50 :]])


def swap_number(chance: random.Random, text: str) -> bytes:
    start, end = pick(chance, NUMBER, text)
    return (text[:start] + chance.choice(NUMBERS) + text[end:]).encode("utf-8", "replace")


def swap_words(chance: random.Random, text: str) -> bytes:
    (a, b), (c, d) = sorted([pick(chance, WORD, text), pick(chance, WORD, text)])
    if b > c:
        return text.encode()
    return (text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]).encode()


def delete_part(chance: random.Random, text: str) -> bytes:
    start, end = pick(chance, chance.choice([ELEMENT, LINE, WORD]), text)
    return (text[:start] + text[end:]).encode()


def repeat_part(chance: random.Random, text: str) -> bytes:
    start, end = pick(chance, chance.choice([ELEMENT, LINE]), text)
    part = text[start:end] * chance.choice([2, 2, 50])
    return (text[:start] + part + text[end:]).encode()


def nest_part(chance: random.Random, text: str) -> bytes:
    start, end = pick(chance, chance.choice([ELEMENT, LINE, NUMBER]), text)
    there = chance.randrange(len(text))
    return (text[:there] + text[start:end] + text[there:]).encode()


def insert_token(chance: random.Random, text: str) -> bytes:
    there = chance.randrange(len(text))
    return (text[:there] + chance.choice(TOKENS) + text[there:]).encode("utf-8", "replace")


MUTATIONS = [flip_bytes, truncate, swap_number, swap_number, swap_words, delete_part, repeat_part]
MUTATIONS += [nest_part, insert_token]


def mutant(text: str, seed: int) -> bytes:
    chance = random.Random(seed)
    data = chance.choice(MUTATIONS)(chance, text)
    while chance.random() < 0.3:  # some are damaged twice or more
        data = chance.choice(MUTATIONS)(chance, data.decode("utf-8", "replace") or "x")
    return data


def assert_sound(model: Model) -> None:
    """Every number is finite, every body is one that could exist, and the model assembles."""
    assert all(math.isfinite(number) for number in every_number(dataclasses.asdict(model)))
    for body in model.assembly.bodies:
        assert np.all(np.isfinite(body.phi))
        about_com = inertial.phi_from_com(body.mass, (0, 0, 0), body.inertia)
        assert inertial.inconsistency(about_com) is None
        assert body.mass >= 0.0
    assert all(np.isfinite(joint.placement.rotation).all() for joint in model.assembly.joints)


def outcome(path: Path, data: bytes) -> tuple[str, float]:
    path.write_bytes(data)
    start = time.process_time()
    try:
        model = load_model(path)
    except FreefloatError as error:
        result = "refused"
        assert str(error).startswith(path.name)
        assert all(fault.place and fault.expected and fault.remedy for fault in error.faults)
        assert error.faults
    else:
        result = "read"
        assert_sound(model)
    return result, time.process_time() - start


def read_mutants(text: str, path: Path, count: int) -> str:
    counts, slowest = Counter(), 0.0
    for seed in range(count):
        try:
            result, seconds = outcome(path, mutant(text, seed))
        except BaseException as error:
            raise AssertionError(f"mutant {seed} of {path.suffix}: {error!r}") from error
        assert seconds <= MOST_SECONDS, f"mutant {seed} took {seconds:.1f} s"
        counts[result] += 1
        slowest = max(slowest, seconds)
    assert counts["read"] > 0.02 * count  # else the mutants would test the refusal of noise only
    assert counts["refused"] > 0.3 * count
    return (
        f"{path.suffix[1:]}: {count} mutants, {counts['read']} read, {counts['refused']} refused,"
        f" slowest {1e3 * slowest:.0f} ms"
    )


@pytest.mark.promise("F1")
@pytest.mark.parametrize(("suffix", "text"), [("urdf", URDF), ("toml", TOML)])
def test_mutants_are_read_or_refused(suffix, text, tmp_path, figure):
    figure("F1", read_mutants(text, tmp_path / f"mutant.{suffix}", MUTANTS))


@pytest.mark.full
@pytest.mark.promise("F1")
@pytest.mark.parametrize(("suffix", "text"), [("urdf", URDF), ("toml", TOML)])
def test_ten_thousand_mutants_are_read_or_refused(suffix, text, tmp_path, figure):
    figure("F1", read_mutants(text, tmp_path / f"mutant.{suffix}", 10_000))


@pytest.mark.promise("F1")
@pytest.mark.parametrize("name", [model.name for model in builtin_models()])
def test_mutants_of_built_in_models(name, tmp_path):
    text = next(model.path for model in builtin_models() if model.name == name).read_text("utf-8")
    for seed in range(max(5, MUTANTS // 40)):
        _, seconds = outcome(tmp_path / "m.toml", mutant(text, 10_000 + seed))
        assert seconds <= MOST_SECONDS


MIB = 2**20
# What takes time in proportion to its length is a quarter of what is admitted, to spare the tests.
ABSURD_TOML = {
    "a key of a million parts": "a." * (MIB // 2 - 1) + "a",
    "quoted key parts": '"a".' * (MIB // 4 - 1) + "a=1",
    "keys of many parts": "".join(f"a{i}." + "b." * 13 + "c=1\n" for i in range(MIB // 160)),
    "open brackets": "a=" + "[" * (MIB - 2),
    "open braces": "a=" + "{a=" * (MIB // 3 - 1),
    "unknown tables": "".join(f"[c{i}]\n" for i in range(MIB // 40)),
    "a hundred thousand joints": "[[joint]]\n" * (MIB // 10),
    "unknown keys": "".join(f"k{i}=1\n" for i in range(MIB // 40)),
    "digits": "gravity=[" + "1" * (MIB - 20) + "]",
    "hexadecimal digits": "gravity=[0x" + "f" * (MIB - 20) + "]",
    "a long list": "gravity=[" + "1," * (MIB // 8) + "]",
    "globs": 'format=1\nname="m"\n[[body]]\nname="' + "a" * 99 + 'b"\nmass=1\n'
    '[[sensor]]\nkind="gyro"\nrate=1\non="' + "*a" * 90 + '"\n',
    "a thousand wheels with a thousand sensors": 'format=1\nname="m"\n[[body]]\nname="b"\nmass=1\n'
    + "".join(f'[[wheel]]\nname="w{i}"\nbody="b"\naxis=[0,0,1]\ninertia=1\n' for i in range(1000))
    + '[[sensor]]\nkind="wheel_speed"\non="w*"\nrate=1\n' * 1000,
    "too large": "#" * (MIB + 1),
}


@pytest.mark.promise("F1")
@pytest.mark.parametrize("name", ABSURD_TOML)
def test_absurd_model_files_are_refused_in_time(name):
    start = time.process_time()
    with pytest.raises(ModelError):
        read_model_text(ABSURD_TOML[name])
    assert time.process_time() - start <= MOST_SECONDS / 2


LINK = '<link name="a"><inertial><mass value="1"/>'
LINK += '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
ABSURD_URDF = {
    "a million attributes": "<robot " + " ".join(f'a{i}="1"' for i in range(10**6)) + "/>",
    "a hundred attributes too many": "<robot " + " ".join(f'a{i}="1"' for i in range(201)) + "/>",
    "a hundred thousand elements": f'<robot name="r">{LINK}' + "<a/>" * 100_001 + "</robot>",
    "as many kinds of element": '<robot name="r">' + "".join(f"<t{i}/>" for i in range(9**5)),
    "ninety thousand links": '<robot name="r">' + '<link name="a"/>' * 90_000 + "</robot>",
    "unknown inertial elements": '<robot name="r"><link name="a"><inertial>'
    + "".join(f"<q{i}/>" for i in range(90_000))
    + "</inertial></link></robot>",
    "a long vector": '<robot name="r"><joint><origin xyz="'
    + "1 " * 500_000
    + '"/></joint></robot>',
    "a long number": '<robot name="r"><link name="a"><inertial><mass value="'
    + "1" * 900_000
    + '"/></inertial></link></robot>',
    "floating joints": '<robot name="r">'
    + "".join(f'<link name="a{i}"/>' for i in range(1000))
    + "".join(
        f'<joint name="j{i}" type="floating"><parent link="a0"/><child link="a{i}"/></joint>'
        for i in range(1, 1000)
    )
    + "</robot>",
}


@pytest.mark.promise("F1")
@pytest.mark.parametrize("name", ABSURD_URDF)
def test_absurd_urdfs_are_refused_in_time(name):
    start = time.process_time()
    with pytest.raises(ModelError):
        read_urdf(ABSURD_URDF[name])
    assert time.process_time() - start <= MOST_SECONDS


@pytest.mark.promise("F4")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f'<!DOCTYPE robot><robot name="r">{LINK}</robot>', "urdf.doctype"),
        (f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]><robot name="&l9;"/>', "urdf.doctype"),
        (
            '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/hostname">]><robot name="&e;"/>',
            "urdf.doctype",
        ),
        ('<!DOCTYPE r SYSTEM "http://localhost/x.dtd"><robot name="r"/>', "urdf.doctype"),
        ('<!DOCTYPE r [<!ENTITY % p SYSTEM "x"> %p;]><robot name="r"/>', "urdf.doctype"),
        ('<robot name="&unknown;"/>', "file.syntax"),
        ("<robot>" + "<a>" * MAX_DEPTH, "file.depth"),
        ("<robot>" + " " * URDF_FILE.max_bytes, "file.size"),
    ],
)
def test_dangerous_xml_is_refused(text, code):
    start = time.process_time()
    with refused(ModelError, code):
        read_urdf(text)
    assert time.process_time() - start < 1.0


def test_nesting_up_to_the_limit_is_read():
    inner = "<a>" * (MAX_DEPTH - 1) + "</a>" * (MAX_DEPTH - 1)
    assert read_urdf(f'<robot name="r">{LINK}{inner}</robot>').extras == (inner,)


@pytest.mark.promise("F4")
@pytest.mark.parametrize(
    "name",
    ["../secret.urdf", "sub/../../secret.urdf", "/tmp/secret.urdf", "..\\\\secret.urdf",
     "C:/secret.urdf", "\\\\\\\\host\\\\secret.urdf", "link.urdf", "folder/secret.urdf", "~/x.urdf",
     "", " ", ".", "a\\u0000b.urdf", "file:///tmp/secret.urdf", "loop.urdf", "x" * 150 + "/" + "y"],
)  # fmt: skip
def test_a_model_file_reaches_no_file_outside_its_folder(name, tmp_path):
    secret = tmp_path / "secret.urdf"
    secret.write_text(URDF)
    home = tmp_path / "home"
    home.mkdir()
    (home / "link.urdf").symlink_to(secret)
    (home / "loop.urdf").symlink_to(home / "loop.urdf")
    (home / "folder").symlink_to(tmp_path, target_is_directory=True)
    (home / "sub").mkdir()
    (home / "m.toml").write_text(f'format = 1\nname = "m"\nurdf = "{name}"\n', encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        load_model(home / "m.toml")
    assert len(caught.value.faults) == 1
    assert "sample" not in str(caught.value)


def test_a_file_below_the_folder_is_read(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "arm.urdf").write_text(URDF)
    (tmp_path / "near.urdf").symlink_to(tmp_path / "sub" / "arm.urdf")
    for name in ("sub/arm.urdf", "near.urdf"):
        (tmp_path / "m.toml").write_text(f'format = 1\nname = "m"\nurdf = "{name}"\n')
        assert len(load_model(tmp_path / "m.toml").bodies) == 4


@pytest.mark.promise("F4")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
@pytest.mark.parametrize("suffix", ["toml", "urdf"])
def test_pipes_and_devices_are_not_opened(suffix, tmp_path):
    pipe = tmp_path / f"pipe.{suffix}"
    os.mkfifo(pipe)
    with refused(ModelError, "file.unreadable"):
        load_model(pipe)
    endless = tmp_path / f"endless.{suffix}"
    endless.symlink_to("/dev/zero")
    with refused(ModelError, "file.unreadable"):
        load_model(endless)


@pytest.mark.promise("F4")
def test_large_files_are_refused_before_they_are_read(tmp_path):
    for kind in (MODEL_FILE, URDF_FILE):
        path = tmp_path / f"large{kind.suffix}"
        with path.open("wb") as file:
            file.truncate(kind.max_bytes + 1)  # a hole on the disk: nothing to read, but large
        with refused(ModelError, "file.size"):
            load_model(path)


@pytest.mark.promise("F6")
def test_nothing_is_unpickled(tmp_path, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something was unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    for suffix, text in (("toml", TOML), ("urdf", URDF)):
        path = tmp_path / f"m.{suffix}"
        path.write_text(text)
        model = load_model(path)
        model.save(path)
        assert load_model(path) == model
        path.write_bytes(pickle.dumps(model))
        with refused(ModelError, "file.encoding"):
            load_model(path)


@pytest.mark.promise("F6")
def test_the_readers_do_not_know_pickle():
    for path in sorted((Path(freefloat.__file__).parent / "model").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in getattr(node, "names", []) if hasattr(alias, "name")]
            names += [node.id] if isinstance(node, ast.Name) else []
            bad = {"pickle", "marshal", "shelve", "dill", "eval", "exec", "__import__"}
            assert not bad.intersection(names), path
