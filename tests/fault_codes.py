"""What an error tells, by the codes of its faults: sentences may change, codes stay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from freefloat.errors import FreefloatError


@contextmanager
def refused(
    error: type[FreefloatError], *codes: str
) -> Iterator[pytest.ExceptionInfo[FreefloatError]]:
    """Expect an error whose faults have exactly these codes, in this order."""
    with pytest.raises(error) as caught:
        yield caught
    assert caught.value.codes == codes, str(caught.value)
