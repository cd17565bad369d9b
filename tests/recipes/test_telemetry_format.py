"""Recipe: a telemetry format is one file in telemetry/readers. Here: formats/lines_.py."""

from __future__ import annotations

from pathlib import Path

import pytest

import freefloat as ff
from freefloat.telemetry import readers


@pytest.fixture
def with_lines(monkeypatch):
    """The folder of readers, as if formats/lines_.py lay in it."""
    monkeypatch.setattr(
        readers, "__path__", [*readers.__path__, str(Path(__file__).parent / "formats")]
    )
    readers._formats_here.cache_clear()
    yield
    readers._formats_here.cache_clear()


def test_a_file_of_the_new_format_is_read_in_si(with_lines, tmp_path):
    file = tmp_path / "flight.lines"
    file.write_text('["time [ms]", "base.rate.x [deg/s]"]\n[0, 180]\n[100, 90]\n')
    rate = ff.read_telemetry(file)["base.rate.x"]
    assert rate.unit == "rad/s" and rate.time.tolist() == [0.0, 0.1]
    assert rate.values == pytest.approx([3.14159265, 1.57079633])  # to the digits written here


def test_its_faults_have_codes(with_lines, tmp_path):
    file = tmp_path / "flight.lines"
    file.write_text('["base.rate.x [furlong]", "base.rate.y"]\n[0, 1]\n')
    with pytest.raises(ff.errors.TelemetryError) as raised:
        ff.read_telemetry(file)
    assert {fault.code for fault in raised.value.faults} >= {"channel.unit", "time.missing"}


@pytest.mark.parametrize("text", ["", "[1, 2", '["time [s]"]\n[0, 1, 2]\nnonsense\n', "{}\n[0]\n"])
def test_damaged_files_are_faults_of_the_file(with_lines, tmp_path, text):
    file = tmp_path / "flight.lines"
    file.write_text(text)
    with pytest.raises(ff.errors.TelemetryError) as raised:
        ff.read_telemetry(file)
    assert raised.value.faults
