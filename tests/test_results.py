"""Documents say what results/ has, and a number that nobody measured or stated turns red."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import shutil
from pathlib import Path

import credibility
import pytest
import results
import results_documents
import results_stated as stated
import results_store as store
from documents import ROOT
from results_figures import Figure, NoFigure, in_print, load_figures, text_of
from results_pieces import Piece, find_pieces, find_states

STORED = store.load_all(ROOT / "results")
TOOLS = (
    "credibility", "credibility_campaigns", "fingerprints", "imports", "results_campaigns",
    "results_documents", "results_figures", "results_pieces", "results_stated", "results_store",
)  # fmt: skip


def result(**changes: object) -> store.Result:
    row = {"table": "T", "quantity": "time", "unit": "s", "paper": 9.0, "ours": 2.4}
    content = {"rows": [{**row, "status": "better", "note": "of 60 runs"}]}
    told = {"piece": "papers/x", "command": "c", "is_quick": False, "seconds": {"wall": 1.0}}
    return store.Result(**{**told, "fingerprint": "f", "content": content, **changes})


def test_every_marked_number_is_the_stores():
    problems = list(results_documents.differences(ROOT, STORED))
    assert not problems, "\n".join(problems)


def test_credibility_is_the_stores():
    problems = list(credibility.differences(ROOT, STORED))
    assert not problems, "\n".join(problems)


def test_every_other_number_has_a_source():
    problems = list(stated.find_unaccounted(ROOT))
    assert not problems, "\n".join(problems)


def test_results_and_the_code_they_are_of(record_property):
    states = find_states(ROOT, find_pieces(ROOT))
    record_property("told", results.summary(states))  # said, not failed: every change makes some
    assert set(STORED) <= set(states), "results/ has files of pieces that are no more"


@pytest.mark.parametrize("name", [name for name in STORED if name.startswith("papers/")])
def test_no_row_of_a_stored_paper_is_missed(name):
    missed = [
        f"{row.table}, {row.quantity}"
        for row in store.rows_of(STORED[name])
        if row.status == "missed"
    ]
    assert not missed, "\n".join(missed)
    assert not STORED[name].is_quick


@pytest.mark.parametrize("name", TOOLS)
def test_examples_in_tools_run(name):
    assert not doctest.testmod(importlib.import_module(name)).failed


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project of one document, one figure and one result."""
    (tmp_path / "docs").mkdir()
    figures = '[x]\nfrom = "papers/x"\nt = { quantity = "time", digits = 2 }\n'
    (tmp_path / "docs" / "figures.toml").write_text(figures)
    (tmp_path / "docs" / "stated_numbers.toml").write_text("")
    (tmp_path / "README.md").write_text("It takes <!--=x.t-->2.4<!--/--> s.\n")
    store.save(result(), tmp_path / "results")
    return tmp_path


def differences(tree: Path) -> list[str]:
    return list(results_documents.differences(tree, store.load_all(tree / "results")))


def test_a_changed_result_makes_the_document_stale_until_it_is_rendered(tree):
    assert not differences(tree)
    path = tree / "results" / "papers" / "x.json"
    path.write_text(path.read_text().replace('"ours": 2.4', '"ours": 3.6'))
    (told,) = differences(tree)
    assert "README.md:1" in told and "2.4" in told and "3.6" in told
    assert not results_documents.render(tree, store.load_all(tree / "results"))
    assert "It takes <!--=x.t-->3.6<!--/--> s." in (tree / "README.md").read_text()
    assert not differences(tree)


def test_a_number_typed_over_a_marked_one_is_stale(tree):
    (tree / "README.md").write_text("It takes <!--=x.t-->2.3<!--/--> s.\n")
    assert "2.3 here" in differences(tree)[0]


def test_a_typed_measurement_is_told_with_what_to_do(tree):
    (tree / "README.md").write_text("It takes 2.4 s <!--=x.t-->2.4<!--/-->, `9 s`, eq. 3.1.\n")
    (told,) = stated.find_unaccounted(tree)
    assert told.startswith("README.md:1: 2.4 s: ")
    known = tree / "docs" / "stated_numbers.toml"
    known.write_text('["README.md"]\ntheory = ["takes 2.4 s"]\n')
    assert not list(stated.find_unaccounted(tree))
    known.write_text('["README.md"]\ntheory = ["takes 2.4 s", "5 kg"]\n')
    assert "'5 kg'" in next(iter(stated.find_unaccounted(tree)))


@pytest.mark.parametrize(
    "text",
    ["12 %", "0.5 mm", "3 times", "9 to 22 s", "0.02", "1e-9", "+183 kg", "5.4 ± 0.02 N", "40 us"],
)
def test_what_looks_measured_is_found(text):
    (told,) = stated.find_unstated("a.md", f"and {text} it is", {})
    assert text in told


@pytest.mark.parametrize(
    "text",
    ["`12 %`", "eqs 36 to 38", "section 3.3", "## 9 s", "```\n9 s\n```", "$9 s$", "[a](b#3.5)"],
)
def test_what_is_no_claim_is_left_alone(text):
    assert not list(stated.find_unstated("a.md", f"{text}\n", {}))


def test_a_bound_needs_the_test_that_holds_it(tree):
    (tree / "README.md").write_text("Fewer than 20 flights <!--=x.t-->2.4<!--/-->.\n")
    known = '["README.md".tested]\n"20 flights" = "tests/test_a.py::test_b"\n'
    (tree / "docs" / "stated_numbers.toml").write_text(known)
    assert "tests/test_a.py::test_b" in next(iter(stated.find_unaccounted(tree)))
    (tree / "tests").mkdir()
    (tree / "tests" / "test_a.py").write_text("def test_b():\n    pass\n")
    assert not list(stated.find_unaccounted(tree))


def test_figures_that_cannot_be_had_say_why(tree):
    (tree / "README.md").write_text("A <!--=x.u-->1<!--/--> and\n<!--=x.t-->2.4<!--/--> B\n")
    told = differences(tree)
    assert any(" x.u " in line for line in told)
    assert any(line.startswith("README.md:2: ") for line in told)
    (tree / "README.md").write_text("Nothing.\n")
    (told,) = differences(tree)
    assert told.startswith("docs/figures.toml: ") and told.endswith(" x.t")
    (tree / "results" / "papers" / "x.json").unlink()
    (tree / "README.md").write_text("It takes <!--=x.t-->2.4<!--/--> s.\n")
    assert "papers/x" in differences(tree)[0]


def test_figures_take_what_they_say():
    rows = [
        {"table": "T", "quantity": f"v [{n}]", "paper": 1.0, "ours": ours, "status": "met",
         "note": f"of {n} runs"}
        for n, ours in enumerate((0.5, -2.0, 1.0))
    ]  # fmt: skip
    stock = {"p": result(content={"rows": rows})}

    def text(**said: object) -> str:
        return text_of(Figure("f", "p", **{"digits": 1, **said}), stock)

    assert text(quantity="v [1]") == "-2"  # brackets are brackets
    assert [text(take=take) for take in ("max", "min", "median", "largest", "count")] == [
        "1", "-2", "0.5", "2", "3",
    ]  # fmt: skip
    assert text(quantity="v [2]", find=r"of (\d+)", sign=True) == "+2"
    assert text(quantity="v [0]", times=1e3, places=0) == "500"
    for said in ({}, {"quantity": "none"}):
        with pytest.raises(NoFigure):
            text(**said)
    with pytest.raises(NoFigure, match="short version"):
        quick = dataclasses.replace(stock["p"], is_quick=True)
        text_of(Figure("f", "p", take="count"), {"p": quick})
    rows[0]["ours"] = None  # a search that never ends is not left out of the largest
    with pytest.raises(NoFigure, match="no number"):
        text(take="max")


def test_digits_are_those_that_count():
    printed = [in_print(v, Figure("f", "p", digits=2)) for v in (9.96, 0.0999, 0.0, 1234.0, 3e-5)]
    assert printed == ["10", "0.10", "0", "1200", "3e-05"]
    assert in_print(0.0121, Figure("f", "p", digits=2, up=True)) == "0.013"  # a bound
    assert in_print(-1.1, Figure("f", "p", places=0, up=True)) == "-2"


def test_figures_of_documents_are_all_well_formed():
    for figure in load_figures(ROOT / "docs" / "figures.toml").values():
        assert (figure.digits > 0) + (figure.places is not None) + (figure.take == "count") == 1


def test_what_is_stored_is_read_back_and_its_text_is_steady(tmp_path):
    kept = result(seconds={"wall": 0.123456789})
    path = store.save(kept, tmp_path)
    first = path.read_text()
    again = store.load("papers/x", tmp_path)
    assert again == dataclasses.replace(kept, seconds={"wall": 0.123457})
    assert store.save(again, tmp_path).read_text() == first
    assert {"numpy", "scipy", "numba", "freefloat", "python", "processor"} <= set(again.versions)


WRITE = "import json, sys; json.dump({'value': [%d]}, open(sys.argv[1] + '/out.json', 'w'))"


def piece(name: str, code: str) -> Piece:
    return Piece(
        name=f"test/{name}",
        command=("python", "-c", code, "OUT"),
        quick=("quick",),
        entries=("src/freefloat/__init__.py",),
        take=lambda folder: store.json.loads((folder / "out.json").read_text()),
    )


@pytest.fixture
def small(tmp_path: Path, monkeypatch) -> Path:
    """A project of three pieces; the second gives nothing."""
    (tmp_path / "src" / "freefloat").mkdir(parents=True)
    shutil.copy(ROOT / "src" / "freefloat" / "__init__.py", tmp_path / "src" / "freefloat")
    pieces = [piece("a", WRITE % 1), piece("b", "raise SystemExit('no luck')"),
              piece("c", WRITE % 3)]  # fmt: skip
    monkeypatch.setattr(results, "find_pieces", lambda root: pieces)
    return tmp_path


def test_a_run_goes_on_after_a_failure_and_keeps_what_was_there(small, capsys):
    assert results.main(["run"], root=small) == 1
    assert set(store.load_all(small / "results")) == {"test/a", "test/c"}
    assert "no luck" in capsys.readouterr().out
    assert results.main(["run"], root=small) == 1  # only what failed is tried again
    assert "1 of 1" in capsys.readouterr().out
    assert results.main(["run", "--list"], root=small) == 0
    told = capsys.readouterr().out
    assert told.count("fresh") == 2 and told.count("missing") == 1


def test_an_interrupted_run_goes_on_where_it_was(small, monkeypatch):
    made, whole = [], results.make

    def make(one: Piece, root: Path, *, is_quick: bool):
        made.append(one.name)
        if len(made) == 3:
            raise KeyboardInterrupt
        return whole(one, root, is_quick=is_quick)

    monkeypatch.setattr(results, "make", make)
    with pytest.raises(KeyboardInterrupt):
        results.main(["run"], root=small)
    assert set(store.load_all(small / "results")) == {"test/a"}
    assert results.main(["run", "--only", "*/c"], root=small) == 0
    assert made == ["test/a", "test/b", "test/c", "test/c"]
    assert results.main(["run", "--only", "test/[ac]"], root=small) == 0
    assert len(made) == 4  # fresh
    assert results.main(["run", "--only", "test/[ac]", "--all"], root=small) == 0
    assert len(made) == 6


def test_a_short_version_never_takes_the_place_of_a_whole_one(small):
    assert results.main(["run", "--only", "*/a", "--quick"], root=small) == 0
    assert store.load("test/a", small / "results").is_quick
    assert results.main(["run", "--only", "*/a"], root=small) == 0
    assert results.main(["run", "--only", "*/a", "--quick"], root=small) == 0
    assert not store.load("test/a", small / "results").is_quick
