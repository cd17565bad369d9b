"""Small campaigns for tests: runs of a function, which take milliseconds, and of flights."""

from __future__ import annotations

import hashlib
from pathlib import Path

from freefloat.campaign.campaign import Campaign
from freefloat.campaign.campaign_file import load_campaign
from freefloat.campaign.conduct import CampaignProgress, conduct
from freefloat.campaign.executors import Executor, ProcessExecutor
from freefloat.campaign.run_store import RunStore

FUNCTION = """
import math, os, signal, time

def run(inputs, seed):
    time.sleep(inputs.get("pause", 0.0))
    kind = inputs.get("kind", "sound")
    if kind == "error" and seed % 3 == 0:
        raise ValueError("a third of them fails")
    if kind == "eats":
        return {"size": float(len(bytearray(int(4e9))))}
    if kind == "hangs":
        time.sleep(1000.0)
    if kind == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    x = (seed % 1000003) / 1000003.0
    error = math.sqrt(-2.0 * math.log(1e-12 + x)) * math.cos(seed)
    one = {"name": "mass", "unit": "kg", "true": 10.0, "prior": 9.0, "value": 10.0 + error,
           "std": 1.0, "lower": 8.04 + error, "upper": 11.96 + error, "bound": 1.0}
    return {"x": x, "nees": error**2, "nees_dof": 1.0, "grade": "trusted", "estimates": [one]}
"""
FLIGHT = """
format = 1
name = "a capture"
model = "planar-capture"
runs = {runs}
seed = 5
free = ["bus.mass", "target.mass"]
steps = ["simulate", "bound", "identify"]
[plan]
duration = 10.0
thrust = true
[identify]
method = "output_error"
plan = true
assess = false
[[vary]]
name = "truth.target.mass"
kind = "normal"
mean = 1.0
std = 0.1
by = "factor"
"""


def function_campaign(folder: Path, *, runs: int, more: str = "", code: str = FUNCTION) -> Campaign:
    """A campaign whose runs are calls of a function."""
    (folder / "runs.py").write_text(code)
    head = f'format = 1\nname = "calls"\nfunction = "runs.py"\nruns = {runs}\n'
    path = folder / "campaign.toml"
    path.write_text(head + more)
    return load_campaign(path)


def flight_campaign(folder: Path, *, runs: int, more: str = "") -> Campaign:
    """A campaign of short flights in the plane."""
    path = folder / "flights.toml"
    path.write_text(FLIGHT.format(runs=runs) + more)
    return load_campaign(path)


def carry_out(
    campaign: Campaign, out: Path, *, workers: int = 1, executor: Executor | None = None,
    again: tuple[str, ...] = (),
) -> CampaignProgress:  # fmt: skip
    """Carry out what is missing of a campaign."""
    with RunStore.open_to_write(out, campaign) as store:
        return conduct(campaign, store, executor or ProcessExecutor(workers), again=again)


def fingerprint(out: Path) -> str:
    """Of every byte of the rows of a campaign; costs, which differ, are not looked at."""
    digest = hashlib.sha256()
    for folder in ("runs", "estimates", "measures"):
        for path in sorted((out / folder).glob("*.parquet")):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
