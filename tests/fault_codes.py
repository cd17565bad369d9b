"""What an error tells, by the codes of its faults: sentences may change, codes stay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from freefloat.errors import FreefloatError


@contextmanager
def refused(
    error: type[FreefloatError], *codes: str, naming: str = ""
) -> Iterator[pytest.ExceptionInfo[FreefloatError]]:
    """Expect an error with exactly these codes, in this order, that names a part or a number."""
    with pytest.raises(error) as caught:
        yield caught
    assert caught.value.codes == codes, f"{caught.value.codes}: {caught.value}"
    assert naming in str(caught.value)
