"""Every format is read back to the last bit from what its reference writer wrote."""

from __future__ import annotations

import numpy as np
import pytest
from documents import ROOT, blocks
from foreign_recordings import ANGLES, FORMATS, RATES, TIMES, write_recording, write_ros1
from scipy.io import savemat

from freefloat.errors import TelemetryError
from freefloat.notes import codes_of
from freefloat.records.toml_text import value_text
from freefloat.telemetry.recordings.import_telemetry import import_recording, open_recording
from freefloat.telemetry.recordings.map_fields import TIME_NAMES, FieldIndex
from freefloat.telemetry.recordings.recording_map import load_map, read_map_text
from freefloat.telemetry.recordings.source_recording import PUBLISHED, RECEIVED, STAMP


@pytest.mark.promise("R4")
@pytest.mark.parametrize("name", FORMATS)
def test_every_field_is_mapped_or_named(tmp_path, name, figure):
    path, _ = write_recording(name, tmp_path)
    streams = open_recording(path).streams
    index = FieldIndex(streams)
    first = next(n for n, place in index.places.items() if not place.field.what and "@" not in n
                 and not n.endswith((STAMP, *TIME_NAMES, "c1")))  # fmt: skip
    clock = '[time]\nclock = "c1"\n' if "c1" in index.places else ""  # a table without a header
    text = f'format = 1\n{clock}[[channel]]\nto = "rw.speed"\nfrom = {value_text(first)}\n'
    unmapped = import_recording(path, read_map_text(text)).unmapped
    named = {first, *(field for group in unmapped for field in index.find(group)), *unmapped}
    left = {n for n in index.places if n not in named}
    # what may stay unnamed is a time: of the file, of the message, or the clock that was used
    times = (RECEIVED, PUBLISHED, STAMP, *TIME_NAMES, "c1")
    assert all(n.endswith(times) for n in left), left
    figure("R4", f"{len(FORMATS)} formats, {len(index.places)} fields of {name} and the like")


@pytest.mark.promise("R3")
@pytest.mark.parametrize("name", FORMATS)
def test_a_recording_is_read_back_to_the_last_bit(tmp_path, name):
    path, map_path = write_recording(name, tmp_path)
    found = import_recording(path, map_path)
    flight = found.telemetry
    names = [*(f"base.rate.{axis}" for axis in "xyz"), "arm_1.position", "arm_2.position"]
    assert set(flight.names) == set(names)
    for channel, values in zip(names, np.column_stack([RATES, ANGLES]).T, strict=True):
        assert flight[channel].values.tobytes() == values.tobytes()
        assert np.abs(flight[channel].time - TIMES).max() <= FORMATS[name][3]
    assert not found.notes


def test_a_definition_that_does_not_match_its_hash_is_noted_and_read(tmp_path):
    path, map_path = tmp_path / "flight.bag", tmp_path / "map.toml"
    write_ros1(path, digest="0" * 32)
    map_path.write_text(FORMATS["ros1"][2])
    found = import_recording(path, map_path)
    assert codes_of(found.notes) == ("recording.definition",) * 2
    assert found.telemetry["base.rate.x"].values.tobytes() == RATES[:, 0].tobytes()


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ("uint64_t timestamp;double[2000000000] xyz;", "where a message"),
        ("gyro inner;", "nested too deeply"),
    ],
)
def test_a_ulog_whose_messages_cannot_be_is_refused_before_it_is_laid_out(tmp_path, fields, word):
    path, map_path = write_recording("ulog", tmp_path)
    data = path.read_bytes()
    old = b"gyro:uint64_t timestamp;double[3] xyz;double[2] q;"
    new = f"gyro:{fields}".encode()
    head = data.index(old) - 3
    size = len(new).to_bytes(2, "little")
    path.write_bytes(data[:head] + size + b"F" + new + data[head + 3 + len(old) :])
    with pytest.raises(TelemetryError, match=word):
        import_recording(path, map_path)


def test_a_matlab_file_of_elements_that_there_are_not_is_refused(tmp_path):
    path = tmp_path / "flight.mat"
    savemat(path, {"x": np.arange(9.0)})
    data = bytearray(path.read_bytes())
    at = data.rindex((9).to_bytes(4, "little") + (72).to_bytes(4, "little"))  # nine doubles
    data[at : at + 4] = (256).to_bytes(4, "little")
    path.write_bytes(data)
    (tmp_path / "map.toml").write_text(FORMATS["mat"][2])
    with pytest.raises(TelemetryError, match="type 256"):
        import_recording(path, tmp_path / "map.toml")


def test_a_map_in_the_documents_is_one():
    """The whole map of docs/recordings.md can be read."""
    found = [block.text for block in blocks(ROOT / "docs" / "recordings.md", "toml")]
    assert [len(read_map_text(text).entries) for text in found] == [5]


def test_a_real_satellite_needs_a_map_of_few_lines():
    """The map of the satellite on an air bearing; its recording is not part of the project."""
    path = ROOT / "benchmarks" / "air_bearing.toml"
    assert len(path.read_text().splitlines()) <= 40  # what a user would still write by hand
    assert len(load_map(path).entries) == 3
