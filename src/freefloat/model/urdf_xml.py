"""XML elements with their line numbers, from a parser that cannot be made to do anything else.

DOCTYPE and entity declarations are refused, and size, depth and number of elements are bounded, so
that no input can reach for other files or grow while it is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from freefloat.errors import Fault, ModelError, shorten
from freefloat.records.bounded_read import FileKind

# format: 16 MB; the parser reads 30 megabytes a second
URDF_FILE = FileKind(
    "model",
    ModelError,
    ".urdf",
    16 * 2**20,
    "move meshes and pictures to files of their own, or check that this is a URDF file",
)
MAX_DEPTH = 64  # format: a URDF has five levels; extensions of simulators about ten
MAX_ELEMENTS = 100_000  # format: a hundred times the largest robot
MAX_ATTRIBUTES = 100  # format: URDF has at most eight in a tag

# Attribute values may hold ">", so a start tag ends at the first ">" outside of quotes.
_START_TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*+>""")
# A tag holds no "<". One of many megabytes would keep the parser busy before we hear of it.
_LONG_TAG = re.compile(rb"<[^<]{1048576}")
_ESCAPES = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "\t": "&#9;",  # unescaped, the parser would turn these three into spaces
        "\n": "&#10;",
        "\r": "&#13;",
    }
)


@dataclass(slots=True)
class Element:
    """An XML element: tag, attributes, the line it starts at, its children and stray text."""

    tag: str
    attributes: dict[str, str]
    line: int
    start: int  # where its "<" is in the bytes read
    end: int = 0  # where its end tag begins
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def source(self, data: bytes) -> str:
        """The element as it was written, character for character."""
        opening = _START_TAG.match(data, self.start)
        assert opening is not None  # the parser has accepted it
        if opening.group().endswith(b"/>"):
            return opening.group().decode()
        return data[self.start : data.index(b">", self.end) + 1].decode()


class _Refusal(Exception):  # noqa: N818 - never leaves this file
    def __init__(self, line: int, value: str, expected: str, remedy: str, code: str) -> None:
        super().__init__()
        self.line, self.code = line, code
        self.words = value, expected, remedy


class _Builder:
    """The handlers that turn the parser's events into Elements."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self.parser = parser
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.StartDoctypeDeclHandler = self.doctype
        parser.EntityDeclHandler = self.entity

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        element = Element(tag, attributes, line, self.parser.CurrentByteIndex)
        self.count += 1
        if self.count > MAX_ELEMENTS:
            value, limit = f"more than {MAX_ELEMENTS}", f"at most {MAX_ELEMENTS} elements"
            raise _Refusal(line, value, limit, "split the file", "value.count")
        if len(self.open) >= MAX_DEPTH:
            limit = f"at most {MAX_DEPTH} elements inside one another"
            remedy = "close elements that should not be nested"
            raise _Refusal(line, f"<{tag}>", limit, remedy, "file.depth")
        if len(attributes) > MAX_ATTRIBUTES:
            value, limit = f"{len(attributes)} in <{tag}>", f"at most {MAX_ATTRIBUTES} attributes"
            raise _Refusal(line, value, limit, "give a URDF file", "value.count")
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop().end = self.parser.CurrentByteIndex

    def characters(self, text: str) -> None:
        if self.open and not text.isspace() and not self.open[-1].text:
            self.open[-1].text = shorten(text.strip())

    def doctype(self, name: str, *_: object) -> None:
        raise _Refusal(
            self.parser.CurrentLineNumber,
            f"<!DOCTYPE {name}>",
            "no DOCTYPE (it could make the reader open other files)",
            "delete the DOCTYPE",
            "urdf.doctype",
        )

    def entity(self, name: str, *_: object) -> None:
        raise _Refusal(
            self.parser.CurrentLineNumber,
            f"<!ENTITY {name}>",
            "no entity declarations",
            "write the text itself instead of the entity",
            "urdf.entity",
        )


def parse_xml(data: bytes, name: str) -> Element:
    """The root element of a UTF-8 document; raises ModelError with the line of what is wrong."""
    URDF_FILE.require_size(len(data), name)
    if long := _LONG_TAG.search(data):
        line = data.count(b"\n", 0, long.start()) + 1
        limit, remedy = "a new tag at least every 1048576 bytes", "give a URDF file"
        value = "megabytes without a tag"
        fault = Fault(f"{name}:{line}", value, limit, remedy, "file.syntax", line)
        raise ModelError(f"{name}: the XML is refused", [fault])
    parser = expat.ParserCreate("utf-8")  # whatever encoding the file claims
    builder = _Builder(parser)
    try:
        parser.Parse(data, True)
    except _Refusal as refusal:
        place, (value, expected, remedy) = f"{name}:{refusal.line}", refusal.words
        fault = Fault(place, value, expected, remedy, refusal.code, refusal.line)
        raise ModelError(f"{name}: the XML is refused", [fault]) from None
    except expat.ExpatError as error:
        found = data[parser.ErrorByteIndex :][:40].decode(errors="replace").partition("\n")[0]
        fault = Fault(
            f"{name}:{error.lineno}, column {error.offset + 1}",
            f"{found!r} ({expat.ErrorString(error.code) or 'XML error'})",
            "well-formed XML: every tag closed, every value in quotes",
            "correct this line or the one before it",
            "file.syntax",
            error.lineno,
        )
        raise ModelError(f"{name}: not an XML document", [fault]) from None
    assert builder.root is not None  # expat refuses a document without an element
    return builder.root


def escape(text: str) -> str:
    """`text` as it may stand in an attribute or between tags, and comes back unchanged."""
    return text.translate(_ESCAPES)
