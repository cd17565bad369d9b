"""`freefloat spectrum`: what swings in a recording, and which modes of the model that is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from freefloat.cli.options import Shared

if TYPE_CHECKING:
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
    plot: Path | None = None,
    save_model: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Find the modes that swing freely in a recording: frequency and damping.

    Looks at the longest stretch on which the driven joints rest, at every
    channel that answers to a swing. Harmonics of a wide swing (0.46 Hz of a
    0.23 Hz mode) are told as such and never taken for modes. With a model, its
    modes are set beside those seen, by frequency and by shape, and its springs
    can be scaled to agree (--save-model): a start for identification.

    Exit code 1 says that nothing swings there.

    For example:
      freefloat spectrum flight.parquet --model servicer-wings --plot modes.png
      freefloat spectrum flight.csv --between 20 60 --channels 'base.rate.*'

    Parameters
    ----------
    file
        The recording: .parquet, .pq, .csv or .tsv.
    model
        A built-in model or a .toml or .urdf file, to be compared with.
    channels
        Names or globs of the channels to look at.
    between
        Start and end [s] of the stretch to look at.
    bandwidth
        The highest frequency of interest [Hz].
    plot
        A picture of the spectra to write: .png, .svg or .pdf. Needs freefloat[plot].
    save_model
        The model with its springs scaled to the modes seen, to write (.toml).
    """
    from freefloat.cli import screen
    from freefloat.cli.spectrum_view import overview
    from freefloat.errors import FreefloatError

    if save_model is not None and model is None:
        raise FreefloatError("--save-model scales the springs of a model: name it with --model")
    found, match = _look(file, model, channels, between, bandwidth)
    written = _write(file, found, match, plot, save_model)
    if shared.json:
        screen.print_json(as_dict(file, found, match, written))
    else:
        screen.show(*overview(file, found, match, written))
    return 0 if found.modes else 1


def _look(
    file: Path,
    model: str | None,
    channels: list[str] | None,
    between: tuple[float, float] | None,
    bandwidth: float,
) -> tuple[ModalFit, ModalMatch | None]:
    from freefloat.errors import FreefloatError
    from freefloat.identification.modes.modal import identify_modes
    from freefloat.identification.modes.modal_match import match_modes
    from freefloat.model import load_model
    from freefloat.telemetry import read_telemetry

    if not 0.0 < bandwidth < float("inf"):
        raise FreefloatError(f"the bandwidth is {bandwidth:g} Hz; give a frequency such as 2")
    own = None if model is None else load_model(model)
    read = read_telemetry(file)
    found = identify_modes(read, own, channels=channels, between=between, bandwidth=bandwidth)
    return found, None if own is None else match_modes(own, found, read)


def _write(
    file: Path,
    found: ModalFit,
    match: ModalMatch | None,
    plot: Path | None,
    save_model: Path | None,
) -> dict[str, Path]:
    written = {}
    if plot is not None:
        from freefloat.report.spectrum_plot import save_spectrum_plot

        save_spectrum_plot(found, plot, title=f"{file.name}, {found.start:.4g} s and after")
        written["plot"] = plot
    if save_model is not None and match is not None:
        match.model.save(save_model)
        written["model"] = save_model
    return written


def as_dict(
    file: Path, found: ModalFit, match: ModalMatch | None, written: dict[str, Path]
) -> dict[str, object]:
    """The modes for machines."""
    content: dict[str, object] = {
        "ok": bool(found.modes), "file": str(file), "start": found.start, "end": found.end,
        "misfit": found.misfit, "modes": [_mode(mode) for mode in found.modes],
        "others": [_mode(mode) for mode in found.others], "notes": list(found.notes),
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
    return {**content, "files": {what: str(path) for what, path in written.items()}}


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
