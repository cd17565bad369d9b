"""Sentences and tables as plain text: guesses at misspelt words, short lists, aligned columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from textwrap import wrap

# theory: comparing words takes time in the product of their lengths, and a hostile one may be long
LONGEST_WORD = 100


def closest(
    word: str, known: Collection[str], *, most: int = 1, likeness: float = 0.6
) -> list[str]:
    """The known words most like `word`, the likest first; those that differ by case come first.

    Args:
        word: what somebody wrote.
        known: the words that would have been right.
        most: how many words at most.
        likeness: the share of letters in common that a word must have, 0 to 1 (difflib's ratio).

    Returns:
        The words; none where nothing is alike.

    >>> closest("Bus.mas", ["bus.mass", "target.mass"])
    ['bus.mass']
    """
    word = word[:LONGEST_WORD]
    same = [one for one in known if one.lower() == word.lower()]
    close = get_close_matches(word, [one for one in known if one not in same], most, likeness)
    return [*same, *close][:most]


def did_you_mean(
    word: str,
    known: Collection[str],
    *,
    otherwise: str = "",
    most: int = 1,
    likeness: float = 0.6,
) -> str:
    """A question that names the known words most like `word`, or `otherwise` if there are none.

    Args:
        word, known, most, likeness: as for `closest`.
        otherwise: what to say where nothing is alike.

    Returns:
        A remedy for a fault.

    >>> did_you_mean("momentun", ["momentum", "weak"])
    "did you mean 'momentum'?"
    """
    close = closest(word, known, most=most, likeness=likeness)
    return f"did you mean {' or '.join(map(repr, close))}?" if close else otherwise


def listing(words: Iterable[object], *, most: int = 12, between: str = ", ") -> str:
    """Words in a row; past the first `most` it is said how many more there are.

    >>> listing(["bus.mass", "bus.mx", "bus.my"], most=2)
    'bus.mass, bus.mx and 1 more'
    """
    shown = [str(word) for word in words]
    more = len(shown) - most
    return between.join(shown[:most]) + (f" and {more} more" if more > 0 else "")


def name_list(names: Sequence[str]) -> str:
    """Names one after the other; those in the middle left out when there are many.

    >>> name_list(["a", "b", "c", "d", "e"])
    'a, b, … e (5)'
    """
    if len(names) <= 4:
        return ", ".join(names)
    return f"{names[0]}, {names[1]}, … {names[-1]} ({len(names)})"


def count_noun(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun.

    >>> count_noun(1, "row"), count_noun(2, "row"), count_noun(3, "axis", "axes")
    ('1 row', '2 rows', '3 axes')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def paragraph(text: str, *, width: int = 80, indent: str = "") -> list[str]:
    """Lines no longer than `width`, those after the first indented."""
    return wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def table_lines(
    rows: Sequence[Sequence[str]], *, left: int | Sequence[bool] = 1, gap: str = "  "
) -> list[str]:
    r"""Rows as lines with aligned columns; the first row is usually the head.

    Args:
        rows: cells as text, equally many in every row.
        left: how many columns, from the first on, are flush left, or a flag for each; the others,
            numbers, are flush right.
        gap: what stands between columns.

    Returns:
        One line a row, without trailing spaces.

    >>> print("\n".join(table_lines([("name", "value"), ("bus.mass", "2550")])))
    name      value
    bus.mass   2550
    """
    if not rows:
        return []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    flush = [k < left for k in range(len(widths))] if isinstance(left, int) else list(left)
    return [
        gap.join(
            cell.ljust(width) if is_left else cell.rjust(width)
            for cell, width, is_left in zip(row, widths, flush, strict=True)
        ).rstrip()
        for row in rows
    ]
