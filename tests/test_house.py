"""`tools/house.py` counts what it says it counts, on small trees made for it."""

from __future__ import annotations

from pathlib import Path

import house
import house_figures as figures
import pytest
from house_tree import Tree, tree_of

ROOT = Path(__file__).parents[1]


@pytest.fixture
def tree(tmp_path):
    """A tree of the given files, by their paths below src/freefloat."""

    def plant(**files: str) -> Tree:
        for name, text in {"__init__": "", **files}.items():
            path = tmp_path / "src" / "freefloat" / f"{name.replace('__in__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Tree(tmp_path)

    return plant


def names_in(findings) -> list[str]:
    return [finding.what for finding in findings]


def test_a_file_that_fits_into_its_only_importer_is_a_fragment(tree):
    planted = tree(
        a__in____init__="",
        a__in__user="from freefloat.a import piece, shared",
        a__in__other="from freefloat.a.shared import x",
        a__in__piece="x = 1",
        a__in__shared="x = 1",
    )
    assert [f.module.path.stem for f in figures.fragments(planted)] == ["piece"]


def test_a_file_that_would_make_its_importer_too_long_is_none(tree):
    long = "from freefloat.a import piece\n" * figures.LONGEST_FILE
    planted = tree(a__in____init__="", a__in__user=long, a__in__piece="x = 1")
    assert not list(figures.fragments(planted))


def test_participles_are_functions_that_say_what_has_been_done(tree):
    text = "def told(): ...\ndef _seen_by(x): ...\ndef open(): ...\ndef is_kept() -> bool: ...\n"
    text += "def converged() -> bool: ...\ndef embed(): ...\nclass A:\n    def flown(self): ...\n"
    assert names_in(figures.participles(tree(words=text))) == ["told", "_seen_by", "flown"]


def test_names_that_cross_borders_are_counted_once_where_they_are_defined(tree):
    planted = tree(
        a__in____init__="from freefloat.a.one import f",
        a__in__one="def f(): ...",
        b__in____init__="",
        b__in__two="from freefloat.a import f",
        b__in__three="from freefloat.a.one import f",
    )
    (found,) = figures.border_names(planted)
    assert found.module.name == "freefloat.a.one" and found.what.startswith("f (2")


def test_classes_and_stems_that_stand_twice(tree):
    planted = tree(
        a__in____init__="",
        a__in__same="class Twice: ...\nclass _Own: ...",
        b__in____init__="",
        b__in__same="class Twice: ...\nclass _Own: ...",
        b__in__kernels__in____init__="",
        b__in__kernels__in__update="",
        b__in__update="",
    )
    assert set(names_in(figures.repeated_classes(planted))) == {"Twice"}
    assert set(names_in(figures.repeated_stems(planted))) == {"same"}


def test_comment_lines_are_whole_lines_and_docstrings_are_no_code(tree):
    text = '"""What\nit is."""\n\n# why\nx = 1  # beside\n# noqa: E501\n'
    module = tree(words=text).modules["freefloat.words"]
    assert (figures.comment_lines(module), figures.code_lines(module)) == (1, 1)


def test_asserts_on_sentences_are_found(tmp_path):
    text = (
        "def test_a():\n    assert 'the fit can be trusted' in x\n    assert x == 'base.rate.x'\n"
    )
    text += "    with pytest.raises(E, match='no such file here'):\n        f()\n"
    (tmp_path / "test_a.py").write_text(text)
    assert [line for _, line, _ in figures.english_asserts(tmp_path)] == [2, 4]
    known = {"the fit can be trusted"}
    assert [line for _, line, _ in figures.english_asserts(tmp_path, known)] == [4]


def test_the_command_prints_figures_and_the_tree(capsys):
    def run(*arguments: str) -> str:
        house.main(arguments)
        return capsys.readouterr().out

    assert run().splitlines()[1].split() == ["files", str(len(tree_of(ROOT).modules))]
    assert run("--tree", "numba_").splitlines()[1] == "numba_/"


def test_the_whole_is_the_sum_of_its_folders():
    header, *rows, whole = house.folder_rows(tree_of(ROOT))
    for column in range(1, len(header)):
        assert sum(int(row[column]) for row in rows) == int(whole[column])
