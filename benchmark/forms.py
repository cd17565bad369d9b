"""The plain form of a task, which needs no freefloat: NPZ, URDF, JSON; truth in another folder.

TASK/recording.npz   arrays NAME:time [s] and NAME:values for every channel
TASK/second.npz      another flight of the same robot, to be predicted
TASK/robot.urdf      links and joints as believed (a sixth of the truth off, where unknown)
TASK/model.toml      the same for freefloat, with sensors, thrusters, wheels and springs
TASK/task.json       channels with unit and noise, joints, thrusters, wheels, gravity, what is
                     unknown, and all parameters as believed
truth/TASK.json      true values and the Cramér-Rao bound
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
from tasks import Recorded, Task

import freefloat as ff
from freefloat.dynamics.tree import flatten
from freefloat.model.parts import Joint
from freefloat.observability.cramer_rao import cramer_rao
from freefloat.observability.motion_bound import motion_bound
from freefloat.parameters.parameters import parameter_values


def write_task(task: Task, made: Recorded, folder: Path, *, is_whole: bool) -> None:
    """Write a task and, apart from it, its truth; whole, with the bound of unknown motion."""
    place = folder / task.name
    place.mkdir(parents=True, exist_ok=True)
    (folder / "truth").mkdir(exist_ok=True)
    for name, flight in (("recording", made.recording), ("second", made.second)):
        arrays = {}
        for channel in flight.channels.values():
            arrays[f"{channel.name}:time"], arrays[f"{channel.name}:values"] = (
                channel.time,
                channel.values,
            )
        np.savez(place / f"{name}.npz", **arrays)
        flight.save(place / f"{name}.parquet")
    made.believed.save(place / "model.toml")
    plain = {"name": task.name, "about": task.about, "is_live": task.is_live,
             "unknown": list(made.free), "metadata": dict(made.recording.metadata),
             "channels": {c.name: {"unit": c.unit, "noise": c.noise}
                          for c in made.recording.channels.values()},
             "thrusters": [asdict(t) for t in made.believed.thrusters],
             "wheels": [asdict(w) for w in made.believed.wheels],
             "joints": [joint_of(j) for j in made.believed.assembly.joints],
             "root": asdict(made.believed.root), "gravity": list(made.believed.gravity),
             "orbit": asdict(made.believed.orbit) if made.believed.orbit else None,
             "believed": parameter_values(flatten(made.believed))}  # fmt: skip
    (place / "task.json").write_text(json.dumps(plain, indent=1) + "\n")
    try:
        made.believed.save(place / "robot.urdf")
    except ff.FreefloatError as error:  # what no URDF can say stands in task.json
        (place / "robot.txt").write_text(f"{error}\n")
    truth = json.dumps(truth_of(made, is_whole=is_whole), indent=1)
    (folder / "truth" / f"{task.name}.json").write_text(truth + "\n")


def truth_of(made: Recorded, *, is_whole: bool) -> dict[str, object]:
    """True values, and the bounds of all sensors: motion unknown, and known.

    Where no joint and no wheel moves, the two are the same.
    """
    wanted = ff.Parameters(made.truth).free(*made.free)
    known = cramer_rao(made.truth, wanted, made.plan)
    stds = dict(zip(known.names, known.std.tolist(), strict=True))
    bound: dict[str, float] = {}
    if not made.plan.motions:
        bound = stds
    elif is_whole:
        found = motion_bound(made.truth, wanted, made.plan)
        bound = dict(zip(found.names, found.std.tolist(), strict=True))
    return {"values": made.true_values, "bound": bound, "bound_of_known_motion": stds}


def joint_of(joint: Joint) -> dict[str, object]:
    """A joint without what only a URDF needs."""
    return {name: value for name, value in asdict(joint).items() if name != "extras"}


def read_task(folder: Path) -> tuple[ff.Model, list[str], ff.Telemetry, ff.Telemetry]:
    """What freefloat's adapters get: model, unknowns, recording, second flight."""
    plain = json.loads((folder / "task.json").read_text())
    first, second = (ff.read_telemetry(folder / f"{n}.parquet") for n in ("recording", "second"))
    return ff.load_model(folder / "model.toml"), plain["unknown"], first, second
