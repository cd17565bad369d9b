"""Results are those of the golden records, and the tool that compares them sees what changed.

After a change that is meant to change results, `make golden` writes the records anew; look at the
difference before you keep it. Sentences are recorded too, but may be reworded freely.
"""

from __future__ import annotations

import json
import sys
from fnmatch import fnmatchcase

import pytest
from documents import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import golden
import golden_cases
from golden_compare import Renames, compare_all, compare_case, report
from golden_record import file_of, read_records, record_of, write_record

FOLDER = ROOT / "tests" / "golden"
KEPT = read_records(FOLDER)
CASES = {case.name: case for case in golden_cases.all_cases()}

# On one machine with one set of libraries results are the same to the last bit, and `compare`
# without a tolerance checks that. Another processor or BLAS adds in another order: with OpenBLAS
# held to SSE and NumPy without AVX, numbers moved by at most 1.1e-8 of their magnitude or standard
# deviation, whichever is larger (angular and modified-rls-force, whose data hardly show some
# parameters); most moved by less than 1e-10. A mistake in an equation moves them by far more.
ROUNDING = 1e-7
# A search stops once a step lowers the cost by less than 1e-8 of it (`SearchOptions.tolerance`),
# which is sqrt(2e-8 cost), some thousandths of a standard deviation: with another rounding it may
# take one step more or less. With OpenBLAS's kernels for AVX-512 in place of those for Haswell
# (OPENBLAS_CORETYPE) it moved by 1.4e-5; where it took the same steps, by 5e-11.
CONVERGED = 1e-4
ITERATIVE = ("*/output_error/*", "*/kalman", "validate/*")


def tolerance_of(case: str) -> float:
    """How far a result may be off, relative to its magnitude or standard deviation."""
    return CONVERGED if any(fnmatchcase(case, glob) for glob in ITERATIVE) else ROUNDING


def test_the_records_are_those_of_the_list():
    listed = (FOLDER / "cases.txt").read_text(encoding="utf-8").split()
    assert sorted(listed) == sorted(KEPT) and set(listed) <= set(CASES)


@pytest.mark.parametrize("case", sorted(KEPT))
def test_results_are_as_recorded(case):
    now = record_of(CASES[case].content())
    found = compare_case(case, KEPT[case], now, tolerance=tolerance_of(case))
    # Words are not compared: a sentence may be put better while everything stays as it is.
    assert found.fate != "numbers differ", report([found], words=False)


OLD = {
    "numbers": {
        "method": "momentum",
        "estimates/target.mass/value": 250.0,
        "estimates/target.mass/std": 2.0,
        "counts/taken": 10,
    },
    "words": {"status": "All is well."},
}  # fmt: skip


def changed(part: str, **values: object) -> dict:
    """The record with other values, by the last word of their paths."""
    ends = {path: path.rpartition("/")[2] for path in OLD[part]}
    return {**OLD, part: {path: values.get(ends[path], OLD[part][path]) for path in OLD[part]}}


@pytest.mark.parametrize(
    ("new", "tolerance", "fate", "told"),
    [
        (OLD, 0.0, "identical", "1 identical"),
        (changed("words", status="Fine."), 0.0, "words changed", "status: 'All is well.'"),
        (changed("numbers", value=250.0000001), 0.0, "numbers differ", "target.mass, value: 250.0"),
        (changed("numbers", value=250.0000001), 1e-9, "within tolerance", "4e-10 of its scale"),
        (changed("numbers", value=250.1), 1e-9, "numbers differ", "0.0004 of its scale"),
        (changed("numbers", value=None), 1e-9, "numbers differ", "-> None"),
        (changed("numbers", taken=11), 0.5, "numbers differ", "counts, taken: 10 -> 11"),
        (changed("numbers", method="weak"), 0.5, "numbers differ", "'momentum' -> 'weak'"),
        ({**OLD, "numbers": {}}, 0.5, "numbers differ", "-> 'nothing'"),
    ],
)
def test_a_comparison_says_what_changed(new, tolerance, fate, told):
    found = compare_case("a case", OLD, new, tolerance=tolerance)
    assert found.fate == fate and told in report([found], words=True)


def test_cases_that_come_and_go_are_told():
    found = compare_all({"a": OLD, "b": OLD}, {"b": OLD, "c": OLD}, renames=Renames(), tolerance=0)
    assert [one.fate for one in found] == ["missing", "identical", "new"]


def test_renamed_fields_and_values_are_still_compared():
    new = {
        **OLD,
        "numbers": {
            path.replace("estimates", "parameters").replace("taken", "used"): (
                "impulse" if value == "momentum" else value
            )
            for path, value in OLD["numbers"].items()
        },
    }
    keys = {"estimates": "parameters", "counts/taken": "counts/used"}
    renames = Renames(keys, {"momentum": "impulse"})
    found = compare_all({"x/momentum": OLD}, {"x/impulse": new}, renames=renames, tolerance=0.0)
    assert [one.fate for one in found] == ["identical"]


def test_records_keep_every_bit(tmp_path):
    content = {
        "parts": [{"name": "bus", "mass": 0.1 + 0.2, "std": float("nan"), "note": ""}],
        "long": [k / 7 for k in range(100)],
        "flags": [True, False],
        "provenance": {"created": "today"},
        "status": "A sentence.",
    }
    record = record_of(content)
    assert record["numbers"]["parts/bus/mass"] == 0.1 + 0.2
    assert record["words"] == {"status": "A sentence."}
    path = file_of(tmp_path, "a/case")
    write_record(path, "a/case", record)
    assert read_records(tmp_path) == {"a/case": json.loads(json.dumps(record))}
    content["long"][50] *= 1 + 1e-15
    shifted = record_of(content)
    assert compare_case("", record, shifted, tolerance=0.0).fate == "numbers differ"
    assert compare_case("", record, shifted, tolerance=1e-12).fate == "within tolerance"


def test_the_command_exits_with_1_where_numbers_differ(tmp_path, capsys):
    for name, record in {"old": OLD, "new": changed("numbers", value=251.0)}.items():
        (tmp_path / name).mkdir()
        write_record(file_of(tmp_path / name, "x"), "x", record)
    folders = [str(tmp_path / "old"), str(tmp_path / "new")]
    assert golden.main(["compare", *folders]) == 1
    assert "target.mass" in capsys.readouterr().out
    assert golden.main(["compare", *folders, "--tolerance", "0.01"]) == 0
    assert golden.main(["compare", folders[0], folders[0]]) == 0
