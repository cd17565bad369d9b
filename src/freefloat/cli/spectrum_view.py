"""How `freefloat spectrum` shows modes on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from freefloat.cli.screen import counted, facts, heading, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.identification.modes.modal import ModalFit, SeenMode
    from freefloat.identification.modes.modal_match import ModalMatch


def overview(
    file: Path, found: ModalFit, match: ModalMatch | None, written: dict[str, Path]
) -> Iterator[RenderableType]:
    """The stretch, the modes seen, those of the model beside them, and what was written."""
    span = f" · free swing from {found.start:.4g} to {found.end:.4g} s"
    yield Text.assemble((file.name, "bold"), span)
    yield ""
    yield heading("Oscillations seen")
    head = ("frequency [Hz]", "damping ratio", "x noise", "most in ", "what ")
    yield table(head, [_row(mode) for mode in (*found.modes, *found.others)], left=0)
    if match is not None:
        yield ""
        yield from _beside(match)
    yield ""
    pairs = [("left over", f"{found.misfit:.3g} x noise"), *[("note", n) for n in found.notes]]
    yield facts([*pairs, *((f"{what} written", path) for what, path in written.items())])
    verdict = counted(len(found.modes), "mode") if found.modes else "no mode: nothing swings here"
    yield Text(verdict, style="bold green" if found.modes else "bold red")


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
    from math import floor, log10

    digits = min(5, max(1, -floor(log10(std)))) if 0.0 < std < 1.0 else 1
    return f"{value:.{digits}f} ±{max(std, 10.0**-digits):.{digits}f}"


def _beside(match: ModalMatch) -> Iterator[RenderableType]:
    yield heading("The model's modes at this posture")
    rows = []
    for pair in match.matches:
        movers = sorted(pair.mode.shape, key=lambda name: -abs(pair.mode.shape[name]))
        seen = "not seen" if pair.seen is None else f"{pair.seen.frequency:.4f}"
        ratio = "–" if pair.ratio is None else f"{pair.ratio:.4f}"
        alike = "–" if pair.seen is None else f"{pair.likeness:.3f}"
        rows.append((f"{pair.mode.frequency:.4f}", f"{pair.mode.damping:.4f}", seen, ratio, alike,
                     ", ".join(movers[:2])))  # fmt: skip
    head = ("model [Hz]", "damping", "seen [Hz]", "ratio", "alike", "moves ")
    yield table(head, rows, left=0)
    if match.unmatched:
        seen = ", ".join(f"{mode.frequency:.4g} Hz" for mode in match.unmatched)
        yield facts([("unexplained", f"{seen}: no mode of the model is like it")])
    if match.factors:
        factors = ", ".join(f"{owner} x {value:.3f}" for owner, value in match.factors.items())
        yield facts([("springs that agree", factors)])
