"""`freefloat spectrum`: the modes of a free response, and which modes of the model they are."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.text import Text

from freefloat.cli import screen
from freefloat.cli.options import REPEATED, FlightOptions, Shared, check_value, read_flight, require
from freefloat.cli.output_files import OutputFiles, paths_as_text
from freefloat.cli.robot_file import read_robot
from freefloat.cli.settings import parse_settings
from freefloat.errors import Fault, visible
from freefloat.files import together
from freefloat.records.values import Positive
from freefloat.text import count_noun

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Model, Telemetry
    from freefloat.identification.modes.modal import ModalFit, SeenMode
    from freefloat.identification.modes.modal_match import ModalMatch

LIST = Parameter(negative=(), consume_multiple=True)


def spectrum(
    file: Path,
    /,
    *,
    model: str | None = None,
    channels: Annotated[list[str] | None, LIST] = None,
    between: tuple[float, float] | None = None,
    bandwidth: float = 2.0,
    set: Annotated[tuple[str, ...], REPEATED] = (),
    plot: Path | None = None,
    save_model: Path | None = None,
    reading: FlightOptions = FlightOptions(),  # noqa: B008
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Find the modes of the free response in a recording: frequency and damping.

    Looks at the longest stretch on which the driven joints rest, in every
    channel that shows an oscillation. Harmonics of a large oscillation (0.46 Hz
    of a 0.23 Hz mode) are listed as such and never taken for modes. With a
    model, its modes are matched to those found, by frequency and by shape
    (modal assurance criterion, MAC), and its springs can be scaled to agree
    (--save-model), as a start for identification. If something is driven in a
    stretch of your own choice (--between), oscillations are listed as driven,
    not as modes, and no spring is scaled to them.

    Exit code 1: no mode was found, or none that a spring can be scaled to.

    For example:
      freefloat spectrum flight.parquet --model servicer-wings --plot modes.png
      freefloat spectrum flight.csv --between 20 60 --channels 'base.rate.*'

    Parameters
    ----------
    file
        The recording: .parquet, .pq, .csv, .tsv, .mcap or .mat; any other with --map.
    model
        A built-in model or a .toml or .urdf file, to be compared with.
    channels
        Names or globs of the channels to look at.
    between
        Start and end [s] of the stretch to look at.
    bandwidth
        The highest frequency of interest [Hz].
    set
        NAME=VALUE: an option of the mode search; may be repeated. `--set help` lists them.
    plot
        Plot the spectra to this file: .png, .svg or .pdf. Needs freefloat[plot].
    save_model
        Write the model with its springs scaled to the modes found (.toml).
    """
    files = OutputFiles(plot=("--plot", plot), model=("--save-model", save_model))
    faults = [*files.faults(), *check_value("--bandwidth", bandwidth, Positive)]
    if save_model is not None and model is None:
        faults.append(Fault("--save-model", str(save_model), "a model whose springs to scale",
                            "name it with --model", "option.conflict"))  # fmt: skip
    require(faults)
    files.require_possible(model=model, file=file, map=reading.map)
    how = parse_settings("spectrum", set)
    recording = read_flight(file, reading, max_bytes=shared.max_bytes)
    robot = None if model is None else read_robot(model, strict=shared.strict)
    modes, match = _find_modes(recording, robot, channels, between, bandwidth, settings=how)
    has_springs = match is not None and bool(match.factors)
    # a model as it was would pass for one that agrees with the flight
    written = {what: path for what, path in files.paths.items() if has_springs or what != "model"}
    _write(file, modes, match, written)
    if shared.json:
        screen.print_json(_as_dict(file, modes, match, written))
    else:
        screen.show(*_overview(file, modes, match, written))
    return 0 if modes.modes and (save_model is None or has_springs) else 1


def _find_modes(
    recording: Telemetry,
    robot: Model | None,
    channels: list[str] | None,
    between: tuple[float, float] | None,
    bandwidth: float,
    *,
    settings: dict[str, dict[str, Any]],
) -> tuple[ModalFit, ModalMatch | None]:
    from freefloat.cli.waiting import progress
    from freefloat.identification.modes.free_response import ModalOptions
    from freefloat.identification.modes.modal import identify_modes
    from freefloat.identification.modes.modal_match import MatchOptions, match_modes

    with progress("looking for modes"):
        found = identify_modes(
            recording, robot, channels=channels, between=between, bandwidth=bandwidth,
            options=ModalOptions(**settings["modal"]),
        )  # fmt: skip
        if robot is None:
            return found, None
        how = MatchOptions(**settings["match"])
        return found, match_modes(robot, found, recording, options=how)


@together()
def _write(file: Path, found: ModalFit, match: ModalMatch | None, files: dict[str, Path]) -> None:
    if "plot" in files:
        from freefloat.report.plots import save_spectrum_plot

        title = f"{visible(file.name)}, {found.start:.4g} s and after"
        save_spectrum_plot(found, files["plot"], title=title)
    if "model" in files and match is not None:
        match.model.save(files["model"])


def _as_dict(
    file: Path, found: ModalFit, match: ModalMatch | None, written: dict[str, Path]
) -> dict[str, object]:
    """The modes for machines."""
    content: dict[str, object] = {
        "ok": bool(found.modes), "file": str(file), "start": found.start, "end": found.end,
        "misfit": found.misfit, "modes": [_mode(mode) for mode in found.modes],
        "others": [_mode(mode) for mode in found.others], "notes": screen.notes_json(found.notes),
        "peaks": [
            {"frequency": p.frequency, "height": p.height, "channels": list(p.channels)}
            for p in found.spectrum.peaks()
        ],
    }  # fmt: skip
    if match is not None:
        content["model"] = [
            {
                "frequency": m.mode.frequency,
                "damping": m.mode.damping,
                "seen": None if m.seen is None else m.seen.frequency,
                "ratio": m.ratio,
                "likeness": m.likeness,
            }
            for m in match.matches
        ]
        content["stiffness_factors"] = dict(match.factors)
    return {**content, "files": paths_as_text(written)}


def _mode(mode: SeenMode) -> dict[str, object]:
    return {
        "frequency": mode.frequency,
        "frequency_std": mode.frequency_std,
        "damping": mode.damping,
        "damping_std": mode.damping_std,
        "strength": mode.strength,
        "kind": mode.kind,
        "of": mode.of,
        "amplitude": {name: abs(value) for name, value in mode.shape.items()},
    }


def _overview(
    file: Path, found: ModalFit, match: ModalMatch | None, written: dict[str, Path]
) -> Iterator[RenderableType]:
    """The stretch, its modes, those of the model beside them, and what was written."""
    span = f" · free response from {found.start:.4g} to {found.end:.4g} s"
    yield Text.assemble((visible(file.name), "bold"), span)
    head = ("frequency [Hz]", "damping ratio", "x noise", "most in", "what")
    rows = [_row(mode) for mode in (*found.modes, *found.others)]
    yield from screen.section("Oscillations", screen.table(head, rows, align="Rrrll"))
    if match is not None:
        yield from _matches(match)
    yield ""
    pairs = [("residual", f"{found.misfit:.3g} x noise"), *[("note", n) for n in found.notes]]
    yield screen.facts([*pairs, *((f"{what} written", path) for what, path in written.items())])
    verdict = count_noun(len(found.modes), "mode") if found.modes else f"no mode: {_why(found)}"
    yield Text(verdict, style="bold green" if found.modes else "bold red")


def _why(found: ModalFit) -> str:
    """Why there is no mode."""
    kinds = {mode.kind for mode in found.others}
    if "driven" in kinds:
        return "what oscillates here may be driven"
    return "what oscillates here grows" if "growing" in kinds else "nothing oscillates here"


def _row(mode: SeenMode) -> tuple[str, ...]:
    strongest = max(mode.shape, key=lambda name: abs(mode.shape[name]), default="–")
    return (
        _with_std(mode.frequency, mode.frequency_std),
        _with_std(mode.damping, mode.damping_std),
        f"{mode.strength:.3g}",
        strongest,
        f"{mode.kind} {mode.of}".strip(),
    )


def _with_std(value: float, std: float) -> str:
    """Digits down to the deviation's first, at most five of them."""
    digits = min(5, max(1, -floor(log10(std)))) if 0.0 < std < 1.0 else 1
    return f"{value:.{digits}f} ±{max(std, 10.0**-digits):.{digits}f}"


def _matches(match: ModalMatch) -> Iterator[RenderableType]:
    rows = []
    for pair in match.matches:
        movers = sorted(pair.mode.shape, key=lambda name: -abs(pair.mode.shape[name]))
        seen = "not seen" if pair.seen is None else f"{pair.seen.frequency:.4f}"
        ratio = "–" if pair.ratio is None else f"{pair.ratio:.4f}"
        alike = "–" if pair.seen is None else f"{pair.likeness:.3f}"
        rows.append((f"{pair.mode.frequency:.4f}", f"{pair.mode.damping:.4f}", seen, ratio, alike,
                     ", ".join(movers[:2])))  # fmt: skip
    head = ("model [Hz]", "damping", "seen [Hz]", "ratio", "MAC", "moves")
    table = screen.table(head, rows, align="Rrrrrl")
    yield from screen.section("The model's modes at this posture", table)
    if match.unmatched:
        seen = ", ".join(f"{mode.frequency:.4g} Hz" for mode in match.unmatched)
        yield screen.facts([("unexplained", f"{seen}: no mode of the model is like it")])
    if match.factors:
        factors = ", ".join(f"{owner} x {value:.3f}" for owner, value in match.factors.items())
        yield screen.facts([("springs that agree", factors)])
