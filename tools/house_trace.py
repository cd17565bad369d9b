"""Follow one identify by output error: print how many files of ours it runs in, and how deep.

    python tools/house_trace.py src

The first run loads and compiles, and is not counted; kernels are compiled code and have no frames.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

source = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(source))

import freefloat as ff  # noqa: E402 - from the sources that were asked for


class Follower:
    """Counts files of ours and the depth of their calls."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.depth = self.deepest = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """What sys.setprofile calls at each call and return."""
        name = frame.f_code.co_filename
        if event in ("call", "return") and name.startswith(str(source)):
            self.files.add(name)
            self.depth = max(self.depth + (1 if event == "call" else -1), 0)
            self.deepest = max(self.deepest, self.depth)


def main() -> None:
    """Simulate the planar capture, identify twice, follow the second time."""
    assert ff.__file__ is not None and ff.__file__.startswith(str(source))
    model = ff.load_model("planar-capture")
    wanted = ff.Parameters(model).free("target.mass", "target.izz")
    flight = ff.simulate(model, ff.default_plan(model, seed=1), seed=1)
    ff.identify(model, wanted, flight, method="output_error", assess=False)
    follower = Follower()
    sys.setprofile(follower)
    ff.identify(model, wanted, flight, method="output_error", assess=False)
    sys.setprofile(None)
    print(len(follower.files), follower.deepest)


if __name__ == "__main__":
    main()
