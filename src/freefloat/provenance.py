"""Where a result came from: versions, platform and time, for every file freefloat writes."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import version

from freefloat import __version__


def provenance(**extra: object) -> dict[str, str]:
    """Return the versions, platform and UTC time of this run, with `extra` entries as text.

    >>> provenance(seed=7)["seed"]
    '7'
    """
    return {
        "freefloat": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "platform": platform.platform(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        **{name: str(value) for name, value in extra.items()},
    }
