"""Parts of the site that are made from the source when it is built: see `docs/conf.py`.

The tables of `docs/api.md` say which names there are; the pages of `docs/reference` show each with
its signature and docstring. A page holds a mark where its entries go.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, get_args, get_origin

if TYPE_CHECKING:
    from cyclopts import App
    from docutils.nodes import Node

MARK = re.compile(r"<!-- reference: (.+?) -->")
NAME = re.compile(r"`((?:ff|freefloat)(?:\.\w+)+)`")
# What Sphinx makes of types that have a name in the source, and what is shown in its place.
ODD_TYPES = [
    (re.compile(odd), plain)
    for odd, plain in (
        (r"~?(?:typing\.)?Annotated\[(\w+), ~freefloat\.records\.values\.Bounds\([^)]*\)\]", r"\1"),
        (r"TypeAliasForwardRef\('(\w+)'\)", r"\1"),
        (r"~?(numpy\.)?ndarray\[tuple\[[^]]*\], [\w~.]*dtype\[([\w~.]|\[[^]]*\])*\]\]", "Array"),
        (r"(= ?[A-Z]\w*)\((?:[^()]|\([^()]*\))*\)", r"\1()"),
    )
]
PLAIN = re.compile(r"(``[^`]*``|`[^`]*`)")


def section_names(api: str, heading: str) -> list[str]:
    """The names in the tables of a section of `api.md`, in order."""
    body = re.split(rf"^## {re.escape(heading)}\n", api, flags=re.MULTILINE)[1]
    body = re.split(r"^## ", body, flags=re.MULTILINE)[0]
    rows = [line.split("|")[1] for line in body.splitlines() if line.startswith("| `")]
    return list(dict.fromkeys(name for row in rows for name in NAME.findall(row)))


def full_name(name: str) -> str:
    """The name as Python imports it.

    >>> full_name("ff.identify")
    'freefloat.identify'
    """
    return re.sub(r"^ff\.", "freefloat.", name)


def public_object(name: str) -> object:
    """What a name of `api.md` stands for: a function even where a module is called the same.

    >>> callable(public_object("freefloat.telemetry.resample"))
    True
    """
    owner, _, last = full_name(name).rpartition(".")
    return getattr(resolve_name(owner), last)


def plain_types() -> dict[str, str]:
    """Names in annotations that signatures show in place of what they stand for.

    Arrays as `Array`, numbers with limits as `float`; the limits are said in words.

    >>> plain_types()["Array"], plain_types()["Positive"]
    ('Array', 'float')
    """
    import freefloat.cli.app  # noqa: F401  everything that annotations may name

    modules = [module for name, module in sys.modules.items() if name.startswith("freefloat.")]
    named = [pair for module in modules for pair in vars(module).items()]
    limited = {name: value for name, value in named if get_origin(value) is Annotated}
    shown = {name: get_args(value)[0].__name__ for name, value in limited.items()}
    return shown | {name: name for name in ("Array", "ArrayLike", "AnyMotion", "AnyCommand")}


def plain_signature(text: str) -> str:
    """A signature or a type as Sphinx writes it, without what only a type checker reads.

    >>> plain_signature("(x: ndarray[tuple[Any, ...], dtype[bool]] = <factory>)")
    '(x: Array = ...)'
    >>> plain_signature("(start: Start = Start(rate=(0.0, 0.0), names={}), n: int = 3)")
    '(start: Start = Start(), n: int = 3)'
    """
    for odd, plain in ODD_TYPES:
        text = odd.sub(plain, text)
    return text.replace("<factory>", "...")


def with_numbers(signature: str, value: object) -> str:
    """A signature with the numbers of its defaults in place of the names of constants.

    >>> with_numbers("(limit: float = LONGEST, on: bool = True)", section_names)
    '(limit: float = LONGEST, on: bool = True)'
    """
    names = vars(sys.modules[getattr(value, "__module__", __name__)])
    known = {name: one for name, one in names.items() if isinstance(one, int | float)}
    return re.sub(r"(?<== )([A-Z][A-Z_]+)\b", lambda hit: f"{known.get(hit[1], hit[1])}", signature)


def entries(api: str, heading: str) -> str:
    """Directives that show every function and class of a section; methods come with their class."""
    known = set(NAME.findall(api))
    before = set(NAME.findall(api.partition(f"\n## {heading}\n")[0]))
    blocks = []
    for name in section_names(api, heading):
        if name.rpartition(".")[0] in known or name in before:
            continue
        value = public_object(name)
        kind = "autoclass" if inspect.isclass(value) else "autofunction"
        if not inspect.isroutine(value) and not inspect.isclass(value):
            kind = "autodata"
        members = "\n   :members:" if kind == "autoclass" else ""
        blocks.append(f"```{{eval-rst}}\n.. {kind}:: {full_name(name)}{members}\n```\n")
    return "\n".join(blocks)


def with_entries(page: str, api: str) -> str:
    """A page of the reference with its entries in place of the mark."""
    return MARK.sub(lambda mark: entries(api, mark[1]), page)


def with_links(api: str) -> str:
    """`api.md` with every name in its tables a link to its entry."""

    def link(line: str) -> str:
        if not line.startswith("| `"):
            return line
        return NAME.sub(lambda hit: f"{{py:obj}}`{hit[1]} <{full_name(hit[1])}>`", line)

    return "\n".join(map(link, api.splitlines()))


def prepare_commands() -> None:
    """Ready the help of every verb for its page: examples as code, shared options told once.

    The page tells the options of every verb at its end (`shared_options`), where the terminal shows
    them under each verb.
    """
    from freefloat.cli.app import app
    from freefloat.cli.options import SHARED

    sys.argv[0] = "freefloat"  # usage lines take the command's name from it
    SHARED._show = False
    for verb in _verbs(app):
        words = inspect.getdoc(verb.default_command) or verb.help
        shown = words.partition("\nParameters\n")[0]
        verb.help = shown.replace("For example:\n", "For example::\n\n")


def _verbs(app: App) -> Iterator[App]:
    for verb in (app[name] for name in app if not name.startswith("-")):
        yield verb
        yield from _verbs(verb)


def shared_options() -> str:
    """The options that every verb has, as a definition list."""
    from freefloat.cli.options import Shared

    source = inspect.getsource(Shared)
    told = re.findall(r'^    (\w+): .*\n    """(.*)"""$', source, re.MULTILINE)
    return "\n\n".join(f"`--{name.replace('_', '-')}`\n: {words}" for name, words in told)


def save_figures(block: tuple, block_vars: dict, gallery_conf: dict) -> str:
    """For Sphinx-Gallery: the figures that a block of a script made, by pyplot or by ours."""
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure
    from sphinx_gallery.scrapers import figure_rst

    names, shown = block_vars["example_globals"], block_vars.setdefault("shown", set())
    made = [value for value in names.values() if isinstance(value, Figure) and value not in shown]
    paths = [path for _, path in zip(made, block_vars["image_path_iterator"], strict=False)]
    for figure, path in zip(made, paths, strict=True):
        figure.savefig(path)
        shown.add(figure)
    plt.close("all")
    return figure_rst(paths, gallery_conf["src_dir"])


def rename_types(doctree: Node) -> None:
    """Types of properties, which no event of autodoc passes on, as `plain_signature` has them."""
    from docutils import nodes
    from sphinx import addnodes

    for kind in doctree.findall(addnodes.desc_annotation):
        if "TypeAliasForwardRef" in kind.astext():
            kind.children = [nodes.Text(plain_signature(kind.astext()))]


def escape_prose(lines: list[str]) -> list[str]:
    r"""Docstring lines in which `*`, `|` and a trailing `_` are what they are, not markup.

    >>> escape_prose(["all bus.* of `a*b`", ">>> 2 * 3"])
    ['all bus.\\* of `a*b`', '>>> 2 * 3']
    """
    escaped, is_example = [], False
    for line in lines:
        is_example = line.lstrip().startswith(">>>") or (is_example and bool(line.strip()))
        escaped.append(line if is_example else _escape(line))
    return escaped


def keep_sentences(what: str, lines: list[str]) -> list[str]:
    """Docstring lines in which Napoleon takes nothing before a colon for a type.

    Types are in the annotations; what stands before a colon is the beginning of a sentence.

    >>> keep_sentences("property", ["The root: what hangs on nothing."])
    ['', 'The root: what hangs on nothing.']
    >>> keep_sentences("function", ["Returns:", "    The report: findings."])
    [':returns: The report: findings.']
    """
    if what in ("attribute", "data", "property"):
        return ["", *lines]
    if "Returns:" not in lines:
        return lines
    first = lines.index("Returns:")
    text = lines[first + 1 :]
    n = next((k for k, line in enumerate(text) if not line.startswith("    ")), len(text))
    block = [f":returns: {text[0].strip()}", *text[1:n]]
    return [*lines[:first], *block, *text[n:]]


def _escape(line: str) -> str:
    parts = PLAIN.split(line)
    parts[::2] = [re.sub(r"([*|]|(?<=\w)_(?!\w))", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)
