"""`freefloat campaign`: many runs of one study, on processes or a cluster, and what they show."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter
from rich.text import Text

from freefloat.cli import screen
from freefloat.cli.options import FLAG, WHOLE, Shared, check_value, require
from freefloat.cli.output_files import OutputFiles, paths_as_text
from freefloat.errors import Fault, FreefloatError
from freefloat.records.values import Count, Natural

if TYPE_CHECKING:
    from freefloat.campaign.campaign import Campaign
    from freefloat.campaign.conduct import CampaignProgress
    from freefloat.campaign.executors import Executor

HELP = """\
Simulate and identify thousands of flights, and compare with the truth.

A campaign file says what varies from run to run, what is done in a run and
what is kept (docs/campaigns.md). Results are on disk as soon as they exist:
after a kill at any moment, the same command continues.

For example:
  freefloat campaign run campaign.toml --out runs
  freefloat campaign run campaign.toml --out runs --scheduler local
  freefloat campaign run campaign.toml --out runs --only 17
  freefloat campaign summary runs
  freefloat campaign report runs --out runs.html"""

LOCAL = "local"
Again = Literal["failed", "stopped", "crashed"]

campaign = App(name="campaign", help=HELP, help_format="plaintext", result_action="return_value")


@campaign.command
def run(
    file: Path,
    /,
    *,
    out: Path,
    workers: Annotated[int | None, WHOLE] = None,
    scheduler: str | None = None,
    runs: Annotated[int | None, WHOLE] = None,
    only: Annotated[int | None, WHOLE] = None,
    again: Annotated[tuple[Again, ...], Parameter(negative=(), show_default=False)] = (),
    run_code: Annotated[bool, FLAG] = False,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Carry out every run that has no result yet.

    A run that fails is a row with its error, and the campaign goes on. Exit
    code 2 says that the campaign could not go on: no worker for a minute, a
    disk that is full. Give the same command again then.

    For example:
      freefloat campaign run campaign.toml --out runs --workers 2
      freefloat campaign run campaign.toml --out runs --scheduler local
      freefloat campaign run campaign.toml --out runs --only 17

    Parameters
    ----------
    file
        The campaign file (.toml).
    out
        The folder of the campaign; created if it does not exist.
    workers
        Processes on this machine, or workers of a local cluster; by default one a core.
    scheduler
        The address of a Dask scheduler, or "local" for a cluster on this machine.
    runs
        Draws in each cell, in place of the file's number; a larger number continues a campaign.
    only
        Carry out this run alone, in this process, with all its files in OUT/only.
    again
        Repeat the runs that failed, were stopped at a limit or crashed; may be repeated.
    run_code
        Allow the Python file that the campaign names to run; only for code you trust.
    """
    faults = [*check_value("--workers", workers, Count), *check_value("--only", only, Natural),
              *check_value("--runs", runs, Count)]  # fmt: skip
    require(faults)
    made = _load(file, runs=runs, run_code=run_code)
    if only is not None:
        return _carry_out_one(made, only, out, shared)
    executor = _executor(scheduler, workers or os.cpu_count() or 1)
    carry_out_campaign(made, out, executor, again=again)
    return _show_summary(out, shared)


@campaign.command
def status(folder: Path, /, *, shared: Shared = Shared()) -> int:  # noqa: B008
    """Show the progress of a campaign, also while it runs.

    For example:
      freefloat campaign status runs

    Parameters
    ----------
    folder
        The folder of the campaign.
    """
    from freefloat.campaign.run_store import RunStore

    store = RunStore(folder)
    found = store.status()
    if shared.json:
        screen.print_json({"ok": True, "campaign": store.campaign.name, "runs": found.n_runs,
                           "done": found.n_done, "counts": found.counts, "codes": found.codes,
                           "is_being_written": found.is_being_written})  # fmt: skip
        return 0
    is_over = found.n_done >= found.n_runs
    how = (
        "is being carried out" if found.is_being_written else "is complete" if is_over else "rests"
    )
    screen.show(Text.assemble((store.campaign.name, "bold"), f" {how}"))
    facts = [("runs", f"{found.n_done} of {found.n_runs}")]
    facts += [(status, str(n)) for status, n in sorted(found.counts.items())]
    facts += [(f"  {code}", str(n)) for code, n in sorted(found.codes.items())]
    screen.show(screen.facts(facts))
    if not is_over and not found.is_being_written:
        screen.show("", "`freefloat campaign run` with the same file and folder goes on.")
    return 0


@campaign.command
def summary(folder: Path, /, *, shared: Shared = Shared()) -> int:  # noqa: B008
    """Show coverage, bias, errors over the Cramér-Rao bound, NEES, trust and time.

    For example:
      freefloat campaign summary runs
      freefloat campaign summary runs --json > summary.json

    Parameters
    ----------
    folder
        The folder of the campaign.
    """
    return _show_summary(folder, shared)


@campaign.command
def report(
    folder: Path,
    /,
    *,
    out: Path,
    plot: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Write the summary as one self-contained HTML page.

    For example:
      freefloat campaign report runs --out runs.html
      freefloat campaign report runs --out runs.html --plot errors.png

    Parameters
    ----------
    folder
        The folder of the campaign.
    out
        The page to write (.html).
    plot
        Plot histograms of errors over stated deviations: .png, .svg or .pdf. Needs freefloat[plot].
    """
    from freefloat.campaign.campaign_page import save_campaign_page
    from freefloat.campaign.normalised_errors import normalised_errors
    from freefloat.campaign.run_store import RunStore

    files = OutputFiles(report=("--out", out), plot=("--plot", plot))
    require(files.faults())
    files.require_possible()
    store, written = RunStore(folder), {"report": out}
    save_campaign_page(store, out)
    if plot is not None:
        from freefloat.report.plots import save_figure
        from freefloat.report.result_plots import plot_errors

        save_figure(plot_errors(normalised_errors(store)), plot)
        written["plot"] = plot
    if shared.json:
        screen.print_json({"ok": True, "files": paths_as_text(written)})
    else:
        screen.show(*screen.files_section(written))
    return 0


# -- what they do ----------------------------------------------------------------------------------


def _load(file: Path, *, runs: int | None, run_code: bool) -> Campaign:
    from freefloat.campaign.campaign_file import load_campaign

    made = load_campaign(file, runs=runs)
    if made.code and not run_code:
        remedy = "read that file; if you trust it, add --run-code"
        fault = Fault(str(file), f"function = {made.function!r}, a program", "--run-code beside it",
                      remedy, "option.missing")  # fmt: skip
        raise FreefloatError("this campaign runs code of its own", [fault])
    return made


def _executor(scheduler: str | None, n_workers: int) -> Executor:
    if scheduler is None:
        from freefloat.campaign.executors import ProcessExecutor

        return ProcessExecutor(n_workers)
    from freefloat.campaign.dask_ import DaskExecutor

    address = None if scheduler == LOCAL else scheduler
    return DaskExecutor(address, n_workers=n_workers, tell=screen.note)


def carry_out_campaign(
    made: Campaign, out: Path, executor: Executor, *, again: tuple[str, ...] = ()
) -> None:
    """Carry it out with a line of progress: runs, rate and time left."""
    from freefloat.campaign.conduct import conduct
    from freefloat.campaign.run_store import RunStore
    from freefloat.cli.waiting import progress, tell_first_run

    with RunStore.open_to_write(out, made) as store:
        screen.note(f"{made.name}: {made.n_runs} runs on {executor.words}, into {out}")
        tell_first_run("integrate.rk4", "observe.observe", takes="about half a minute")
        with progress("campaign") as update:

            def show(state: CampaignProgress) -> None:
                # of what is left to do, from which the time that is left is told
                share = state.n_now / max(state.n_runs - state.n_before, 1)
                update(progress_words(state), share)

            state = conduct(made, store, executor, progress=show, again=again)
        for note in state.notes:
            screen.note(note)
        if state.n_before:
            screen.note(f"{state.n_before} runs were there already")
        if state.n_now:
            screen.note(f"{state.n_now} runs carried out, {state.rate:.3g} a second")


def progress_words(state: CampaignProgress) -> str:
    """How far and how fast.

    >>> from freefloat.campaign.conduct import CampaignProgress
    >>> progress_words(CampaignProgress(1000, 10))
    '10 of 1000 runs'
    """
    words = [f"{state.n_done} of {state.n_runs} runs"]
    bad = sum(n for status, n in state.counts.items() if status != "done")
    words += [f"{bad} without result"] if bad else []
    if state.n_now:
        words += [f"{state.rate:.3g}/s"]
    return ", ".join(words)


def _carry_out_one(made: Campaign, number: int, out: Path, shared: Shared) -> int:
    """One run in this process; its models, plan, flight, fit and report as files."""
    from freefloat.campaign.run_inspection import inspect_run

    if number >= made.n_runs:
        remedy = "runs are counted from 0"
        expected = f"0 to {made.n_runs - 1}"
        require([Fault("--only", str(number), expected, remedy, "value.range")])
    folder = out / "only" / f"{number:08d}"
    row, written, same = inspect_run(made, number, folder, stored=out)
    if shared.json:
        told = {"ok": row.status == "done", "row": _row_dict(row), "is_as_stored": same}
        screen.print_json({**told, "files": paths_as_text(written)})
        return 0
    from freefloat.cli.campaign_view import run_view

    screen.show(*run_view(row, same))
    screen.show(*screen.files_section(written))
    return 0


def _row_dict(row: object) -> dict[str, object]:
    from dataclasses import asdict

    return asdict(row)  # type: ignore[call-overload]


def _show_summary(folder: Path, shared: Shared) -> int:
    from freefloat.campaign.campaign_summary import summarise
    from freefloat.campaign.run_store import RunStore
    from freefloat.cli.campaign_view import summary_view

    found = summarise(RunStore(folder))
    if shared.json:
        screen.print_json({"ok": True, **found.as_dict()})
    else:
        screen.show(*summary_view(found))
    return 0
