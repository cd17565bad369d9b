"""What a campaign costs beside its runs: overhead of a run, and how two workers scale.

    python benchmarks/c_campaign.py [--runs N]

Runs that do nothing show the overhead; runs that sleep show whether workers wait for anything but
their own work, on a machine that is busy with other things too. The start of workers is left out.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from freefloat.campaign.campaign_file import load_campaign
from freefloat.campaign.conduct import CampaignProgress, conduct
from freefloat.campaign.executors import ProcessExecutor
from freefloat.campaign.run_store import RunStore

CODE = """
import time
def run(inputs, seed):
    time.sleep(inputs["pause"])
    return {"x": 1.0}
"""


def measure(folder: Path, *, pause: float, runs: int, workers: int) -> tuple[float, float]:
    """Seconds by the clock and of the processor a run, after the first rows are there."""
    (folder / "runs.py").write_text(CODE)
    path = folder / f"{pause}-{workers}.toml"
    path.write_text(
        f'format = 1\nname = "calls"\nfunction = "runs.py"\nruns = {runs}\n[set]\npause = {pause}\n'
    )
    campaign, first = load_campaign(path), []

    def note(state: CampaignProgress) -> None:
        if state.n_now >= 2 * workers and not first:
            first.append((time.perf_counter(), cpu(), state.n_now))

    with RunStore.open_to_write(folder / path.stem, campaign) as store:
        conduct(campaign, store, ProcessExecutor(workers), progress=note)
    then, spent, n = first[0]
    return (time.perf_counter() - then) / (runs - n), (cpu() - spent) / (runs - n)


def cpu() -> float:
    """Processor time of this process [s]."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    runs = 60 if args.quick else args.runs
    with tempfile.TemporaryDirectory() as folder:
        wall, spent = measure(Path(folder), pause=0.0, runs=runs, workers=1)
        print(f"overhead a run: {1e3 * wall:.1f} ms by the clock, {1e3 * spent:.1f} ms of the"
              f" processor in the client (at most 20 ms)")  # fmt: skip
        one, _ = measure(Path(folder), pause=0.2, runs=runs // 4, workers=1)
        two, _ = measure(Path(folder), pause=0.2, runs=runs // 2, workers=2)
        print(f"two workers: {one / (2.0 * two):.1%} of twice as many runs (at least 85 %)")


if __name__ == "__main__":
    main()
