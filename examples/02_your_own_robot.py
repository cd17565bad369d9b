"""Your own robot: built in Python, saved as model file and URDF, read back, grasping a target.

    python examples/02_your_own_robot.py

Writes to build/examples. docs/formats.md explains every key of the model file.
"""

from dataclasses import replace
from pathlib import Path

import freefloat as ff
from freefloat.model import Body, Frame, Joint, JointLimits, Placement, Root, Sensor, Tank
from freefloat.model.mass_properties import mass_properties

folder = Path("build/examples")
folder.mkdir(parents=True, exist_ok=True)

# Inertias are about the centre of mass, in body axes: xx, xy, xz, yy, yz, zz [kg m^2].
bus = Body("bus", 100.0, (0.02, 0.0, 0.05), (8.0, 0.0, 0.1, 9.0, 0.0, 7.5))
arm = Body("arm", 4.0, (0.25, 0.0, 0.0), (0.01, 0.0, 0.0, 0.09, 0.0, 0.09))
wing = Body("wing", 6.0, (0.0, 0.8, 0.0), (1.3, 0.0, 0.0, 0.4, 0.0, 1.7))

shoulder = Joint(
    "shoulder",
    "revolute",
    "bus",
    "arm",
    Placement(xyz=(0.4, 0.0, 0.2)),
    limits=JointLimits(lower=-2.0, upper=2.0, velocity=0.3),
)
hinge = Joint(  # nobody drives it: a spring and a damper
    "hinge",
    "revolute",
    "bus",
    "wing",
    Placement(xyz=(0.0, 0.5, 0.0)),
    axis=(1.0, 0.0, 0.0),
    role="passive",
    stiffness=12.0,
    damping=0.05,
)
model = ff.Model(
    "my-robot",
    Root("bus"),
    bodies=(bus, arm, wing),
    joints=(shoulder, hinge),
    tanks=(Tank("fuel", "bus", mass=8.0, length=0.2, stiffness=(0.1, 0.1)),),
    frames=(Frame("hand", "arm", Placement(xyz=(0.5, 0.0, 0.0))),),
    sensors=(Sensor("gyro", "bus", 50.0, noise=1e-4), Sensor("encoder", "shoulder", 50.0)),
)
model.save(folder / "my_robot.toml")  # everything
model.save(folder / "my_robot.urdf")  # bodies and joints; a comment names what is left out
assert ff.load_model(folder / "my_robot.toml") == model

# Models never change; these are new ones.
holding = model.grasp(Body("target", 30.0, (0.2, 0, 0), (1, 0, 0, 1, 0, 1)), on="hand")
stiff = holding.with_joint("hinge", stiffness=2.0 * hinge.stiffness)
for name, variant in {"free": model, "holding": holding, "stiffer wing": stiff}.items():
    found = mass_properties(variant)
    slowest = ff.modes(variant)[0]
    wing_mode = max(ff.modes(variant), key=lambda mode: abs(mode.shape["hinge"]))
    print(
        f"{name:>12}: {found.mass:5.1f} kg, CoM at x = {found.com[0]:.3f} m, "
        f"fuel {slowest.frequency:.3f} Hz, wing {wing_mode.frequency:.3f} Hz"
    )

# Mistakes are all reported at once, with what to do.
try:
    broken = replace(model, joints=(replace(shoulder, parent="buss", axis=(0.0, 0.0, 2.0)), hinge))
    ff.simulate(broken, ff.default_plan(broken, duration=1.0))
except ff.FreefloatError as error:
    print("\nA broken model says:", error, sep="\n")
