"""`--set NAME=VALUE`: the numbers of a method that a user may choose, from its option dataclasses.

Names, types, defaults and descriptions are those of the dataclass's fields: the string below a
field, or its entry in the `Args:` or `Attributes:` section of the class. None is repeated here.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from textwrap import dedent
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from freefloat.cli.options import require
from freefloat.errors import Fault
from freefloat.records.option_record import option_check
from freefloat.records.values import Check, RefusedError
from freefloat.text import did_you_mean, table_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

HELP = "help"


@dataclass(frozen=True)
class OptionGroup:
    """An option dataclass of a verb: the word for it, where it is, and fields with a flag."""

    word: str
    place: str  # module:class
    flags: tuple[str, ...] = ()

    @property
    def options(self) -> type:
        """The dataclass."""
        module, _, name = self.place.partition(":")
        return getattr(import_module(module), name)


_IDENTIFICATION, _ONLINE = "freefloat.identification", "freefloat.online.filter_options"
_LINEAR_FLAGS = ("solver", "robust", "physical", "momentum", "drag", "clock")
GROUPS: dict[str, tuple[OptionGroup, ...]] = {
    "design": (
        OptionGroup("effort", "freefloat.design:Effort", flags=("starts", "rounds", "seconds")),
    ),
    "identify": (
        OptionGroup("search", f"{_IDENTIFICATION}.output_error.options:SearchOptions",
                    flags=("starts", "profile")),
        OptionGroup("linear", f"{_IDENTIFICATION}.linear.linear_options:LinearOptions",
                    flags=_LINEAR_FLAGS),
        OptionGroup("trust", f"{_IDENTIFICATION}.fit_assembly:TrustLimits"),
        OptionGroup("assessment", f"{_IDENTIFICATION}.trust.trust_options:TrustOptions"),
    ),
    "spectrum": (
        OptionGroup("modal", f"{_IDENTIFICATION}.modes.free_response:ModalOptions"),
        OptionGroup("match", f"{_IDENTIFICATION}.modes.modal_match:MatchOptions"),
    ),
    "structure": (
        OptionGroup("search", f"{_IDENTIFICATION}.output_error.options:SearchOptions"),
        OptionGroup("trust", f"{_IDENTIFICATION}.fit_assembly:TrustLimits"),
        OptionGroup("tests", f"{_IDENTIFICATION}.trust.trust_options:TrustOptions"),
    ),
    "telemetry": (OptionGroup("quality", "freefloat.telemetry.quality_checks:QualityLimits"),),
    "track": (
        OptionGroup("filter", f"{_ONLINE}:FilterOptions"),
        OptionGroup("limits", "freefloat.online.kernels.kernel_limits:KernelLimits"),
        OptionGroup("startup", f"{_ONLINE}:StartupOptions"),
        OptionGroup("frames", f"{_ONLINE}:FrameOptions"),
        OptionGroup("kalman", f"{_ONLINE}:KalmanOptions"),
    ),
    "validate": (
        OptionGroup("acceptance", "freefloat.validation.acceptance:AcceptanceLimits",
                    flags=("error", "tip")),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class OptionField:
    """A field of an option dataclass, as a user sees it."""

    group: str
    record: type
    name: str
    hint: Any
    default: object
    text: str

    @property
    def type(self) -> str:
        """The type in a word or two, such as "numbers or none"."""
        return _type_text(self.hint)

    @property
    def check(self) -> Check:
        """The check of a value, the same as in Python."""
        return option_check(self.record, self.name)


def settings_of(verb: str) -> list[OptionField]:
    """Everything that `--set` of a verb knows.

    >>> [setting.name for setting in settings_of("identify") if setting.group == "search"][:2]
    ['step', 'horizons']
    """
    return [setting for group in GROUPS.get(verb, ()) for setting in _settings(group)]


def parse_settings(verb: str, texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Values by group and name, checked; FreefloatError with every fault of theirs.

    A name that two groups have is written with its group: `--set search.step=0.005`.

    >>> parse_settings("identify", ["step=0.005", "horizons=4,8"])["search"]
    {'step': 0.005, 'horizons': (4.0, 8.0)}
    """
    known = settings_of(verb)
    found: dict[str, dict[str, Any]] = {group.word: {} for group in GROUPS.get(verb, ())}
    faults: list[Fault] = []
    for text in texts:
        name, is_given, value = text.partition("=")
        matching = [s for s in known if name in (s.name, f"{s.group}.{s.name}")]
        if not is_given:
            faults.append(_fault(text, "NAME=VALUE", "--set help lists the names", "option.form"))
        elif len(matching) != 1:
            faults.append(_name_fault(name, matching, known))
        elif matching[0].name in found[matching[0].group]:
            remedy = "leave one of them out"
            faults.append(_fault(text, f"{name} once", remedy, "name.duplicate"))
        else:
            (setting,) = matching
            given = _read(setting.hint, value)
            try:
                found[setting.group][setting.name] = setting.check(given)
            except RefusedError as refused:
                found[setting.group][setting.name] = given  # so that a second one is noticed
                first = refused.faults[0]
                expected = f"{setting.name} = {setting.type}"
                expected += f", {first.expected}" if first.code == "value.range" else ""
                faults.append(_fault(text, expected, first.remedy, first.code))
    require(faults, "these options cannot be set:")
    return found


def unused_settings(given: Mapping[str, Mapping[str, object]], *, used: str) -> list[str]:
    """Names of settings that are of another method than the one that ran.

    Args:
        given: what `parse_settings` gave.
        used: the groups that counted, or `group.name` of single settings, separated by blanks.

    >>> unused_settings(parse_settings("identify", ["step=0.1", "passes=2"]), used="linear trust")
    ['search.step']
    """
    names = [f"{group}.{name}" for group, values in given.items() for name in values]
    return [n for n in names if not {n, n.partition(".")[0]}.intersection(used.split())]


def require_used(given: Mapping[str, Mapping[str, object]], *, used: str, by: str) -> None:
    """Raise FreefloatError for settings that `by`, whose groups are `used`, does not have."""
    unused = unused_settings(given, used=used)
    faults = (_fault(n, f"an option of {by}", "leave it out", "option.conflict") for n in unused)
    require(faults, "these options would change nothing:")


def is_help(arguments: Sequence[str]) -> str:
    """The verb whose settings are asked for by `--set help`; empty where none is.

    Asked before the arguments are parsed, so that no model or recording need be named.
    """
    verb = arguments[0] if arguments else ""
    pairs = {*itertools.pairwise(arguments), *((one, "") for one in arguments)}
    is_asked = ("--set", HELP) in pairs or (f"--set={HELP}", "") in pairs
    return verb if is_asked and verb in GROUPS else ""


def help_lines(verb: str, *, width: int) -> Iterator[RenderableType]:
    """Every setting of a verb: type, default and what it does."""
    from rich.text import Text

    from freefloat.text import paragraph

    for group in GROUPS[verb]:
        own = [setting for setting in settings_of(verb) if setting.group == group.word]
        yield Text(f"--set of freefloat {verb}: {group.word}", style="bold")
        rows = [(s.name, s.type, f"default {_value_text(s.default)}") for s in own]
        for setting, line in zip(own, table_lines(rows, left=3), strict=True):
            yield Text(f"  {line}")
            for part in paragraph(setting.text, width=width - 6):
                yield Text(f"      {part}", style="dim")


def as_dict(verb: str) -> dict[str, object]:
    """The same for machines."""
    return {
        "verb": verb,
        "settings": [
            {"group": s.group, "name": s.name, "type": s.type, "default": s.default, "text": s.text}
            for s in settings_of(verb)
        ],
    }


# -- the fields of a dataclass ---------------------------------------------------------------------


def _settings(group: OptionGroup) -> Iterator[OptionField]:
    options = group.options
    hints, texts = get_type_hints(options, include_extras=True), _field_texts(options)
    for name, default in _defaults(options).items():
        if name not in group.flags and _is_settable(hints[name]):
            yield OptionField(group.word, options, name, hints[name], default, texts.get(name, ""))


def _defaults(options: type) -> dict[str, object]:
    """The fields of a dataclass, or of a NamedTuple that kernels read, with their defaults."""
    if not is_dataclass(options):
        return dict(options._field_defaults)  # type: ignore[attr-defined]
    return {
        field.name: field.default_factory() if field.default is MISSING else field.default  # type: ignore[misc]
        for field in fields(options)
    }


def _is_settable(hint: Any) -> bool:
    """Whether a value can be written on a command line: numbers, words, lists of these."""
    plain = (int, float, bool, str, type(None))
    return all(kind in plain or get_origin(kind) is Literal for kind in _kinds(hint))


def _kinds(hint: Any) -> Iterator[Any]:
    """The plain types that a hint is made of."""
    if get_origin(hint) is Literal or not get_args(hint):
        yield hint
    elif hasattr(hint, "__metadata__"):  # Annotated
        yield from _kinds(get_args(hint)[0])
    else:
        for part in get_args(hint):
            if part is not Ellipsis:
                yield from _kinds(part)


@cache
def _field_texts(options: type) -> Mapping[str, str]:
    """What each field is: the string below it, or its entry in the class's docstring."""
    found = dict(_documented_fields(inspect.getdoc(options) or "", set(_defaults(options))))
    try:
        (tree,) = ast.parse(dedent(inspect.getsource(options))).body
    except (OSError, SyntaxError):  # no source at hand: the docstring alone
        return found
    body = getattr(tree, "body", [])
    for field, below in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match below:
                case ast.Expr(value=ast.Constant(value=str() as text)):
                    found[field.target.id] = " ".join(text.split())
    return found


def _documented_fields(docstring: str, names: set[str]) -> Iterator[tuple[str, str]]:
    """Entries `name: text` of an `Args:` section; or of prose, `name [unit]: text;`."""
    parts = re.split(r"^(?:Args|Attributes):\n", docstring, maxsplit=1, flags=re.MULTILINE)
    if len(parts) > 1:
        section = parts[1]
        entries = re.split(r"\n {4}(?=\w+:)", "\n" + section.partition("\n\n")[0])
        for entry in entries[1:]:
            name, _, text = entry.partition(":")
            yield name, " ".join(text.split())
        return
    flat = " ".join(docstring.partition(">>>")[0].split())
    entry = re.compile(r"(?<=[.;] )((?:\w+, )*\w+)((?: \[[^]]*\])?): ")
    marks = [m for m in entry.finditer(flat) if names.issuperset(m[1].split(", "))]
    ends = [*(mark.start() for mark in marks[1:]), len(flat)]
    for mark, end in zip(marks, ends, strict=False):  # without an entry there is one end too many
        text = flat[mark.end() : end]
        for name in mark[1].split(", "):  # `low, high: the two bounds`
            yield name, f"{mark[2].strip()} {text.strip().rstrip(';')}".strip()


# -- values ----------------------------------------------------------------------------------------


def _read(hint: Any, text: str) -> object:
    """What a text says: a number, a word, true, false or none, or a list of these."""
    if _is_list(hint) and text.strip().lower() != "none":
        return [_read_word(hint, part) for part in text.split(",") if part.strip()]
    return _read_word(hint, text)


def _read_word(hint: Any, text: str) -> object:
    """The value of one word, as far as the type has such values; else the word itself."""
    kinds, word = set(_kinds(hint)), text.strip()
    plain: dict[str, object] = {"none": None, "true": True, "false": False}
    if word.lower() in plain and type(plain[word.lower()]) in kinds:
        return plain[word.lower()]
    for kind in kinds & {int, float} if "_" not in word else ():
        with suppress(ValueError):
            return kind(word)
    return word


def _is_list(hint: Any) -> bool:
    if hasattr(hint, "__metadata__"):
        return _is_list(get_args(hint)[0])
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(map(_is_list, get_args(hint)))
    return isinstance(origin, type) and issubclass(origin, Collection)


def _type_text(hint: Any) -> str:
    kinds, words = list(dict.fromkeys(_kinds(hint))), []
    many = "s" if _is_list(hint) else ""
    names = {float: "number", int: "whole number", bool: "true or false", str: "name"}
    for kind in kinds:
        if get_origin(kind) is Literal:
            words.append(" or ".join(map(str, get_args(kind))))
        elif kind is not type(None):
            words.append(names[kind] + many)
    if type(None) in kinds:
        words.append("none")
    return " or ".join(words)


def _value_text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_value_text, value)) or "(empty)"
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _fault(value: str, expected: str, remedy: str, code: str) -> Fault:
    return Fault("--set", value, expected, remedy, code)


def _name_fault(name: str, matching: Sequence[OptionField], known: Sequence[OptionField]) -> Fault:
    if matching:
        places = " or ".join(f"{setting.group}.{name}" for setting in matching)
        return _fault(name, "a name of one group", f"write {places}", "name.ambiguous")
    names = [setting.name for setting in known]
    remedy = did_you_mean(name, names, otherwise="--set help lists them")
    return _fault(name, "the name of an option", remedy, "name.unknown")
