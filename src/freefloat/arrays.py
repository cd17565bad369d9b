"""Read-only arrays: what every frozen freefloat object hands out."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def frozen(array: ArrayLike) -> NDArray[np.float64]:
    """Return a read-only, C-contiguous float64 copy of `array`.

    >>> frozen([1, 2]).flags.writeable
    False
    """
    copy = np.array(array, dtype=np.float64, order="C")
    copy.setflags(write=False)
    return copy
