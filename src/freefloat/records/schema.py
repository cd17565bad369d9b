"""What may stand in a file, read from the annotations of our own dataclasses.

`table_of(Joint, TOML)` is the table that a Joint is in a file: its keys are the fields of the
dataclass, a key is required where the field has no default, and the annotation says what its value
may be. Where a file says something in another way (a shorthand, a placement without a table of its
own), the caller says so. pydantic walks the file and finds every departure at once; the checks of
`values` convert, and no others. It is imported when the first file is read.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, cached_property
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from freefloat.errors import FreefloatError
from freefloat.records import values
from freefloat.records.values import MAX_FAULTS, Check, KeyPath, PathFault, RefusedError, display
from freefloat.text import did_you_mean

if TYPE_CHECKING:
    from pydantic_core import CoreSchema, ErrorDetails, SchemaValidator


@dataclass(frozen=True)
class Dialect:
    """How a file format writes values: the check of each simple type, and words for its shapes.

    table and tables are what a message expects where a table, or a list of them, should stand, and
    the remedy; entry is how a key is given. `{key}` in them stands for the key.
    """

    checks: Mapping[Any, Check]
    table: tuple[str, str]
    tables: tuple[str, str]
    entry: str = "{key} = ..."


@dataclass(frozen=True)
class TableKind:
    """A table of a file: its keys with what each may hold, and those that must be there.

    With a `record`, reading gives an instance of that dataclass; without, the keys that are given.
    """

    keys: Mapping[str, Kind]
    required: tuple[str, ...] = ()
    record: type | None = None


@dataclass(frozen=True)
class TableList:
    """A list of tables, such as [[joint]]."""

    item: TableKind | TableChoice


@dataclass(frozen=True)
class TableChoice:
    """One of several tables: the word under `key` says which."""

    key: str
    tables: Mapping[str, TableKind]


Kind = Check | TableKind | TableList | TableChoice


@cache
def hints_of(record: type) -> dict[str, Any]:
    """The annotations of a dataclass as types."""
    return get_type_hints(record, include_extras=True)


def table_of(
    record: type,
    dialect: Dialect,
    *,
    before: Mapping[str, Kind] | None = None,
    instead: Mapping[str, Kind] | None = None,
    spread: Collection[str] = (),
    optional: Collection[str] = (),
    is_built: bool = False,
) -> TableKind:
    """The table a dataclass is in a file.

    Args:
        record: the dataclass.
        dialect: how its values are written.
        before: keys of the table beyond the fields, such as a format number; all are required.
        instead: what some fields may hold in a file, where the annotation does not say it.
        spread: fields that are dataclasses themselves and whose keys stand in this table.
        optional: fields without a default that may be left out all the same.
        is_built: whether reading gives an instance and not the values that are given.

    Returns:
        The table, to be read by a `Schema`.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Wheel:
    ...     name: str
    ...     inertia: float
    ...     speed: float = 0.0
    >>> dialect = Dialect({str: values.name, float: values.number}, ("", ""), ("", ""))
    >>> table_of(Wheel, dialect).required
    ('name', 'inertia')
    """
    keys: dict[str, Kind] = dict(before or {})
    required = list(keys)
    hints = hints_of(record)
    for one in fields(record):
        if one.name in spread:
            inner = table_of(hints[one.name], dialect, instead=instead, is_built=is_built)
            keys |= inner.keys
            required += inner.required
            continue
        own = (instead or {}).get(one.name)
        keys[one.name] = own or kind_of(hints[one.name], dialect, is_built=is_built)
        has_default = one.default is not MISSING or one.default_factory is not MISSING
        if not has_default and one.name not in optional:
            required.append(one.name)
    return TableKind(keys, tuple(required), record if is_built else None)


def kind_of(hint: Any, dialect: Dialect, *, is_built: bool = False) -> Kind:
    """What a file may hold for a value with this annotation."""
    if hint in dialect.checks:
        return dialect.checks[hint]
    if isinstance(hint, type) and is_dataclass(hint):
        return table_of(hint, dialect, is_built=is_built)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return kind_of(inner[0], dialect, is_built=is_built)
    if origin is Literal:
        return values.one_of(*inner)
    if origin in (Union, types.UnionType):
        (something,) = (one for one in inner if one is not type(None))
        kind = kind_of(something, dialect, is_built=is_built)
        return values.or_null(kind) if callable(kind) else kind
    if origin is tuple:
        return _list_kind(inner, dialect, is_built=is_built)
    if origin is Sequence:
        return _list_kind((inner[0], ...), dialect, is_built=is_built)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        expected, remedy = dialect.table
        return values.dict_of(_check_of(inner[1], dialect), expected=expected, remedy=remedy)
    raise TypeError(f"a file cannot hold {hint!r}")


def _list_kind(inner: tuple[Any, ...], dialect: Dialect, *, is_built: bool) -> Kind:
    """What a file may hold for a tuple of the types `inner`."""
    item = kind_of(inner[0], dialect, is_built=is_built)
    if isinstance(item, TableKind | TableChoice):
        return TableList(item)
    check = _check_of(inner[0], dialect)
    if inner[-1] is ...:
        return values.list_of(check)
    if check is values.number:
        return values.numbers(len(inner))
    return values.fixed_list(len(inner), check)


def _check_of(hint: Any, dialect: Dialect) -> Check:
    kind = kind_of(hint, dialect)
    assert callable(kind), f"a file cannot hold a list of {hint!r}"
    return kind


class Reading:
    """What was read: the values that are as they should be, and the faults of the others."""

    def __init__(self, content: Any, faults: list[PathFault]) -> None:
        self.content = content
        self.faults = faults


class Schema:
    """A table, ready to read: pydantic is asked once what is wrong, and once what is not."""

    def __init__(self, table: TableKind, dialect: Dialect) -> None:
        self.table = table
        self.dialect = dialect

    def read(self, raw: Any) -> Reading:
        """The values of a file that has been parsed, and every fault.

        Where there are faults, the content is what is left without them, key by key; a table in a
        list that is none at all is empty, so that those behind it keep their places.
        """
        from pydantic_core import ValidationError

        try:
            return Reading(self._strict.validate_python(raw), [])
        except ValidationError as error:
            found = error.errors(include_url=False)[:MAX_FAULTS]
        faults = [fault for one in found for fault in self._faults(one)]
        return Reading(self._lenient.validate_python(raw), faults)

    @cached_property
    def _strict(self) -> SchemaValidator:
        return _validator(self.table, is_strict=True)

    @cached_property
    def _lenient(self) -> SchemaValidator:
        return _validator(self.table, is_strict=False)

    def _faults(self, error: ErrorDetails) -> Iterator[PathFault]:
        """The faults behind one of pydantic's errors."""
        path, table, choice = self._follow(error["loc"])
        kind, value = error["type"], display(error["input"])
        if kind == "value_error":
            refused = error.get("ctx", {})["error"]
            yield from (fault.below(path) for fault in refused.faults)
        elif kind == "missing":
            expected = self.dialect.entry.replace("{key}", str(path[-1]))
            yield PathFault(path, "nothing", expected, "add the key", "key.missing")
        elif kind == "extra_forbidden":
            remedy = did_you_mean(str(path[-1]), table.keys, otherwise="delete it")
            known = "one of " + ", ".join(table.keys)
            yield PathFault(path, f"the key {path[-1]!r}", known, remedy, "key.unknown")
        elif kind in ("union_tag_invalid", "union_tag_not_found"):
            yield _choice_fault(path, choice, error["input"])
        else:
            is_list = kind == "list_type"
            expected, remedy = self.dialect.tables if is_list else self.dialect.table
            key = next((step for step in reversed(path) if isinstance(step, str)), "")
            yield PathFault(path, value, expected, remedy.replace("{key}", key), "value.type")

    def _follow(self, place: tuple[str | int, ...]) -> tuple[KeyPath, TableKind, Any]:
        """The keys that lead to a place, the table that holds the last of them, and what is there.

        pydantic puts the word that chose a table among the keys; the file does not.
        """
        path: list[str | int] = []
        table, kind = self.table, self.table
        for step in place:
            if isinstance(kind, TableChoice):
                kind = kind.tables[str(step)]
                continue
            path.append(step)
            if isinstance(kind, TableKind):
                table, kind = kind, kind.keys.get(str(step))
            else:
                kind = kind.item if isinstance(kind, TableList) else None
        return tuple(path), table, kind


def _choice_fault(path: KeyPath, choice: TableChoice, raw: Mapping[str, Any]) -> PathFault:
    """The fault of a table whose word under the choosing key is missing or unknown."""
    key, known = choice.key, list(choice.tables)
    expected = f"{key} = " + ", ".join(map(repr, known))
    if key not in raw:
        return PathFault((*path, key), "nothing", expected, "add the key", "key.missing")
    remedy = did_you_mean(str(raw[key]), known, otherwise="choose one of these")
    return PathFault((*path, key), display(raw[key]), expected, remedy, "value.choice")


def _validator(table: TableKind, *, is_strict: bool) -> SchemaValidator:
    from pydantic_core import SchemaValidator

    return SchemaValidator(_core(table, is_strict))


def _core(kind: Kind, is_strict: bool) -> CoreSchema:
    """pydantic's schema of a kind.

    A strict one tells everything that is wrong; the other drops it and gives what is left.
    """
    from pydantic_core import core_schema as core

    if isinstance(kind, TableList):
        item = _core(kind.item, is_strict)
        if not is_strict:
            item = core.with_default_schema(item, default_factory=dict, on_error="default")
        return core.list_schema(item, strict=True)
    if isinstance(kind, TableChoice):
        tables = {word: _core(table, is_strict) for word, table in kind.tables.items()}
        return core.tagged_union_schema(tables, kind.key)
    if not isinstance(kind, TableKind):
        return core.no_info_plain_validator_function(kind)
    keys = {}
    for key, inner in kind.keys.items():
        value = _core(inner, is_strict)
        if not is_strict:
            value = core.with_default_schema(value, on_error="omit")
        keys[key] = core.typed_dict_field(value, required=is_strict and key in kind.required)
    extra = "forbid" if is_strict else "ignore"
    table = core.typed_dict_schema(keys, extra_behavior=extra)
    if kind.record is None:
        return table
    return core.no_info_after_validator_function(_builder(kind.record), table)


def _builder(record: type) -> Callable[[dict[str, Any]], Any]:
    """A function that makes the record of what was read."""

    def build(given: dict[str, Any]) -> Any:
        try:
            return record(**given)
        except FreefloatError as error:
            # A record names itself in its faults ("bus.mass.std"); here its place is known.
            keys = (fault.place.rpartition(".")[2] for fault in error.faults)
            paths = [(key,) if key in given else () for key in keys]
            raise RefusedError(
                *(
                    PathFault(path, fault.value, fault.expected, fault.remedy, fault.code)
                    for path, fault in zip(paths, error.faults, strict=True)
                )
            ) from None

    return build
