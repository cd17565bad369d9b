"""What the command prints, and where: results on standard output, all the rest on standard error.

Text from files is never taken for markup, and with `--json` standard output holds JSON only.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from freefloat.errors import SHOWN_FAULTS, Fault, FreefloatError, shorten, visible
from freefloat.notes import as_note
from freefloat.text import paragraph

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType

_UNSAFE = re.compile(r"[^\n -~]")  # what may need an escape: all but ASCII that shows
LEAST_TEXT = 5  # format: characters that are left of a text where there is no room


class _Console(Console):
    """A console that takes text as it is, and leaves a broken pipe to whoever runs the command."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, highlight=False, emoji=False)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """What is printed, with nothing in it that a terminal would obey; whoever wrote it."""
        for segment in super().render(renderable, options):
            text = visible(segment.text, keep="\n")
            is_safe = segment.control or text == segment.text
            yield segment if is_safe else Segment(text, segment.style)


def results() -> Console:
    """The console of standard output."""
    return _Console()


def notes() -> Console:
    """The console of standard error."""
    return _Console(stderr=True)


def never_fail_to_encode() -> None:
    """Let a terminal that knows no arrows or Greek show question marks instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # a stand-in without encoding, or closed
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def note(text: str) -> None:
    """One line for people, on standard error."""
    notes().print(Text(text, style="dim"))


# -- parts of a result -----------------------------------------------------------------------------


def show(*parts: RenderableType) -> None:
    """Print parts of a result one below the other."""
    console = results()
    for part in parts:
        console.print(part)


def heading(title: str) -> Text:
    """The title of a section."""
    return Text(title, style="bold")


def section(title: str, *parts: RenderableType) -> tuple[RenderableType, ...]:
    """An empty line, a title, and what stands below it."""
    return "", heading(title), *parts


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    align: str,
    gap: int = 2,
    optional: Sequence[str] = (),
) -> Padding:
    """A plain table, indented. Numbers are whole, however narrow the terminal is.

    Args:
        head: The titles of the columns.
        rows: Cells; what is no Text is shown as it prints.
        align: A letter a column, l for text and r for numbers, capital where a cell is never broken
            over two lines; a text that is too long ends in an ellipsis then.
        gap: Spaces between columns.
        optional: Titles of columns that are left out where there is no room, the first one first.
    """
    cells = [[_cell(one) for one in row] for row in rows]
    widths = [
        max(cell_len(str(line)) for line in (title, *(row[k] for row in cells)))
        for k, title in enumerate(head)
    ]
    shown, room = list(range(len(head))), results().width - 2 + gap
    for title in optional:
        if sum(widths[k] + gap for k in shown) > room:
            shown = [k for k in shown if head[k] != title]
    excess = sum(widths[k] + gap for k in shown) - room
    for k in sorted((k for k in shown if align[k] in "lL"), key=lambda k: -widths[k]):
        cut = max(0, min(excess, widths[k] - LEAST_TEXT))
        widths[k], excess = widths[k] - cut, excess - cut
    grid = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="dim")
    for k in shown:
        is_number, is_whole = align[k] in "rR", align[k].isupper()
        grid.add_column(
            head[k], justify="right" if is_number else "left",
            overflow="ellipsis" if is_whole else "fold", no_wrap=is_whole or is_number,
            min_width=widths[k] if is_number else None, max_width=None if is_number else widths[k],
        )  # fmt: skip
    for row in cells:
        grid.add_row(*(row[k] for k in shown))
    return indent(grid)


def facts(pairs: Iterable[tuple[str, object]]) -> Padding:
    """Names and what there is to say of each, one a line."""
    grid = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in pairs:
        grid.add_row(_cell(name), _cell(value))
    return indent(grid)


def _cell(value: object) -> Text | str:
    """A cell of a table; a name or a path with a line break in it stays on its line."""
    return value if isinstance(value, Text) else visible(str(value))


def item(text: str) -> Padding:
    """A line of a list."""
    return facts([("·", shorten(text, 400))])


def files_section(written: Mapping[str, Path], *, missing: str = "") -> tuple[RenderableType, ...]:
    """The files that were written, and what to say of one that was not."""
    parts: list[RenderableType] = []
    if written:
        parts.append(facts((what, str(path)) for what, path in written.items()))
    if missing:
        parts.append(indent(Text(missing, style="yellow")))
    return section("Files", *parts) if parts else ()


def indent(part: RenderableType) -> Padding:
    """A part moved to the right, its other lines as well."""
    return Padding(part, (0, 0, 0, 2), expand=False)


# -- JSON ------------------------------------------------------------------------------------------


def print_json(content: Mapping[str, object], *, is_line: bool = False) -> None:
    """The result for machines; numbers that are not finite become null."""
    if sys.stdout is not None:  # closed by whoever started us
        sys.stdout.write(json_text(content, indent=None if is_line else 2) + "\n")


def print_lines(text: str) -> None:
    """Print a text for a file as it is, without regard to the width of the screen."""
    results().print(visible(text.rstrip("\n"), keep="\n"), soft_wrap=True, markup=False)


def json_text(content: Mapping[str, object], *, indent: int | None = None) -> str:
    """JSON without NaN or infinity, which it does not know: null stands for them."""
    text = json.dumps(jsonable(content), indent=indent, ensure_ascii=False, allow_nan=False)
    # What a terminal would obey stands as \uXXXX: JSON reads it as the same character.
    return text if text.isprintable() else _UNSAFE.sub(_json_escape, text)


def _json_escape(found: re.Match[str]) -> str:
    character = found[0]
    return character if character.isprintable() else json.dumps(character)[1:-1]


def jsonable(value: object) -> object:
    """Lists, dictionaries and numbers that JSON knows; what is not finite becomes None."""
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str | int | float | bool | None):
        return value
    to_list = getattr(value, "tolist", None)  # NumPy arrays and scalars
    return jsonable(to_list()) if to_list is not None else str(value)


def notes_json(found: Iterable[str]) -> list[dict[str, str]]:
    """Notes with their codes."""
    return [as_note(one).as_dict() for one in found]


# -- errors ----------------------------------------------------------------------------------------


def tell_error(error: FreefloatError, *, is_json: bool = False) -> None:
    """Every fault of an error on standard error; with `--json` the same on standard output."""
    _tell("error", error.message)
    for fault in error.faults[:SHOWN_FAULTS]:
        place, _, rest = str(fault).partition(": got ")
        _print_wrapped(place, indent=2)
        if rest:
            _print_wrapped(f"got {rest}", indent=6)
    unshown = len(error.faults) - SHOWN_FAULTS
    if unshown > 0:
        _print_wrapped(f"... and {unshown} more", indent=2)
    if is_json:
        faults = [asdict(fault) for fault in error.faults]
        _print_json_error(type(error).__name__, error.message, faults, error.codes)


def tell_misuse(fault: Fault, verb: str, *, is_json: bool) -> None:
    """What is wrong with the arguments, and how to see the right ones."""
    _tell("error", fault.value)
    _print_wrapped(f"`{verb} --help` shows how it is used", indent=2)
    if is_json:
        _print_json_error("usage", fault.value, [asdict(fault)], [fault.code])


def tell_bug(what: str, *, is_debug: bool, is_json: bool) -> None:
    """What happened, how to see more and what to hand on so that it is mended."""
    hint = "" if is_debug else ", --debug shows the traceback"
    message = f"{what}. That is freefloat's fault: `freefloat bug-report bug.zip --run '...'`"
    message += f" collects what is needed to mend it{hint}"
    _tell("bug", message)
    if is_json:
        _print_json_error("bug", message, [], ["bug"])


def _tell(title: str, message: str) -> None:
    lines = _wrap(f"{title}: {shorten(message, 600)}", indent=0, hanging=2)
    first = Text(lines[0])
    first.stylize("bold red", 0, len(title) + 1)
    notes().print(first, *map(Text, lines[1:]), sep="\n", soft_wrap=True)


def _print_wrapped(text: str, *, indent: int) -> None:
    notes().print(Text("\n".join(_wrap(text, indent=indent, hanging=indent))), soft_wrap=True)


def _wrap(text: str, *, indent: int, hanging: int) -> list[str]:
    """Lines broken between words only: a path that is cut cannot be copied."""
    width = max(40, notes().width)
    return paragraph(" " * indent + text, width=width, indent=" " * hanging)


def _print_json_error(
    kind: str, message: str, faults: list[dict[str, object]], codes: Sequence[str]
) -> None:
    error = {"kind": kind, "message": message, "codes": list(codes), "faults": faults}
    print_json({"ok": False, "error": error})
