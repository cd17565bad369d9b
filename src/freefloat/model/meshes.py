"""The meshes a URDF names, found on disk; nothing but drawing uses them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from freefloat.model.model import Model
from freefloat.model.urdf_xml import Element, parse_xml

# format: what viewers and simulators load; a robot's file may name no other file of the machine
MESHES = (".stl", ".obj", ".dae", ".ply", ".glb", ".gltf", ".msh", ".3ds", ".wrl", ".off", ".usd")


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
    places = mesh_places(beside, search)
    return [
        MeshFile(body.name, use, uri, find_mesh(uri, places))
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


@dataclass(frozen=True)
class MeshPlaces:
    """Where meshes are looked for: the folder of the robot's file, and those of packages."""

    folder: Path
    packages: tuple[Path, ...] = ()


def mesh_places(beside: str | Path, search: Sequence[str | Path] = ()) -> MeshPlaces:
    """The folders to search first, then that of the file (or the folder itself) and those above."""
    folder = Path(beside)
    folder = (folder if folder.is_dir() else folder.parent).absolute()
    return MeshPlaces(folder, (*map(Path, search), folder, *folder.parents))


def find_mesh(uri: str, places: MeshPlaces) -> Path | None:
    """The file of package://NAME/..., model://NAME/..., file://... or of a path beside the robot.

    Only files whose names end like those of meshes are found, whatever else a path may lead to.
    """
    folder = places.folder
    scheme, is_uri, rest = uri.partition("://")
    if not is_uri:
        candidates = [folder / uri]
    elif scheme == "file":
        candidates = [Path(rest)]
    else:
        package, _, inside = rest.partition("/")
        # a place may hold the package, or be the package whatever its folder is called
        candidates = [place / rest for place in places.packages]
        candidates += [p / inside for p in places.packages if p.name == package]
        candidates += [folder / inside, *(place / inside for place in places.packages)]
    return next((path for path in candidates if _is_mesh(path)), None)


def _is_mesh(path: Path) -> bool:
    if path.suffix.lower() not in MESHES:
        return False
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a null character
        return False
