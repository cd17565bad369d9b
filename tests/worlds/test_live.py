"""T1, live: worlds with something wrong are not called trusted, right ones are."""

from __future__ import annotations

import pytest
from worlds.kinds import all_kinds
from worlds.live import right_outcomes, track_world

KINDS = {kind.name: kind for kind in all_kinds()}
# one of each sort: sensor, actuator, joint, body, surroundings, a change in flight, data
WRONG = (
    ("gyro mounting rotation", "twins", 1), ("velocity gain", "puck", 2),
    ("thrust gain", "puck", 2), ("gear ratio", "puck", 2), ("known arm heavier", "puck", 2),
    ("drag", "puck", 2), ("mass lost", "puck", 2), ("target slides in the hand", "puck", 2),
    ("slosh mode", "puck", 2), ("clock step of the base", "puck", 1),
)  # fmt: skip


@pytest.mark.promise("T1")
def test_no_wrong_answer_is_called_trusted(figure):
    found = []
    for name, robot, k in WRONG:
        kind = KINDS[name]
        world, suite = kind.world(robot, 1, kind.sizes[k], suite="velocity")
        found.append(track_world(world, suite, name, kind.sizes[k]))
    wrong = [o.kind for o in found if o.is_wrong]
    trusted = [o.kind for o in found if o.is_confident_error]
    figure("T1", f"live: of {len(wrong)} wrong answers {len(trusted)} are called trusted")
    assert len(wrong) >= 3 and not trusted


@pytest.mark.promise("T1")
def test_right_worlds_are_trusted_whatever_the_colour_of_their_noise(figure):
    found = list(right_outcomes(6, ["puck", "tug"], first=0))
    figure("T1", f"live, right: {sum(o.grade == 'trusted' for o in found)} of 6 are trusted")
    assert all(o.grade == "trusted" and not o.is_wrong for o in found)
    assert all(o.total_sigma < 4.0 for o in found)
