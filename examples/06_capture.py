"""The main job: a servicer has captured an unknown target. What does the pair weigh now?

    python examples/06_capture.py

Design a motion within the limits, fly it, identify, and check on a second flight. Writes the plan,
both flights, the fit, the identified model and a report to build/demo.
"""

from pathlib import Path

import freefloat as ff
from freefloat.design import Effort, design
from freefloat.model import Body

folder = Path("build/demo")
folder.mkdir(parents=True, exist_ok=True)
servicer = ff.load_model("servicer")  # what is true, and known to the simulation alone

# The target was never weighed: a guess from photographs, off by a third. Wings were measured on the
# ground, to a tenth; the fuel's springs are anybody's guess.
guess = servicer.swap("target", Body("target", 100.0, (0.0, 0.0, 0.3), (15, 0, 0, 15, 0, 10)))
wanted = ff.Parameters(guess).free("bus.*", "target.*", "hinge_*.stiffness", "tank_*.stiffness")
wanted = wanted.prior("hinge_*.stiffness", relative=0.1)

print("A servicer has captured a target that nobody weighed.\n")
print("1. Design a motion, within every limit, that shows base, target, wings and fuel (3 s)")
found = design(guess, wanted, duration=30.0, seed=1, effort=Effort(seconds=3.0))
found.plan.save(folder / "plan.toml")
print(f"   {found.measure} {found.value:.3g}\n")

print("2. Fly it, and another motion to check on, with noisy sensors")
flight = ff.simulate(servicer, found.plan, seed=1)
second = ff.simulate(servicer, ff.default_plan(servicer, duration=30.0, seed=5), seed=2)
flight.save(folder / "flight.parquet")
second.save(folder / "second.parquet")
print(f"   {flight.duration:g} s and {second.duration:g} s of telemetry\n")

print("3. Identify")
fit = ff.identify(guess, wanted, flight)
fit.save(folder / "fit.json")
fit.model.save(folder / "identified.toml")
print(fit)

mass, true = fit["target.mass"], servicer.body("target").mass
print(f"\n   target: {mass.value:.2f} ± {mass.std:.2f} kg; the simulation knew {true:.2f} kg")

print("\n4. Does it predict the second flight?")
verdict = ff.validate(fit, second)
print(f"   {verdict.status}")
verdict.save_report(folder / "report.html", fit)
print(f"\nThe report is {folder / 'report.html'}: open it in a browser.")
