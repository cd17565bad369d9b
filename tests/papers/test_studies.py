"""Studies on several cores: the same rows, a time for each, and errors that arrive."""

from __future__ import annotations

import pytest
from fault_codes import refused

from freefloat.errors import FreefloatError
from freefloat.papers.study_runner import Study, carry_out_all, studies_of

CHEAP = [Study("004", 2, "average_rows"), Study("002", 1, "excitation_rows"),
         Study("003", 0, "true_value_rows")]  # fmt: skip


def test_rows_do_not_depend_on_the_number_of_processes():
    alone = {one.study: one for one in carry_out_all(CHEAP, quick=True, workers=1)}
    shared = {one.study: one for one in carry_out_all(CHEAP, quick=True, workers=2)}
    assert list(alone) == CHEAP and set(shared) == set(CHEAP)
    for study, one in shared.items():
        assert one.rows == alone[study].rows  # to the last bit
        assert 0.0 < one.wall < 600.0 and 0.0 <= one.cpu < 600.0


def test_an_error_of_a_study_arrives_and_ends_the_others():
    studies = [*CHEAP, Study("004", 99, "no_rows")]
    with pytest.raises(IndexError):
        list(carry_out_all(studies, quick=True, workers=2))


def test_there_is_a_worker_at_least():
    with refused(FreefloatError, "option.range"):
        list(carry_out_all(CHEAP, quick=True, workers=0))


def test_studies_come_in_the_order_of_the_tables():
    found = studies_of(["003", "000"])
    assert [study.paper for study in found] == ["003"] * 8 + ["000"] * 10
    assert [study.place for study in found] == [*range(8), *range(10)]
    assert found[0] == Study("003", 0, "true_value_rows")
