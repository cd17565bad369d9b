"""The Fit shows itself within 80 columns, and comes back from disk bit for bit or not at all."""

from __future__ import annotations

import json
import random
import re
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from fault_codes import refused
from fit_samples import NAN, estimates, sample_fit
from hypothesis import given
from hypothesis import strategies as st

import freefloat as ff
from freefloat.digits import with_uncertainty
from freefloat.errors import FreefloatError, IdentificationError
from freefloat.identification.assessment import Assessment
from freefloat.identification.fit import (
    FIT_FILE,
    Estimate,
    Fit,
    FittedCombination,
    Residual,
    load_fit,
)
from freefloat.identification.fit_text import ASSESS, GRADE_WORDS, UNASSESSED, deviation_words
from freefloat.notes import Note, codes_of
from freefloat.parameters.parameters import Parameters

MUTANTS = 200
NUMBERS = ["heavy", "1,5", "NaN", "Infinity", "-1e400", "-1", "", "true", '"1"', "[]", "{}", "null"]
NUMBERS += ["1" * 400, "1" * 5000, "0x10", "1e-400", '"inf"', "-0"]
TOKENS = ['"', "[", "]", "{", "}", ",", ":", "\0", "[" * 3000, '{"a":' * 3000, "\\u0000", "\\ud800"]


@pytest.fixture(scope="module")
def fit() -> Fit:
    return sample_fit()


# -- on disk ---------------------------------------------------------------------------------------


def bits(fit: Fit) -> list[bytes]:
    """Every number of a fit as bytes: -0.0 is not 0.0."""
    numbers = [n for e in fit.estimates for n in (e.value, e.std, e.prior, *(e.interval95 or ()))]
    numbers += [n for c in fit.combinations for n in (c.value, c.std, *(c.interval95 or ()))]
    numbers += [n for r in fit.residuals for n in (r.rms, r.rms_raw)]
    numbers += fit.adjusted.values()
    return [np.array(numbers).tobytes(), fit.covariance.tobytes()]


def test_what_is_saved_comes_back_bit_for_bit(fit, tmp_path):
    fit.save(tmp_path / "fit.json")
    for read in (load_fit(tmp_path / "fit.json"), Fit.load(tmp_path / "fit.json")):
        assert read == fit and bits(read) == bits(fit)
        assert read.model == fit.model and read.prior_model == fit.prior_model
        assert read.to_json() == fit.to_json()
    assert Fit.from_json(fit.to_json()) == fit
    assert [path.name for path in tmp_path.iterdir()] == ["fit.json"]


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.one_of(st.just(NAN), st.floats(min_value=0.0)),
    st.text(max_size=20),
)
def test_any_number_and_any_text_comes_back(value, std, text):
    one = Estimate("bus.mass", text, value, std, None, "seen", value, note=text)
    fit = sample_fit(estimates=(one,), covariance=[[std]], notes=(text,), status=text)
    read = Fit.from_json(fit.to_json())
    assert read == fit and bits(read) == bits(fit)


def test_numbers_of_numpy_and_no_estimates_are_fine(fit):
    numpy_one = Estimate("bus.mass", "kg", np.float64(1 / 3), np.float64(0.1), None, "seen", 0)
    of_numpy = sample_fit(estimates=[numpy_one], covariance=np.array([[0.01]]))
    assert type(of_numpy["bus.mass"].value) is float and type(of_numpy["bus.mass"].prior) is float
    empty = sample_fit(estimates=(), covariance=np.zeros((0, 0)), residuals=(), combinations=())
    for made in (of_numpy, empty):
        assert Fit.from_json(made.to_json()) == made
        assert str(made)


def test_fits_that_differ_are_not_equal(fit):
    assert fit != replace(fit, covariance=fit.covariance * 2.0)
    assert fit != replace(fit, scale="other") and fit != replace(fit, model=fit.prior_model)
    positive = replace(fit.estimates[1], value=0.0)  # was -0.0
    assert fit != replace(fit, estimates=(fit.estimates[0], positive, *fit.estimates[2:]))
    assert fit != "fit"


def spoilt(fit: Fit, **changes: object) -> str:
    raw = json.loads(fit.to_json())
    return json.dumps({key: value for key, value in (raw | changes).items() if value is not ...})


# What is changed in a sound file, where the fault is, and its code.
FAULTS = {
    "another format": ({"format": "plan"}, "format", "file.format"),
    "no format": ({"format": ...}, "format", "file.format"),
    "a later version": ({"version": 2}, "version", "file.version"),
    "no model": ({"model": ...}, "model", "key.missing"),
    "a model that is none": ({"model": "mass = heavy"}, "model", "file.syntax"),
    "an empty model": ({"prior_model": ""}, "prior_model: format", "key.missing"),
    "a model that is a number": ({"model": 3}, "model", "value.type"),
    "a model that reaches out": ({"model": 'format=1\nurdf="a.urdf"'}, "urdf", "file.outside"),
    "an unknown key": ({"statsu": "fine"}, "statsu", "key.unknown"),
    "a missing key": ({"covariance": ...}, "covariance", "key.missing"),
    "a flag that is a word": ({"is_trustworthy": "yes"}, "is_trustworthy", "value.type"),
    "a matrix with a gap": ({"covariance": [[1.0], [1.0, 2.0]]}, "covariance", "value.count"),
    "a matrix too small": ({"covariance": [[1.0]]}, "covariance", "value.count"),
    "a matrix of words": ({"covariance": [["a"]]}, "covariance[0][0]", "value.type"),
    "a list that is none": ({"notes": "all"}, "notes", "value.type"),
    "a note that is none": ({"notes": [3]}, "notes[0]", "value.type"),
    "a code without a text": ({"notes": [{"code": "a.b"}]}, "notes[0]", "value.type"),
    "an estimate that is none": ({"estimates": [3]}, "estimates[0]", "value.type"),
    "no list of estimates": ({"estimates": {}}, "estimates", "value.type"),
    "provenance with a number": ({"provenance": {"seed": 3}}, "provenance.seed", "value.type"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_has_its_place_and_code(case, fit):
    changes, place, code = FAULTS[case]
    with pytest.raises(IdentificationError) as caught:
        Fit.from_json(spoilt(fit, **changes))
    assert any(fault.code == code and place in fault.place for fault in caught.value.faults)
    assert all(fault.expected and fault.remedy for fault in caught.value.faults)


def test_a_misspelt_key_is_guessed(fit):
    with refused(IdentificationError, "key.unknown", naming="'status'"):
        Fit.from_json(spoilt(fit, statsu="fine"))


PART_FAULTS = [
    ("estimates", {"status": "sure"}, "value.choice"),
    ("estimates", {"std": -1.0}, "value.range"),
    ("estimates", {"std": "wide"}, "value.type"),
    ("estimates", {"value": True}, "value.type"),
    ("estimates", {"interval95": [2.0, 1.0]}, "value.order"),
    ("estimates", {"interval95": [1.0]}, "value.count"),
    ("estimates", {"unit": ...}, "key.missing"),
    ("estimates", {"colour": "red"}, "key.unknown"),
    ("combinations", {"std": -1.0}, "value.range"),
    ("residuals", {"n": -1}, "value.type"),
    ("residuals", {"n": 1.5}, "value.type"),
]


@pytest.mark.parametrize(("section", "changes", "code"), PART_FAULTS)
def test_a_fault_of_a_part_has_its_place(section, changes, code, fit):
    parts = json.loads(fit.to_json())[section]
    parts[0] = {k: v for k, v in (parts[0] | changes).items() if v is not ...}
    with pytest.raises(IdentificationError) as caught:
        Fit.from_json(spoilt(fit, **{section: parts}))
    assert caught.value.codes == (code,)
    (key,) = changes
    assert caught.value.faults[0].place == f"JSON text: {section}[0].{key}"


def test_two_estimates_of_one_name_are_refused(fit):
    parts = json.loads(fit.to_json())["estimates"]
    parts[0]["name"] = "bus.mx"
    with refused(IdentificationError, "name.duplicate"):
        Fit.from_json(spoilt(fit, estimates=parts))


def test_codes_of_notes_are_kept(fit):
    coded = replace(fit, notes=(Note("rows.dropped", "3 rows dropped"), "a plain sentence"))
    read = Fit.from_json(coded.to_json())
    assert read == coded and codes_of(read.notes) == ("rows.dropped",)


def test_every_fault_is_told_at_once(fit):
    text = spoilt(fit, status=1, notes=[2], provenance=3, is_trustworthy=4)
    with pytest.raises(IdentificationError) as caught:
        Fit.from_json(text)
    assert len(caught.value.faults) == 4


@pytest.mark.parametrize("text", ["", "[]", "3", "null", "{", '{"a": 1, "a": 2}', "[" * 10**5])
def test_what_is_no_json_object_is_refused(text):
    with pytest.raises(IdentificationError) as caught:
        Fit.from_json(text)
    assert caught.value.codes in (("file.syntax",), ("file.depth",))


def test_files_that_are_none_are_refused(fit, tmp_path):
    with refused(IdentificationError, "file.suffix"):
        fit.save(tmp_path / "fit.txt")
    with refused(IdentificationError, "file.unreadable"):
        load_fit(tmp_path / "missing.json")
    (tmp_path / "folder.json").mkdir()
    with refused(IdentificationError, "file.unreadable"):
        load_fit(tmp_path / "folder.json")
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(FIT_FILE.max_bytes + 1)  # a hole on the disk: nothing to read, but large
    with refused(IdentificationError, "file.size"):
        load_fit(tmp_path / "large.json")
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xe9"}')
    with refused(IdentificationError, "file.encoding"):
        load_fit(tmp_path / "latin.json")


def mutant(text: str, chance: random.Random) -> bytes:
    """The text of a fit file with something done to it."""
    data = bytearray(text.encode())
    there = chance.randrange(len(data))
    kind = chance.choice(["flip", "flip", "cut", "number", "number", "token", "line", "word"])
    if kind == "flip":
        for _ in range(chance.choice([1, 1, 3, 20])):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        return bytes(data)
    if kind == "cut":
        return bytes(chance.choice([data[:there], data[there:], data[:there] + data[there + 60 :]]))
    if kind == "token":
        return (text[:there] + chance.choice(TOKENS) + text[there:]).encode("utf-8", "replace")
    pattern = {"number": r"-?\d+(\.\d+)?(e-?\d+)?|null", "line": r"[^\n]*\n", "word": r"[a-z_]{3,}"}
    start, end = chance.choice([m.span() for m in re.finditer(pattern[kind], text)])
    part = {"number": chance.choice(NUMBERS), "line": text[start:end] * 2, "word": "nothing"}
    swap = chance.choice(["", part[kind]]) if kind == "line" else part[kind]
    return (text[:start] + swap + text[end:]).encode()


def test_mutants_are_read_or_refused(fit, tmp_path):
    outcomes = {"read": 0, "refused": 0}
    path = tmp_path / "mutant.json"
    for seed in range(MUTANTS):
        path.write_bytes(mutant(fit.to_json(), random.Random(seed)))
        try:
            read = load_fit(path)
        except FreefloatError as error:
            assert str(error) and error.faults
            outcomes["refused"] += 1
        else:
            assert Fit.from_json(read.to_json()) == read
            assert max(map(len, str(read).splitlines())) <= 80 and read._repr_html_()
            outcomes["read"] += 1
    assert outcomes["refused"] > MUTANTS / 4 and outcomes["read"] > 0


# -- in Python -------------------------------------------------------------------------------------


def test_estimates_by_name(fit):
    assert fit["bus.mass"].std == 2.14
    assert list(fit.values) == [e.name for e in estimates()]
    assert fit.values["target.mass"] == 0.1 + 0.2
    with refused(IdentificationError, "name.unknown", naming="bus.mass"):
        fit["bus.mas"]


def test_a_fit_is_frozen(fit):
    with pytest.raises(FrozenInstanceError):
        fit.method = "other"
    with pytest.raises(ValueError, match="read-only"):
        fit.covariance[0, 0] = 1.0
    assert all(part in repr(fit) for part in ("'cepheus'", fit.method, "6"))


def test_what_cannot_be_is_refused():
    with refused(IdentificationError, "value.count", naming="(6, 6)"):
        sample_fit(covariance=np.eye(2))
    with refused(IdentificationError, "name.duplicate"):
        sample_fit(estimates=(estimates()[0],) * 2, covariance=np.eye(2))
    with refused(IdentificationError, "value.range"):
        FittedCombination("a + b", "kg", 1.0, -1.0)


def test_the_public_names():
    assert ff.Fit is Fit and ff.load_fit is load_fit and ff.Parameters is Parameters
    model = ff.load_model("cepheus")
    assert ff.Parameters(model) == Parameters.of(model)
    assert ff.Parameters(model).free("bus.mass").names == ("bus.mass",)


# -- on screen -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "std", "shown"),
    [
        (1237.4321, 2.14, ("1237.4", "2.1")),
        (0.123456, 0.000999, ("0.1235", "0.0010")),
        (12346.0, 213.0, ("12350", "210")),
        (0.001, 5.0, ("0.0", "5.0")),
        (-1.2e-7, 3.1e-9, ("-1.200e-07", "3.1e-09")),
        (4.56e12, 7.8e9, ("4.5600e+12", "7.8e+09")),
        (0.0, 3e-9, ("0.0e-09", "3.0e-09")),
        (3.0, 0.0, ("3", "0")),
        (1 / 3, NAN, ("0.33333", "-")),
        (1 / 3, 1e-15, ("0.3333333333", "1.0e-15")),
        (NAN, NAN, ("-", "-")),
        (NAN, 1.0, ("-", "1")),
        (5e-324, 5e-324, ("4.9e-324", "4.9e-324")),
    ],
)
def test_the_uncertainty_chooses_the_digits(value, std, shown):
    assert with_uncertainty(value, std) == shown


@given(st.floats(-1e5, 1e5), st.floats(1e-3, 1e3))
def test_no_digit_is_lost_that_means_anything(value, std):
    shown, spread = with_uncertainty(value, std)
    assert abs(float(spread) - std) <= 0.051 * std  # two digits of it
    assert abs(float(shown) - value) <= 0.051 * std  # half a unit of the second digit


def test_the_first_screen_has_verdict_and_values(fit):
    first, second, *rest = str(fit).splitlines()
    assert first.startswith("cepheus: ") and second.startswith(fit.status[:20])
    table = "\n".join(rest[:16])
    assert re.search(r"^bus.mass +902.3 +2.1 +kg +900 +seen$", table, re.MULTILINE)
    assert re.search(r"^bus.ixx +612.3 +- +kg m\^2 +600 +only in combination$", table, re.MULTILINE)
    assert re.search(r"^bus.iyy .* - .* invisible$", table, re.MULTILINE)
    assert re.search(r"fixed: +target\.mass", table)
    for part in ("12.35 ± 0.12 kg m^2 = bus.izz + 2 arm_1.mass", "bus.mass trades", "fixes the sc"):
        assert part in str(fit)
    assert "0 .. inf N m s/rad" in str(fit) and "barely seen" in str(fit)
    assert str(replace(fit, is_trustworthy=False)).splitlines()[0] != first


def test_a_fit_that_was_not_assessed_says_so(fit):
    assert fit.assessment is None and fit.grade == "not assessed" and "not assessed" in repr(fit)
    assert str(fit).splitlines()[0].endswith(GRADE_WORDS["not assessed"])
    told = " ".join(str(fit).split()).lower()
    assert ASSESS[:20] in told and UNASSESSED[5:20] in fit._repr_html_()
    doubted = replace(fit, is_trustworthy=False)
    assert doubted.grade == "not trusted" and ASSESS[:20] not in str(doubted).lower()
    graded = replace(fit, assessment=Assessment("trusted"))
    assert graded.grade == "trusted" and ASSESS[:20] not in str(graded).lower()


def test_what_a_deviation_means_is_said_where_assumptions_were_adjusted(fit):
    assert fit.adjusted
    for shown in (" ".join(str(fit).split()), fit._repr_html_()):
        assert deviation_words(fit) in shown
    plain = replace(fit, adjusted={})
    assert deviation_words(plain) != deviation_words(fit)
    assert deviation_words(fit) not in " ".join(str(plain).split())


def test_shown_intervals_are_the_total_ones_where_they_are_known():
    statistical = Estimate("bus.mass", "kg", 10.0, 0.1, (9.8, 10.2), "seen", 9.0)
    assert statistical.total_interval95 is None and statistical.widest95 == ((9.8, 10.2), 0.1)
    known = replace(statistical, total_std=0.5)
    assert known.total_interval95 == pytest.approx((9.02, 10.98), abs=1e-3)
    assert known.widest95 == (known.total_interval95, 0.5)
    assert replace(known, interval95=None, std=NAN).total_interval95 is None


names = st.text(st.characters(codec="utf-8"), max_size=150)
wild = st.floats(allow_nan=True, allow_infinity=True)
spreads = st.one_of(st.just(NAN), st.floats(min_value=0.0))


@given(st.lists(st.tuples(names, names, wild, spreads, wild), max_size=5, unique_by=lambda e: e[0]))
def test_eighty_columns_are_enough_for_anything(rows):
    found = [
        Estimate(name, unit, value, std, None, "only in combination", prior, note=unit)
        for name, unit, value, std, prior in rows
    ]
    fit = sample_fit(
        estimates=found,
        covariance=np.zeros((len(found), len(found))),
        combinations=[FittedCombination(name, unit, v, s) for name, unit, v, s, _ in rows],
        residuals=[Residual(name, unit, 10**9, v, p) for name, unit, v, _, p in rows],
        notes=[unit for _, unit, *_ in rows],
        trades=[name for name, *_ in rows],
    )
    assert max(map(len, str(fit).splitlines())) <= 80
    assert str(fit).replace("\n", "").isprintable()


def test_a_hundred_fixed_parameters_do_not_hide_the_others():
    fixed = [Estimate(f"link_{i}.mass", "kg", 1.0, NAN, None, "fixed", 1.0) for i in range(100)]
    fit = sample_fit(estimates=[*estimates(), *fixed], covariance=np.full((106, 106), NAN))
    assert "and 97 others" in str(fit) and len(str(fit).splitlines()) < 40


def test_html_takes_no_text_for_markup():
    evil = '<script>alert(1)</script>&"'
    one = Estimate(evil, evil, 1.0, 0.1, (0.8, 1.2), "seen", 1.0, note=evil)
    fit = sample_fit(
        estimates=(one,), covariance=[[0.01]], notes=(evil,), status=evil, scale=evil, reason=evil,
        combinations=(FittedCombination(evil, evil, 1.0, 0.1),), trades=(evil,), method=evil,
    )  # fmt: skip
    shown = fit._repr_html_()
    assert "<script" not in shown and "&lt;script&gt;" in shown
    assert not re.search(r"https?:|src=|href=|url\(", shown)
    assert set(re.findall(r"<(\w+)", shown)) <= {
        "div",
        "b",
        "p",
        "table",
        "tr",
        "th",
        "td",
        "ul",
        "li",
    }
