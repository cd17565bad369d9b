"""`freefloat design --campaign RUNS`: the designed plan tried out before it is flown."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.cli import screen

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Model, Parameters, Plan
    from freefloat.campaign.campaign_summary import CampaignSummary


def try_plan(
    model: Model, parameters: Parameters, plan: Plan, *, runs: int, seed: int
) -> CampaignSummary | None:
    """What a campaign of so many draws shows of a plan; None where none was asked for."""
    if not runs:
        return None
    from freefloat.campaign.campaign_summary import summarise
    from freefloat.campaign.executors import ProcessExecutor
    from freefloat.campaign.plan_trial import plan_trial
    from freefloat.campaign.run_store import RunStore
    from freefloat.cli.campaign import carry_out_campaign

    trial = plan_trial(model, parameters, plan, runs=runs, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "runs")
        carry_out_campaign(trial, out, ProcessExecutor(min(os.cpu_count() or 1, trial.n_runs)))
        return summarise(RunStore(out))


def trial_view(found: CampaignSummary | None) -> tuple[RenderableType, ...]:
    """The trial on the screen."""
    if found is None:
        return ()
    from freefloat.cli.campaign_view import summary_view

    return ("", screen.heading("On trial: truth drawn from the priors"), *summary_view(found))


def trial_dict(found: CampaignSummary | None) -> dict[str, object]:
    """The trial for machines."""
    return {} if found is None else {"trial": found.as_dict()}
