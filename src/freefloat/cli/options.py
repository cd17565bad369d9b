"""Options that every verb has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Group, Parameter

FLAG = Parameter(negative=(), show_default=False)  # only --name, no --no-name
_SHARED = Group("Options of every verb", sort_key=100)


@Parameter(name="*")
@dataclass(frozen=True)
class Shared:
    """Options of every verb."""

    json: Annotated[bool, FLAG, Parameter(group=_SHARED)] = False
    """Print JSON on standard output and nothing else."""

    debug: Annotated[bool, FLAG, Parameter(group=_SHARED)] = False
    """Show the traceback of an error."""
