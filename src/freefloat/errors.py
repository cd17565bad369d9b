"""Every error freefloat raises on purpose, and the faults that explain it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SHOWN_FAULTS = 20  # format: more than a screen of faults is not read
SHOWN_VALUE_LENGTH = 100  # format: a value and its expectation fit two lines of a terminal


def visible(text: str, *, keep: str = "") -> str:
    r"""Return `text` with everything escaped that a terminal would obey instead of showing it.

    That is control characters, overrides of the writing direction, and bytes of file names that are
    no UTF-8; characters of `keep` stay as they are.

    >>> print(visible("a\n\x1b[2Jb"))
    a\n\x1b[2Jb
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def shorten(value: str, length: int = SHOWN_VALUE_LENGTH) -> str:
    """Return `value` fit for one line of a terminal: control characters escaped, length bounded."""
    # A hostile value may be megabytes long; escaping only ever lengthens it, so cut first.
    shown = visible(value[: length + 1])
    return shown if len(shown) <= length else shown[: length - 1] + "…"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with an input: where it is, what was found, what was expected, the remedy.

    `code` is what programs and tests look at: it stays when the sentences change. The families:

    - `file.*`: missing, unreadable, unwritable, exists, conflict (with another file), outside (of
      its folder), suffix, size, encoding, syntax, depth, format, version;
    - `key.*` of a table: missing, unknown, duplicate;
    - `value.*`: type, range, choice, count, order, norm, conflict (with another value);
    - `name.*` of a part: unknown, duplicate, form;
    - what is particular to one kind of input: `model.*`, `urdf.*`, `plan.*`, `channel.*`, ...

    `line` is the line of the input file, where that is known.

    >>> fault = Fault("joint 'arm_1'.damping", "-0.1", ">= 0", "drop the sign", "value.range")
    >>> print(fault)
    joint 'arm_1'.damping: got -0.1; expected >= 0; drop the sign
    """

    place: str
    value: str
    expected: str
    remedy: str
    code: str = "input.invalid"
    line: int | None = None

    def __str__(self) -> str:
        place = shorten(self.place, 2 * SHOWN_VALUE_LENGTH)
        parts = [f"got {shorten(self.value)}", f"expected {self.expected}", self.remedy]
        return visible(f"{place}: " + "; ".join(part for part in parts if part))


class FreefloatError(Exception):
    """Base of every error raised on purpose; `faults` lists each thing found wrong.

    An error whose message says it all has no faults but a `code` of its own, of the families of
    `Fault` or: `option.*` of an argument, `parameters.*`, `method.*` (cannot do that), `samples.*`.

    >>> FreefloatError("the duration is negative", code="option.range").codes
    ('option.range',)
    """

    def __init__(self, message: str, faults: Sequence[Fault] = (), code: str = "") -> None:
        super().__init__(message, tuple(faults), code)  # all three: what pickle makes it from
        self.message = message
        self.faults: tuple[Fault, ...] = tuple(faults)
        self.code = code

    @property
    def codes(self) -> tuple[str, ...]:
        """What is wrong, for programs: the error's own code, then those of its faults in order."""
        own = (self.code,) if self.code else ()
        return own + tuple(fault.code for fault in self.faults)

    def __str__(self) -> str:
        lines = [visible(self.message), *(f"  {fault}" for fault in self.faults[:SHOWN_FAULTS])]
        unshown = len(self.faults) - SHOWN_FAULTS
        if unshown > 0:
            lines.append(f"  ... and {unshown} more")
        return "\n".join(lines)


def require_type(
    value: object,
    kinds: type | tuple[type, ...],
    argument: str,
    *,
    error: type[FreefloatError] = FreefloatError,
) -> None:
    """Raise an error that names the argument unless a value is of one of some types.

    >>> require_type("servicer", int, "seed")
    Traceback (most recent call last):
    ...
    freefloat.errors.FreefloatError: seed cannot be used
      seed: got 'servicer' (str); expected int
    """
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    if isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool)):
        return
    expected = " or ".join(kind.__name__ for kind in kinds)
    shown = f"{shorten(repr(value), 40)} ({type(value).__name__})"
    raise error(f"{argument} cannot be used", [Fault(argument, shown, expected, "", "value.type")])


def require_all(
    values: object, kind: type, argument: str, *, error: type[FreefloatError] = FreefloatError
) -> None:
    """The same for a sequence of which every item is to be of one type."""
    require_type(values, (list, tuple), argument, error=error)
    for number, value in enumerate(values):  # type: ignore[arg-type]
        require_type(value, kind, f"{argument}[{number}]", error=error)


class ModelError(FreefloatError):
    """A robot model that cannot be read, or that no real robot could have."""


class TelemetryError(FreefloatError):
    """Telemetry that cannot be read, or that does not fit the model it is used with."""


class ExcitationError(FreefloatError):
    """An exciting trajectory that cannot be built within the limits given."""


class IdentificationError(FreefloatError):
    """An identification that cannot be carried out with the data and choices given."""


class CampaignError(FreefloatError):
    """A campaign that cannot be read, or whose runs can neither be carried out nor kept."""
