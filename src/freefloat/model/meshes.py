"""The meshes a URDF names, found on disk; nothing but drawing uses them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from freefloat.model.model import Model
from freefloat.model.urdf_xml import Element, parse_xml


@dataclass(frozen=True)
class MeshFile:
    """A mesh of a body: what it is for, what the URDF calls it, and its file if there is one."""

    body: str
    use: str  # "visual" or "collision"
    uri: str
    path: Path | None


def find_meshes(
    model: Model, beside: str | Path, *, search: Sequence[str | Path] = ()
) -> list[MeshFile]:
    """Every mesh of a model, in the order of its bodies, with the file it was found in.

    Args:
        model: of a URDF; its bodies keep what the file says of their looks.
        beside: the URDF, or the folder that it is in.
        search: folders that hold packages, or are one; they are looked through first.

    Returns:
        The meshes; `path` is None where none of the places has it.
    """
    folder = Path(beside)
    folder = (folder if folder.is_dir() else folder.parent).absolute()
    places = [*map(Path, search), folder, *folder.parents]
    return [
        MeshFile(body.name, use, uri, _resolve(uri, folder, places))
        for body in model.bodies
        for use, uri in _uris(body.extras)
    ]


def _uris(extras: Sequence[str]) -> Iterator[tuple[str, str]]:
    for extra in extras:
        if extra.startswith(("<visual", "<collision")):
            looks = parse_xml(extra.encode(), "")
            for mesh in _descendants(looks, "mesh"):
                if "filename" in mesh.attributes:
                    yield looks.tag, mesh.attributes["filename"]


def _descendants(element: Element, tag: str) -> Iterator[Element]:
    for child in element.children:
        if child.tag == tag:
            yield child
        yield from _descendants(child, tag)


def _resolve(uri: str, folder: Path, places: Sequence[Path]) -> Path | None:
    """The file of package://NAME/..., model://NAME/..., file://... or of a path beside the URDF."""
    scheme, is_uri, rest = uri.partition("://")
    if not is_uri:
        candidates = [folder / uri]
    elif scheme == "file":
        candidates = [Path(rest)]
    else:
        package, _, inside = rest.partition("/")
        # a place may hold the package, or be the package whatever its folder is called
        candidates = [place / rest for place in places]
        candidates += [p / inside for p in places if p.name == package] + [folder / inside]
        candidates += [place / inside for place in places]
    return next((path for path in candidates if _is_file(path)), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a null character
        return False
