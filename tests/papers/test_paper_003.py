"""Paper 003 rebuilt: rows have the known figures, and follow the model."""

from __future__ import annotations

import pytest

from freefloat.errors import FreefloatError
from freefloat.model import load_model
from freefloat.papers import Row, reproduce
from freefloat.papers.paper_003.tables import heavier, true_value_rows


@pytest.fixture(scope="module")
def rows(quick_rows) -> tuple[Row, ...]:
    return quick_rows("003")


def ours(rows: tuple[Row, ...], table: str, quantity: str) -> float:
    (found,) = [r for r in rows if r.table.startswith(table) and r.quantity.startswith(quantity)]
    assert found.ours is not None
    return found.ours


def test_table_3_is_reproduced_and_its_faults_are_named(rows):
    values = [r for r in rows if r.table == "Table 3: true values" and r.quantity[:2] == "pi"]
    assert len(values) == 8 and {row.status for row in values} == {"reproduced"}
    printed = [r.status for r in rows if r.table == "Table 3 from Table 1 as printed"]
    assert [k for k, status in enumerate(printed, 1) if status == "reproduced"] == [4, 6, 7, 8]
    assert printed.count("paper wrong") == 4
    assert ours(rows, "Table 3 from", "pi5") == pytest.approx(0.131126, abs=5e-7)
    errors = [r for r in rows if r.table == "Table 3: errors" and r.paper is not None]
    assert len(errors) == 8 and {r.status for r in errors} == {"reproduced in pattern"}


def test_the_motion_is_that_of_table_2(rows):
    assert ours(rows, "Table 2", "condition, r_0 as printed") == pytest.approx(143.6, abs=0.1)
    assert ours(rows, "Table 2", "max q2") == pytest.approx(61.4, abs=0.05)
    assert ours(rows, "Table 2", "worst error without noise") < 1e-8  # [%]


def test_noise_costs_what_it_should(rows):
    assert 2.2e-4 <= ours(rows, "Table 3: errors", "gyro noise") <= 2.6e-4
    assert ours(rows, "Noise", "least squares") == pytest.approx(4.2, abs=0.2)
    assert ours(rows, "Noise", "corrected for noisy columns, 100 Hz") < 1.5


def test_the_wheel_turns_the_robot_the_other_way(rows):
    assert ours(rows, "Eq. 13", "momentum of the robot") == pytest.approx(-0.33553, abs=5e-6)
    assert ours(rows, "Eq. 13", "every error with the sign") == pytest.approx(-200.0)


def test_systematic_errors_have_the_known_size_and_a_remedy(rows):
    assert ours(rows, "Air-bearing", "worst error, drag left out") == pytest.approx(19, abs=0.5)
    assert ours(rows, "Air-bearing", "worst error, a column") < 0.2
    assert ours(rows, "Base 10 ms", "worst error, clocks trusted") == pytest.approx(33, abs=0.5)
    assert ours(rows, "Base 10 ms", "worst error, clocks compared") < 0.2
    assert ours(rows, "Wheel speed", "worst error, speed taken") > 40
    assert ours(rows, "Momentum 5 %", "largest") == pytest.approx(5.0)


def test_the_minimal_set_predicts_torques_of_any_tree(rows):
    assert ours(rows, "Full dynamics", "joint torque") < 7e-10
    for name, count in (("servicer", 153), ("dual-arm", 276)):
        assert ours(rows, f"The same on {name}", "minimal parameters") == count
        assert ours(rows, f"The same on {name}", "error of all") < 1e-6
        assert ours(rows, f"The same on {name}", "joint torques") < 1e-6


def test_another_model_gives_other_rows():
    rows = true_value_rows(model=heavier(load_model("cepheus"), 1.1))
    assert rows[4].ours == pytest.approx(1.1 * 0.1314, rel=1e-3)
    assert {row.status for row in rows[:8]} == {"missed"}
    assert "paper wrong" not in {row.status for row in rows if "as printed" in row.table}


def test_an_unknown_paper_is_refused_by_name():
    with pytest.raises(FreefloatError) as caught:
        reproduce("007")
    assert caught.value.codes == ("name.unknown",) and "003" in caught.value.faults[0].expected
