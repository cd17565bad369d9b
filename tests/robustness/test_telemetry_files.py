"""Damaged and faulty telemetry files: read, or refused with a FreefloatError that helps.

FREEFLOAT_MUTANTS sets the number of mutants per format (200 normally, 10000 for the promise).
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from fault_codes import refused
from mutated_bytes import csv_mutant, parquet_mutant

from freefloat.errors import FreefloatError
from freefloat.telemetry import Telemetry, quality, read_telemetry
from freefloat.telemetry.readers.parquet_ import _check_sum

MUTANTS = int(os.environ.get("FREEFLOAT_MUTANTS", "200"))
LIMIT = 5.0  # [s] for one file


def recording() -> Telemetry:
    """A small recording with everything in it: two rates, invalid samples, noise, metadata."""
    rng = np.random.default_rng(3)
    fast, slow = np.arange(30) * 0.1, np.arange(6) * 0.5
    rates = {f"base.rate.{axis}": rng.normal(size=30) for axis in "xyz"}
    rates["base.rate.y"][7] = np.nan
    flight = Telemetry.from_arrays(
        fast,
        rates | {"elbow.position": np.sin(fast)},
        noise={"base.rate.x": 1e-5},
        metadata={"model": "servicer", "seed": "7", "remark": "two\nlines"},
    )
    tracker = {f"base.attitude.{axis}": rng.normal(size=6) for axis in "xyzw"}
    return flight.with_channels(*Telemetry.from_arrays(slow, tracker).channels.values())


def check_read(path: Path, original: Telemetry) -> str:
    """Read a file as the promise says: a Telemetry without false numbers, or a FreefloatError.

    Our Parquet files carry checksums of everything, so there what is read is what was written. A
    digit changed in a CSV file is another number, and nobody can tell; MCAP and MATLAB files have
    checksums of their values but not of all that names them.
    """
    start = time.perf_counter()
    try:
        telemetry = read_telemetry(path, truth=True)
    except FreefloatError as error:
        assert str(path) in str(error)
        outcome = "refused"
    else:
        assert str(telemetry) and quality(telemetry).summary  # whatever it is, it can be looked at
        for channel in telemetry.channels.values():
            assert np.isfinite(channel.time).all()
            assert np.isfinite(channel.values[channel.valid]).all()
            assert np.isnan(channel.values[~channel.valid]).all()
        assert path.suffix != ".parquet" or telemetry == original
        outcome = "read"
    assert time.perf_counter() - start < LIMIT
    return outcome


@pytest.mark.promise("F1")
@pytest.mark.parametrize(
    ("suffix", "mutant"),
    [
        (".csv", csv_mutant),
        (".parquet", parquet_mutant),
        (".mcap", parquet_mutant),
        (".mat", parquet_mutant),
    ],
    ids=["csv", "parquet", "mcap", "mat"],
)
def test_f1_mutants_are_read_or_refused(
    tmp_path: Path,
    figure: Callable[[str, str], None],
    suffix: str,
    mutant: Callable[[bytes, random.Random], bytes],
):
    path, original = tmp_path / f"flight{suffix}", recording()
    original.save(path)
    whole = path.read_bytes()
    outcomes = {"read": 0, "refused": 0}
    for seed in range(MUTANTS):
        path.write_bytes(mutant(whole, random.Random(seed)))
        try:
            outcomes[check_read(path, original)] += 1
        except Exception as error:
            raise AssertionError(f"mutant {seed} of {suffix}: {error!r}") from error
    figure(
        "F1",
        f"{MUTANTS} {suffix} mutants: {outcomes['read']} read, "
        f"{outcomes['refused']} refused, 0 other",
    )
    assert min(outcomes.values()) > 0  # otherwise the mutants are too tame or too wild


GOOD = "time [s],base.rate.x [rad/s],elbow.position [rad]"

# name: (text, place, value, expectation, remedy), each of which the message must show.
CSV_FAULTS = {
    "not a number": (
        f"{GOOD}\n0,1,2\n1,abc,2\n",
        "row 3, column 'base.rate.x [rad/s]'",
        "'abc', which is not a number",
        "a number, 'nan' for an invalid sample or an empty cell for none",
        "correct or empty the cell",
    ),
    "underscore": (f"{GOOD}\n0,1_000,2\n", "row 2", "'1_000'", "a number", "correct or empty"),
    "digits of another script": (f"{GOOD}\n0,١,2\n", "row 2", "'١'", "a number", "correct"),
    "decimal comma, semicolons": (
        "time [s];base.angle [rad]\n0;1,5\n",
        "row 2, column 'base.angle [rad]'",
        "'1,5' with a decimal comma",
        "a number",
        "write decimal points, 1.5 for 1,5",
    ),
    "decimal comma, commas": (
        "time [s],base.angle [rad]\n0,5,1,5\n",
        "row 2",
        "4 cells",
        "2 cells, as in the header in row 1",
        "if these are decimal commas, write decimal points",
    ),
    "row too short": (
        f"# a: b\n{GOOD}\n0,1,2\n1,2\n",
        "row 4",
        "2 cells",
        "3 cells, as in the header in row 2",
        "complete or remove the row",
    ),
    "no time in a row": (
        f"{GOOD}\n0,1,2\n,1,2\n",
        "row 3, column 'time [s]'",
        "an empty cell",
        "a finite time",
        "restore the time",
    ),
    "NaN time": (f"{GOOD}\nnan,1,2\n", "row 2, column 'time [s]'", "nan", "finite", "restore"),
    "time in nanoseconds": (
        f"{GOOD}\n1700000000000000000,1,2\n",
        "row 2, column 'time [s]'",
        "1700000000000000000",
        "at most 1e+12 s from zero",
        "correct its unit in the header",
    ),
    "no time column": (
        "t [s],base.rate.x [rad/s]\n0,1\n",
        "header",
        "columns 't', 'base.rate.x'",
        "a time column",
        "name the column with the time 'time [s]'",
    ),
    "column twice": (
        "time [s],base.angle [rad],base.angle [deg]\n0,1,2\n",
        "columns 2 and 3",
        "'base.angle' twice",
        "different names",
        "rename or remove one",
    ),
    "unknown unit": (
        "time [s],base.rate.x [furlong]\n0,1\n",
        "header, column 2 'base.rate.x [furlong]'",
        "unit 'furlong'",
        "a unit freefloat knows",
        "use one of: rad/s, deg/s",
    ),
    "unit of another quantity": (
        "time [s],base.rate.x [mm]\n0,1\n",
        "header, column 2 'base.rate.x [mm]'",
        "unit 'mm'",
        "rad/s, or a unit that converts to it",
        "correct the unit or rename the channel",
    ),
    "unknown name without unit": (
        "time [s],wing_strain\n0,1\n",
        "header, column 2 'wing_strain'",
        "no unit",
        "a unit, since the name is not a known quantity",
        "use one of: 1, s, rad",
    ),
    "time in metres": (
        "time [m],base.angle [rad]\n0,1\n",
        "header, column 1 'time [m]'",
        "unit 'm'",
        "a unit of time",
        "use one of: s, ms",
    ),
    "column without a name": (
        "time [s],,base.angle [rad]\n0,1,2\n",
        "header, column 2 ''",
        "it is empty",
        "a name such as 'base.rate.x'",
        "rename the column",
    ),
    "no labels": (
        "0.0,1.0\n0.1,2.0\n",
        "row 1",
        "0.0,1.0",
        "column labels before the numbers",
        "put a row such as 'time [s],base.rate.x [rad/s]' first",
    ),
    "labels only": (f"{GOOD}\n", "rows", "a header without samples", "at least one row", "again"),
    "time only": ("time [s]\n0\n", "header", "only a time column", "at least one", "add columns"),
    "comments only": ("# a: b\n", "header", "no row of column labels", "one", "begin with a row"),
    "noise of nothing": (
        f"# noise: base.rate.q 1e-5\n{GOOD}\n0,1,2\n",
        "row 1, noise of 'base.rate.q'",
        "no such column",
        "the name of a column",
        "correct the name",
    ),
    "noise that is none": (
        f"# noise: base.rate.x -1\n{GOOD}\n0,1,2\n",
        "row 1, noise",
        "'base.rate.x -1'",
        "a standard deviation >= 0",
        "# noise: base.rate.x 1e-5",
    ),
    "format of the future": (
        f"# format: freefloat telemetry 9\n{GOOD}\n0,1,2\n",
        "row 1",
        "format 'freefloat telemetry 9'",
        "'freefloat telemetry 1'",
        "a newer one",
    ),
    "empty": ("", "flight.csv", "an empty file", "a header and samples", "export it again"),
    "UTF-16": ("\ufefftime".encode("utf-16"), "flight.csv", "UTF-16", "UTF-8", "save it as UTF-8"),
    "Parquet": (b"PAR1\0\0", "flight.csv", "a Parquet file", "text", "suffix .parquet"),
    "Excel": (b"PK\x03\x04", "flight.csv", "Excel workbook", "text", "export it as CSV"),
    "binary": (bytes(range(256)), "flight.csv", "binary data", "text in UTF-8", "export it"),
    "Latin-1": (b"time [s],a.angle [\xb0]\n", "row 1", "byte 0xb0", "UTF-8", "save it as UTF-8"),
}


@pytest.mark.promise("F2")
@pytest.mark.parametrize("name", CSV_FAULTS)
def test_f2_csv_faults_are_explained(tmp_path: Path, name: str):
    text, *words = CSV_FAULTS[name]
    path = tmp_path / "flight.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FreefloatError) as caught:
        read_telemetry(path)
    message = str(caught.value)
    assert str(path) in message
    for word in words:
        assert word in message, f"{word!r} is missing in: {message}"


TIME = pa.array([0.0, 1.0])


def field(about: dict[str, str], name: str = "base.angle") -> pa.Table:
    schema = pa.schema([("time", pa.float64()), pa.field(name, pa.float64(), metadata=about)])
    return pa.table([TIME, TIME], schema=schema)


def rewritten(change: Callable[[pa.Table], pa.Table]) -> pa.Table:
    """What freefloat writes, changed by somebody."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "flight.parquet")
        Telemetry.from_arrays([0.0, 1.0], {"base.angle": [0.0, 1.0]}).save(path)
        return change(pyarrow.parquet.read_table(path))


def with_about(
    table: pa.Table, is_summed: bool = False, name: str = "base.angle", **changes: object
) -> pa.Table:
    about = json.loads(table.schema.metadata[b"freefloat"]) | changes
    table = table.rename_columns(["time", name])
    if is_summed:
        del about["check"]
        about["check"] = _check_sum(about)
    return table.replace_schema_metadata({"freefloat": json.dumps(about)})


PARQUET_FAULTS = {
    "text column": (
        pa.table({"time": TIME, "base.angle": ["a", "b"]}),
        "column 'base.angle'",
        "cells of type string",
        "numbers",
        "convert the column to float64",
    ),
    "nested column": (
        pa.table({"time": TIME, "base.angle": [[1.0], [2.0]]}),
        "column 'base.angle'",
        "cells of type list",
        "numbers",
        "convert the column",
    ),
    "calendar time": (
        pa.table({"time": pa.array([0, 1], pa.timestamp("ns")), "base.angle": TIME}),
        "column 'time'",
        "cells of type timestamp[ns]",
        "numbers",
        "write the time as seconds from the start",
    ),
    "null time": (
        pa.table({"time": pa.array([0.0, None]), "base.angle": TIME}),
        "row 2, column 'time'",
        "null",
        "a finite time",
        "restore the time",
    ),
    "infinite time": (
        pa.table({"time": pa.array([np.inf, 0.0]), "base.angle": TIME}),
        "row 1, column 'time'",
        "inf",
        "a finite time",
        "restore the time",
    ),
    "no time": (
        pa.table({"base.angle": TIME}),
        "header",
        "columns 'base.angle'",
        "a time column",
        "'time [s]'",
    ),
    "column twice": (
        pa.table([TIME, TIME, TIME], names=["time", "base.angle [deg]", "base.angle [rad]"]),
        "columns 2 and 3",
        "'base.angle' twice",
        "different names",
        "rename",
    ),
    "no rows": (
        pa.table({"time": pa.array([], pa.float64()), "base.angle": pa.array([], pa.float64())}),
        "flight.parquet",
        "a table without rows",
        "at least one row",
        "export it again",
    ),
    "unknown unit": (field({"unit": "cubit"}), "'base.angle [cubit]'", "'cubit'", "a unit", "use"),
    "bad noise": (
        field({"unit": "rad", "noise": "-3"}),
        "column 'base.angle [rad]', noise",
        "-3",
        "a standard deviation >= 0",
        "correct or remove",
    ),
    "bad name": (
        field({"unit": "rad"}, "a?b"),
        "header, column 2 'a?b [rad]'",
        "it holds '?'",
        "a name such as",
        "rename the column",
    ),
    "bad metadata": (
        pa.table({"time": TIME, "base.angle": TIME}).replace_schema_metadata({"freefloat": "{"}),
        "metadata 'freefloat'",
        "{",
        "the JSON freefloat wrote",
        "remove the metadata",
    ),
    "renamed column": (
        rewritten(lambda table: with_about(table, name="base.heading")),
        "column 'base.heading'",
        "a name, unit or noise not as written",
        "one of time, base.angle",
        "if it was changed on purpose, remove the metadata 'freefloat'",
    ),
    "changed metadata": (
        rewritten(lambda table: with_about(table, metadata={"seed": "8"})),
        "metadata 'freefloat'",
        "format",
        "the JSON freefloat wrote",
        "fetch the file again",
    ),
    "format of the future": (
        rewritten(lambda table: with_about(table, True, format="freefloat telemetry 2")),
        "metadata 'freefloat', format",
        "'freefloat telemetry 2'",
        "'freefloat telemetry 1'",
        "newer freefloat",
    ),
}


@pytest.mark.promise("F2")
@pytest.mark.parametrize("name", PARQUET_FAULTS)
def test_f2_parquet_faults_are_explained(tmp_path: Path, name: str):
    table, *words = PARQUET_FAULTS[name]
    path = tmp_path / "flight.parquet"
    pyarrow.parquet.write_table(table, path)
    with pytest.raises(FreefloatError) as caught:
        read_telemetry(path)
    message = str(caught.value)
    assert str(path) in message
    for word in words:
        assert word in message, f"{word!r} is missing in: {message}"


@pytest.mark.promise("F2")
def test_f2_files_that_are_not_there_or_not_parquet_are_explained(tmp_path: Path):
    with refused(FreefloatError, "file.missing"):
        read_telemetry(tmp_path / "flight.parquet")
    (tmp_path / "flight.parquet").write_text("time [s],base.angle [rad]\n0,1\n")
    with refused(FreefloatError, "file.damaged") as caught:
        read_telemetry(tmp_path / "flight.parquet")
    assert "ArrowInvalid" not in str(caught.value)


@pytest.mark.promise("F3")
def test_f3_all_faults_are_reported_at_once(tmp_path: Path):
    path = tmp_path / "flight.csv"
    rows = [f"{n},x{n},1" for n in range(30)]
    path.write_text("time [s],base.rate.x [mm],mystery\n" + "\n".join(rows) + "\n5,6\n")
    with pytest.raises(FreefloatError) as caught:
        read_telemetry(path)
    assert "33 faults" in caught.value.message and len(caught.value.faults) == 20
    assert set(caught.value.codes) == {"channel.unit", "cell.number"}
    assert caught.value.codes.count("channel.unit") == 2
    assert [fault.line for fault in caught.value.faults[2:]] == list(range(2, 20))


def test_a_file_that_is_all_wrong_is_given_up_early(tmp_path: Path):
    path = tmp_path / "flight.csv"
    path.write_bytes(b"time [s];base.angle [rad]\n" + b"0,5;1,5\n" * 300_000)
    start = time.perf_counter()
    with pytest.raises(FreefloatError) as caught:
        read_telemetry(path)
    assert set(caught.value.codes) == {"cell.decimal_comma"} and " 1000 " in caught.value.message
    assert time.perf_counter() - start < LIMIT
