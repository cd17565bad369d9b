"""FIGAROH's optimal exciting trajectory, fixed base, no gravity. Runs in the peers' interpreter."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from figaroh.optimal.base_optimal_trajectory import (
    BaseOptimalTrajectory,
    BaseTrajectoryIPOPTProblem,
)
from figaroh.tools.robot import Robot
from peer_loop import serve


class Problem(BaseTrajectoryIPOPTProblem):
    """Its own formulation, unchanged."""


class Trajectory(BaseOptimalTrajectory):
    """Its own optimiser, configured here instead of by a file."""

    def __init__(self, robot, joints, trajectory, identification):
        self.robot, self.model, self.active_joints = robot, robot.model, joints
        self.trajectory_config, self.identif_config = trajectory, identification
        import logging

        self.logger = logging.getLogger("figaroh")
        self.results = {name: [] for name in ("T_F", "P_F", "V_F", "A_F", "iteration_data")}
        self.results["final_regressor_shape"] = None

    def create_ipopt_problem(self, *arguments):
        """What every subclass returns."""
        return Problem(self, *arguments)


def design(urdf: str, out: str, points: int, segment: float, rate: float, rounds: int) -> dict:
    """One segment of waypoints, from rest to rest; condition number before and after."""
    import cyipopt  # noqa: F401 - it would be missed only after minutes

    np.random.seed(0)
    robot = Robot(urdf, ".", isFext=False)
    robot.model.gravity.setZero()
    names = list(robot.model.names)[1:]
    trajectory = {
        "n_wps": points, "freq": rate, "t_s": segment, "soft_lim": 0.05, "max_attempts": 1000,
        "max_iterations": rounds, "segment_attempts": 3,
    }  # fmt: skip
    identification = {
        "is_joint_torques": True, "is_external_wrench": False, "force_torque": None,
        "act_idxv": list(range(robot.model.nv)), "has_friction": False,
        "has_actuator_inertia": False, "has_joint_offset": False, "is_static_regressor": True,
        "is_inertia_regressor": True,
    }  # fmt: skip
    run = Trajectory(robot, names, trajectory, identification)
    run.initialize()
    first = []
    whole = run.objective_function

    def note_value(*arguments, **words):
        value = whole(*arguments, **words)
        first.append(value)
        return value

    run.objective_function = note_value
    found = run.solve(stack_reps=1)
    if not found["P_F"]:
        raise RuntimeError("no segment was solved")
    np.savez(out, t=np.ravel(found["T_F"][0]), q=np.asarray(found["P_F"][0]))
    return {"version": version("figaroh"), "before": float(first[0]), "evaluations": len(first),
            "after": float(min(first))}  # fmt: skip


if __name__ == "__main__":
    serve({"design": design})
