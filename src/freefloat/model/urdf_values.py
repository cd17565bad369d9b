"""Values of URDF attributes, read strictly; every fault is written down and reading goes on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from freefloat.errors import Fault, ModelError
from freefloat.model.parts import Vector
from freefloat.model.urdf_xml import Element, escape
from freefloat.notes import Note
from freefloat.records.values import LARGEST, MAX_FAULTS
from freefloat.text import did_you_mean, listing

# What every C, Python and MATLAB reads alike: no hexadecimal, no underscores, no nan, no inf.
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
LONGEST_NUMBER = 100  # format: characters; more digits than that are no measurement
MAX_UNKNOWN_TAGS = 500  # format: files hold a dozen tags of others
SHOWN_PLACES = 4  # format: of a note; the count tells of the rest
SPACES = re.compile(r"[ \t\r\n]+")


class Instead(NamedTuple):
    """The one safe reading of something that is not as it should be: a code and a sentence.

    what: which of several things at a place it is about.
    """

    code: str
    text: str
    what: str = ""


UNUSED = Instead("substituted.unknown_part", "elements and attributes not known there are not used")


class UrdfReader:
    """What has been found so far: faults, notes, and the line of every part."""

    def __init__(self, file: str, data: bytes, *, strict: bool = False) -> None:
        self.file = file
        self.data = data
        self.strict = strict
        self.faults: list[Fault] = []
        self.lines: dict[str, int] = {}
        self.told: set[str] = set()  # places the structure checks need not mention again
        self.unlike: set[tuple[str, tuple[str, ...]]] = set()  # unknown, and no misspelling
        self.kept: Counter[str] = Counter()
        self.ignored: Counter[str] = Counter()
        self.notes: list[Note] = []
        self.substitutions: dict[tuple[str, str], list[str]] = {}

    def fault(
        self, element: Element, where: str, *, value: str, expected: str, remedy: str, code: str,
        instead: Instead | None = None,
    ) -> None:  # fmt: skip
        """Write down a fault at the line of `element`.

        Where there is one safe reading, `instead`, it is taken and noted, unless reading strictly.
        """
        if instead is not None and not self.strict:
            self.substitute(instead, f"{where} {instead.what}".strip() + f" (line {element.line})")
            return
        place = f"{self.file}:{element.line}" + (f": {where}" if where else "")
        self.faults.append(Fault(place, value, expected, remedy, code, element.line))
        if len(self.faults) >= MAX_FAULTS:
            raise ModelError(
                f"{self.file}: {MAX_FAULTS} faults found and more to come", self.faults
            )

    def substitute(self, instead: Instead, place: str) -> None:
        """Write down what was read in another way than it is written, and where."""
        self.substitutions.setdefault((instead.code, instead.text), []).append(place)

    def substitution_notes(self) -> list[Note]:
        """One note for every kind of substitution, with how often and where."""
        return [
            Note(code, f"{text}, {len(places)} in all: {listing(places, most=SHOWN_PLACES)}")
            for (code, text), places in self.substitutions.items()
        ]

    def note(self, code: str, text: str) -> None:
        """Write down what a reader should know, though it is no fault."""
        self.notes.append(Note(code, text))

    def locate(self, faults: Iterable[Fault]) -> list[Fault]:
        """The faults of a model with the lines they come from, without those told already."""
        located = []
        for fault in faults:
            line = self._line(fault.place)
            file = self.file if line is None else f"{self.file}:{line}"
            if fault.place not in self.told:
                located.append(replace(fault, place=f"{file}: {fault.place}", line=line))
        return located

    def _line(self, part: str) -> int | None:
        """The line of a part of the model, as `checks` calls it, or of what holds it."""
        while part not in self.lines and "." in part:
            part = part.rpartition(".")[0]
        return self.lines.get(part)

    def attributes(self, element: Element, owner: str, allowed: Iterable[str]) -> None:
        """Write down attributes that would otherwise be overlooked, such as misspelt ones."""
        for name in element.attributes:
            if name in allowed:
                continue
            where = f"{owner} <{element.tag}>"
            if ":" in name:  # somebody else's extension
                self.ignored[f"<{element.tag} {name}>"] += 1
                continue
            # A misspelt attribute that is missed has no safe reading; any other may be left out.
            missed = [one for one in allowed if one not in element.attributes]
            is_misspelt = name.lower() in allowed or _did_you_mean(name, missed, likeness=0.6)
            self.fault(
                element,
                where,
                value=f"the attribute {name!r}",
                expected=" or ".join(allowed),
                remedy=_did_you_mean(name, allowed, likeness=0.6) or "delete it",
                code="key.unknown",
                instead=None if is_misspelt else UNUSED._replace(what=name),
            )

    def require(self, element: Element, owner: str, name: str) -> str | None:
        """The text of an attribute that must be there and not empty."""
        text = element.attributes.get(name)
        if text is not None and text.strip():
            return text
        self.fault(
            element,
            f"{owner} <{element.tag}>".strip(),
            value=f"no {name}" if text is None else f'{name}=""',
            expected=f'{name}="..."',
            remedy=f"add the attribute {name}",
            code="key.missing",
        )
        return None

    def number(self, element: Element, owner: str, name: str) -> float | None:
        """A number that must be there; None once a fault has been written down."""
        text = self.require(element, owner, name)
        return (
            None
            if text is None
            else self._parse_number(element, owner, name, text.strip(" \t\r\n"))
        )

    def optional_number(self, element: Element, owner: str, name: str) -> float | None:
        """A number that need not be there."""
        return self.number(element, owner, name) if name in element.attributes else None

    def limit(self, element: Element, owner: str, name: str) -> float | None:
        """A limit, where a huge number is the custom for none at all."""
        word = element.attributes.get(name, "").strip(" \t\r\n")
        is_number = len(word) <= LONGEST_NUMBER and NUMBER.fullmatch(word)
        if is_number and LARGEST < abs(float(word)) < float("inf"):
            return None
        return self.optional_number(element, owner, name)

    def vector(self, element: Element, owner: str, name: str) -> Vector | None:
        """Three numbers; None once a fault has been written down."""
        text = self.require(element, owner, name)
        if text is None:
            return None
        words = SPACES.split(text.strip(" \t\r\n"))
        if len(words) != 3:
            self.fault(
                element,
                f"{owner} <{element.tag}> {name}",
                value=repr(text[:100]),
                expected=f"3 numbers with spaces between them, not {len(words)}",
                remedy='write them like "0 0 1.5"',
                code="value.count",
            )
            return None
        values = [self._parse_number(element, owner, name, word) for word in words]
        x, y, z = values
        return None if x is None or y is None or z is None else (x, y, z)

    def _parse_number(self, element: Element, owner: str, name: str, word: str) -> float | None:
        if len(word) <= LONGEST_NUMBER and NUMBER.fullmatch(word):
            value = float(word)
            if abs(value) <= LARGEST:
                return value
            expected, remedy = f"a number up to {LARGEST:g}", "correct the exponent"
            code = "value.range"
        else:
            expected, remedy = "a number such as 1.5 or -2e-3", _number_remedy(word)
            code = "value.type"
        where, value = f"{owner} <{element.tag}> {name}", repr(word[:LONGEST_NUMBER])
        self.fault(element, where, value=value, expected=expected, remedy=remedy, code=code)
        return None

    def single(self, parent: Element, owner: str, tag: str) -> Element | None:
        """The child called `tag`, if there is one; a second one is a fault."""
        found = [child for child in parent.children if child.tag == tag]
        for again in found[1:]:
            self.fault(
                again,
                f"{owner} <{tag}>",
                value=f"a second <{tag}> (the first is on line {found[0].line})",
                expected=f"at most one <{tag}>",
                remedy="delete one of them",
                code="key.duplicate",
            )
        return found[0] if found else None

    def extras(
        self, element: Element, owner: str, *, used: tuple[str, ...], named: Iterable[str]
    ) -> tuple[str, ...]:
        """Attributes and children beyond those used, as they were written, to be written again."""
        kept = [
            f'{name}="{escape(value)}"'
            for name, value in element.attributes.items()
            if name not in named
        ]
        self.kept.update(f"attribute {text.partition('=')[0]}" for text in kept)
        for child in element.children:
            if child.tag in used:
                continue
            if child.tag.startswith("xacro:"):
                self.fault(
                    child,
                    f"{owner} <{child.tag}>",
                    value="a xacro macro",
                    expected="plain URDF",
                    remedy="expand it first: xacro robot.xacro > robot.urdf",
                    code="urdf.xacro",
                )
            elif (child.tag, used) not in self.unlike and (meant := _did_you_mean(child.tag, used)):
                self.unknown(child, owner, used, meant)
            else:
                self._keep_in_bounds(child, owner, used)
                self.kept[f"<{child.tag}>"] += 1
                kept.append(child.source(self.data))
        return tuple(kept)

    def _keep_in_bounds(self, child: Element, owner: str, used: tuple[str, ...]) -> None:
        # Comparing with what might have been meant takes time; files hold a dozen such tags.
        self.unlike.add((child.tag, used))
        if len(self.unlike) > MAX_UNKNOWN_TAGS:
            self.fault(
                child,
                owner,
                value=f"<{child.tag}>",
                expected=f"at most {MAX_UNKNOWN_TAGS} different unknown elements",
                remedy="give a URDF file",
                code="file.format",
            )
            raise ModelError(f"{self.file}: not a URDF", self.faults)

    def require_child(self, parent: Element, owner: str, tag: str, example: str) -> Element | None:
        """The child called `tag`, which must be there."""
        found = self.single(parent, owner, tag)
        if found is None:
            self.fault(
                parent,
                f"{owner} <{parent.tag}>",
                value=f"no <{tag}>",
                expected=example,
                remedy=f"add the <{tag}>",
                code="key.missing",
            )
        return found

    def only(self, element: Element, owner: str, used: tuple[str, ...]) -> None:
        """Write down children that are none of `used`, and text where none belongs."""
        for child in element.children:
            if child.tag not in used:
                self.unknown(child, owner, used, _did_you_mean(child.tag, used))
        self.no_text(element, owner)

    def unknown(self, child: Element, owner: str, used: tuple[str, ...], meant: str) -> None:
        """Write down an element that is not one of those that may stand here."""
        self.fault(
            child,
            f"{owner} <{child.tag}>",
            value=f"the element <{child.tag}>",
            expected=" or ".join(f"<{tag}>" for tag in used) or "no element in here",
            remedy=meant or "delete it",
            code="key.unknown",
            instead=None if meant else UNUSED,
        )

    def no_text(self, element: Element, owner: str) -> None:
        """Write down text between tags, where URDF has none."""
        if element.text:
            self.fault(
                element,
                f"{owner} <{element.tag}>".strip(),
                value=f"the text {element.text!r}",
                expected="no text between tags",
                remedy="give values as attributes; put remarks in <!-- ... -->",
                code="urdf.text",
                instead=Instead("substituted.text", "text between tags, not used"),
            )


def _did_you_mean(name: str, known: Iterable[str], *, likeness: float = 0.75) -> str:
    # One or two letters apart: "jiont", "Origin". <sensor> or <visual> are like none of ours.
    return did_you_mean(name.lower(), list(known), likeness=likeness)


def _number_remedy(word: str) -> str:
    if word.count(",") == 1 and NUMBER.fullmatch(word.replace(",", ".")):
        return f"write {word.replace(',', '.')!r}, with a decimal point"
    if word.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return "give the value itself; leave the attribute or element out if it is not known"
    return "correct the number"
