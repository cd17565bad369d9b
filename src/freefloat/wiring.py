"""What a lower folder uses of a higher one: put in by the package itself, so none imports upwards.

`freefloat/__init__.py` says where a service is; it is imported when first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_LOADERS: dict[str, Callable[[], Callable[..., Any]]] = {}


def provide(name: str, load: Callable[[], Callable[..., Any]]) -> None:
    """Make a service known by its name; `load` imports it when it is first asked for."""
    _LOADERS[name] = load


def service(name: str) -> Callable[..., Any]:
    """The service of that name.

    >>> provide("greeting", lambda: "hello {}".format)
    >>> service("greeting")("robot")
    'hello robot'
    """
    return _LOADERS[name]()
