"""`freefloat export`: fits, verdicts and flights in the formats of other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from freefloat.cli import screen
from freefloat.cli.options import Shared, require
from freefloat.cli.output_files import OutputFiles, paths_as_text
from freefloat.errors import Fault, FreefloatError

if TYPE_CHECKING:
    from freefloat import Fit, Telemetry

ExportFormat = Literal["urdf", "mjcf", "toml", "csv", "json", "latex", "mcap", "mat", "parquet"]
# format: the suffix of each, and what can be made of what
SUFFIXES = {"mjcf": ".xml", "latex": ".tex"}
MODEL_FORMATS = ("urdf", "mjcf", "toml")
TABLE_FORMATS = ("csv", "json", "latex")
FitTable = Literal["estimates", "mass-properties"]
CURVE_FORMATS = ("csv", "mcap", "mat", "parquet")


def export(
    source: Path,
    /,
    *,
    to: ExportFormat,
    out: Path | None = None,
    table: FitTable = "estimates",
    like: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Write a fit, a verdict or a flight in the format of another program.

    A fit becomes a robot with the estimates written in (urdf, mjcf, toml) or a
    table of them (csv, json, latex). A verdict becomes curves: measured,
    predicted and residual (mcap, csv, mat, parquet), thinned as in its report.
    A flight is converted to another format. Foxglove and PlotJuggler open
    .mcap. Without --out, tables go to standard output.

    For example:
      freefloat export fit.json --to latex
      freefloat export fit.json --to csv --table mass-properties
      freefloat export fit.json --to urdf --out servicer.urdf
      freefloat export fit.json --to mjcf --like robot.xml --out identified.xml
      freefloat export verdict.json --to mcap --out curves.mcap

    Parameters
    ----------
    source
        A fit or a verdict (.json), or a flight.
    to
        The format.
    out
        The file to write; a table is printed by default.
    table
        What the table of a fit contains (csv, latex); json has both.
    like
        The URDF or MJCF that the robot was read from, beside --out: only its numbers change.
    """
    kind = _kind(source)
    require([*_format_faults(kind, to), *_out_faults(to, out, kind), *_like_faults(to, like)])
    files = OutputFiles(export=("--out", out))
    files.require_possible(source=source, like=like)
    if kind == "fit" and to in TABLE_FORMATS:
        _write_table(_load_fit(source), to, table, out)
    elif kind == "fit":
        assert out is not None  # its suffix was looked at
        _load_fit(source).model.save(out, like=like)
    else:
        assert out is not None
        _curves(source, kind, shared.max_bytes).save(out)
    if shared.json and out is not None:
        screen.print_json({"source": str(source), "to": to, "files": paths_as_text(files.paths)})
    elif out is not None:
        screen.show(*screen.files_section(files.paths))
    return 0


def _kind(source: Path) -> str:
    """What a file holds: a fit and a verdict say so themselves."""
    if source.suffix.lower() != ".json":
        return "flight"
    from freefloat.identification.fit import FIT_FILE
    from freefloat.records.bounded_read import read_text
    from freefloat.records.json_text import parse_json

    raw = parse_json(read_text(source, FIT_FILE), source.name, FIT_FILE)
    return "verdict" if raw.get("format") == "freefloat verdict" else "fit"


def _format_faults(kind: str, to: str) -> Iterator[Fault]:
    known = (*MODEL_FORMATS, *TABLE_FORMATS) if kind == "fit" else CURVE_FORMATS
    if to not in known:
        expected = f"of a {kind}: {', '.join(known)}"
        yield Fault("--to", to, expected, "choose one of these", "value.choice")


def _out_faults(to: str, out: Path | None, kind: str) -> Iterator[Fault]:
    suffix = SUFFIXES.get(to, f".{to}")
    if out is None and not (kind == "fit" and to in TABLE_FORMATS):
        yield Fault("--out", "nothing", "a file to write", f"add --out NAME{suffix}", "key.missing")
    elif out is not None and out.suffix.lower() != suffix:
        value = f"{out} ({out.suffix or 'no suffix'})"
        yield Fault("--out", value, f"a name that ends in {suffix}", "rename it", "file.suffix")


def _like_faults(to: str, like: Path | None) -> Iterator[Fault]:
    if like is None:
        return
    if to not in ("urdf", "mjcf"):
        expected, remedy = "--to urdf or --to mjcf", "leave --like out"
        yield Fault("--like", f"with --to {to}", expected, remedy, "option.conflict")
    elif not like.is_file():
        yield Fault("--like", f"no file {like}", "a file", "correct its name", "file.missing")


def _load_fit(source: Path) -> Fit:
    from freefloat.identification.fit import load_fit

    return load_fit(source)


def _write_table(fit: Fit, to: str, table: FitTable, out: Path | None) -> None:
    from freefloat.files import atomic_write
    from freefloat.report.fit_tables import fit_csv, fit_json, fit_latex, mass_csv, mass_latex

    makers: dict[str, Callable[[Fit], str]] = {
        "csv": fit_csv, "json": fit_json, "latex": fit_latex,
    }  # fmt: skip
    if table == "mass-properties":
        makers |= {"csv": mass_csv, "latex": mass_latex}
    text = makers[to](fit)
    if out is None:
        screen.print_lines(text)
    else:
        atomic_write(out, text)


def _curves(source: Path, kind: str, max_bytes: int) -> Telemetry:
    if kind == "verdict":
        from freefloat.validation.verdict import load_verdict
        from freefloat.validation.verdict_telemetry import verdict_telemetry

        return verdict_telemetry(load_verdict(source))
    from freefloat.telemetry import read_telemetry

    try:
        return read_telemetry(source, max_bytes=max_bytes)
    except FreefloatError as error:
        message = f"{error.message}; expected a fit, a verdict or a flight"
        raise type(error)(message, error.faults, error.code) from None
