"""The array type of signatures, and read-only arrays, which frozen objects hand out."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Always float64 in fact; NumPy's own stubs often promise no more than "floating".
Array: TypeAlias = NDArray[np.floating[Any]]


def read_only_copy(array: ArrayLike) -> NDArray[np.float64]:
    """Return a read-only, C-contiguous float64 copy of `array`.

    >>> read_only_copy([1, 2]).flags.writeable
    False
    """
    copy = np.array(array, dtype=np.float64, order="C")
    copy.setflags(write=False)
    return copy
