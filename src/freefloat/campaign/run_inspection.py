"""One run alone, with everything there is to look into it: models, plan, flight, fit, report."""

from __future__ import annotations

from pathlib import Path

from freefloat.campaign.campaign import Campaign
from freefloat.campaign.perform import RunTrace, trace_run
from freefloat.campaign.run_row import RunRow, write_row
from freefloat.campaign.run_setup import request_of
from freefloat.errors import CampaignError, FreefloatError
from freefloat.files import atomic_write, unwritable


def inspect_run(
    campaign: Campaign, run: int, folder: Path, *, stored: Path | None = None
) -> tuple[RunRow, dict[str, Path], bool | None]:
    """Carry out one run in this process and write all it came across into a folder.

    Returns:
        The row, the files by what they are, and whether the row is the one in the store, byte by
        byte (None where that has none).
    """
    trace = trace_run(campaign, request_of(campaign, run))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    written = {}
    row = folder / "row.json"
    atomic_write(row, write_row(trace.row) + "\n")
    written["row"] = row
    written |= _save_parts(trace, folder)
    return trace.row, written, _is_as_stored(trace.row, stored)


def _save_parts(trace: RunTrace, folder: Path) -> dict[str, Path]:
    written: dict[str, Path] = {}
    if trace.setup is not None:
        for what, model in (("truth", trace.setup.truth), ("belief", trace.setup.belief)):
            written[what] = folder / f"{what}.toml"
            model.save(written[what])
    if trace.plan is not None:
        written["plan"] = folder / "plan.toml"
        trace.plan.save(written["plan"])
    if trace.flight is not None:
        written["flight"] = folder / "flight.parquet"
        trace.flight.save(written["flight"])
    if trace.fit is not None:
        written["fit"] = folder / "fit.json"
        trace.fit.save(written["fit"])
        written["report"] = folder / "report.html"
        flights = () if trace.flight is None else (trace.flight,)
        try:
            trace.fit.save_report(written["report"], *flights)
        except FreefloatError:  # a flight that cannot be predicted: the fit alone
            trace.fit.save_report(written["report"])
    if trace.traceback:
        written["traceback"] = folder / "traceback.txt"
        atomic_write(written["traceback"], trace.traceback)
    return written


def _is_as_stored(row: RunRow, stored: Path | None) -> bool | None:
    from freefloat.campaign.run_store import RunStore

    if stored is None or not (stored / "campaign.json").exists():
        return None
    try:
        found = RunStore(stored).result(row.run)
    except CampaignError:
        return None
    return None if found is None else write_row(found.row) == write_row(row)
