"""A Verdict comes back bit for bit, shows itself in 80 columns, and damaged files are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from fault_codes import refused
from validation_flights import planar_fit, planar_flight

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.validation.verdict import read_verdict_text


@pytest.fixture(scope="module")
def verdict() -> ff.Verdict:
    return ff.validate(planar_fit(), planar_flight(2))


def test_a_file_gives_the_same_bits_back(verdict, tmp_path):
    verdict.save(tmp_path / "verdict.json")
    again = ff.load_verdict(tmp_path / "verdict.json")
    assert again == verdict and again.to_json() == verdict.to_json()
    assert again.status_code == "predicts" and again.criteria[0].code == verdict.criteria[0].code
    assert again.traces[0].time.tobytes() == verdict.traces[0].time.tobytes()
    assert not again.traces[0].time.flags.writeable


def test_it_shows_itself_in_80_columns(verdict):
    lines = str(verdict).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("planar-capture: ") and verdict.status_code == "predicts"
    for name in [c.name for c in verdict.criteria] + [s.channel for s in verdict.scores]:
        assert any(name in line for line in lines), name


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("format", "freefloat fit", "file.format"),
        ("version", 2, "file.version"),
        ("is_positive", "yes", "value.type"),
        ("scores", [{"channel": 3}], "value.type"),
        ("traces", "none", "value.type"),
        ("criteria", [7], "value.type"),
        ("extra", 1, "key.unknown"),
    ],
)
def test_damaged_files_are_refused_with_the_place(verdict, key, value, code):
    content = json.loads(verdict.to_json())
    content[key] = value
    with pytest.raises(IdentificationError) as caught:
        read_verdict_text(json.dumps(content))
    assert any(fault.code == code and key in fault.place for fault in caught.value.faults)


def test_other_files_are_refused(tmp_path, verdict):
    with refused(IdentificationError, "file.suffix"):
        verdict.save(tmp_path / "verdict.txt")
    (tmp_path / "no.json").write_text("[]")
    with refused(IdentificationError, "file.syntax"):
        ff.load_verdict(tmp_path / "no.json")


def test_an_unknown_criterion_names_those_there_are(verdict):
    with refused(IdentificationError, "name.unknown", naming="prediction, residuals"):
        verdict["beauty"]
    with refused(IdentificationError, "name.unknown", naming="'momentum'"):
        verdict["momentun"]


def test_damage_anywhere_is_read_or_refused(verdict):
    """A short run of F1 for this format: no other error, whatever a byte becomes."""
    text = verdict.to_json()
    text = text[: text.index('"whiteness"')] + '"whiteness": [],"spectra": [],"traces": [],'
    text += '"quality": [],"notes": [],"provenance": {}}'
    assert read_verdict_text(text).is_positive
    rng = np.random.default_rng(0)
    outcomes = set()
    for _ in range(300):
        place, new = int(rng.integers(len(text))), chr(int(rng.integers(32, 127)))
        mutant = text[:place] + new + text[place + int(rng.integers(0, 3)) :]
        try:
            str(read_verdict_text(mutant))
            outcomes.add("read")
        except IdentificationError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}
