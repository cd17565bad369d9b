"""Noise of encoders is in the residuals and in the columns of assumptions: scores allow for it."""

from dataclasses import replace

import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics.state import Start
from freefloat.excitation.plan import Plan
from freefloat.identification.output_error.cost import OutputErrorProblem, stated_noise
from freefloat.identification.output_error.options import USUAL
from freefloat.identification.output_error.recording import recording_of
from freefloat.identification.output_error.unknowns import unknowns_of
from freefloat.identification.trust.assumption_columns import (
    AssumptionColumns,
    assumption_columns,
)
from freefloat.identification.trust.assumption_scores import noise_of_each, score
from freefloat.identification.trust.consider import consider
from freefloat.identification.trust.input_noise_scores import with_input_noise
from freefloat.identification.trust.trust_options import USUAL_TRUST
from freefloat.identification.trust.white_rows import WhiteRows, white_rows
from freefloat.prediction.measurements import with_sensor_noise

RING = Plan(20.0, Start(coordinates={"arm_1": 0.18}), name="ring-down")
GAIN = "gain.arm_1.motor_torque"


def ring_down(seed: int) -> tuple[ff.Model, ff.Telemetry]:
    """A joint set off and let go: its motor gives no torque, and its sensor reads noise."""
    model = ff.load_model("cbk-arm")
    return model, with_sensor_noise(model, ff.simulate(model, RING, seed=seed))


def rows_of(model: ff.Model, flight: ff.Telemetry) -> WhiteRows:
    recordings = [recording_of(model, flight, step=USUAL.step)]
    wanted = ff.Parameters(model).free("arm_1.drive.stiffness", "arm_1.drive.inertia")
    unknowns = unknowns_of(wanted, recordings, is_start_known=False, options=USUAL)
    theta = np.array([u.parameter.value for u in unknowns.items])
    problem = OutputErrorProblem(
        tuple(recordings), unknowns, stated_noise(recordings), None, theta
    )  # fmt: skip
    return white_rows(problem, theta, options=USUAL_TRUST)


@pytest.mark.promise("T1")
def test_gain_of_torque_that_is_all_noise_is_not_contradicted() -> None:
    rows = rows_of(*ring_down(1))
    taken = assumption_columns(rows)
    place = [a.name for a in taken.assumptions].index(GAIN)

    def surprise_of(columns: AssumptionColumns) -> float:
        considered = consider(rows, columns)
        noise = noise_of_each(rows, considered)
        found = score(considered, considered.slopes(rows.remainder), noise=noise)
        return float(found.surprise[place])

    # what is simulated as torque is noise, the same as in the residual: its gain seems to be zero
    assert abs(surprise_of(taken)) > 6.0
    corrected = with_input_noise(rows, taken)
    assert abs(surprise_of(corrected)) < 3.0
    # nothing is added where nothing is loud, and nothing is worked out twice
    assert with_input_noise(rows, corrected) is corrected
    assert with_input_noise(replace(rows, inputs=()), taken).by_inputs.size == 0


@pytest.mark.promise("T1")
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.full)])
def test_ring_down_with_motor_recorded_is_trusted(seed: int) -> None:
    model, flight = ring_down(seed)
    fit = ff.identify(model, ff.Parameters(model).free("arm_1.drive.*"), flight)
    assert fit.assessment is not None
    assert fit.assessment.grade == "trusted", [e.code for e in fit.assessment.reasons]
    truth = {e.name: e.prior for e in fit.estimates}
    # 4 standard deviations: one of four estimates in 4000 recordings lies beyond
    assert all(abs(e.value - truth[e.name]) < 4.0 * e.std for e in fit.estimates)
