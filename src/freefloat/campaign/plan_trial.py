"""A plan on trial: flown by robots that the prior allows, with sound and with faulty recordings."""

from __future__ import annotations

from freefloat.campaign.campaign import BoundOptions, Campaign, IdentifyOptions
from freefloat.campaign.fault_injection import FaultOptions
from freefloat.campaign.variations import AnyVariation, GridVariation, NormalVariation
from freefloat.excitation.plan import Plan
from freefloat.model.model import Model
from freefloat.parameters.parameters import Parameters

# format: what a poor downlink does to samples, beside a sound recording
DROPOUT, OUTLIERS = (0.0, 0.05), 0.002


def plan_trial(
    model: Model, parameters: Parameters, plan: Plan, *, runs: int, seed: int = 0
) -> Campaign:
    """The campaign that tries a plan before it is flown.

    The truth is drawn from the priors of the free parameters; what has none is as the model says.
    Every draw is identified from a sound recording and from one with samples lost.

    >>> import freefloat as ff
    >>> model = ff.load_model("cepheus")
    >>> wanted = ff.Parameters(model).free("bus.mass").prior("bus.mass", relative=0.1)
    >>> trial = plan_trial(model, wanted, ff.default_plan(model, duration=5.0), runs=3)
    >>> trial.n_runs, trial.vary[0].name
    (6, 'truth.bus.mass')
    """
    drawn: list[AnyVariation] = [
        NormalVariation(f"truth.{p.name}", mean=p.prior[0], std=p.prior[1])
        for p in parameters.free_ones
        if p.prior is not None
    ]
    faults = GridVariation("faults.dropout", values=DROPOUT)
    return Campaign(
        name=f"trial of {plan.name}", model=model.name, runs=runs, seed=seed, free=parameters.names,
        steps=("simulate", "bound", "corrupt", "identify"), vary=(*drawn, faults),
        faults=FaultOptions(outliers=OUTLIERS), bound=BoundOptions(),
        identify=IdentifyOptions(assess=False), robot=model, flown=plan,
    )  # fmt: skip
