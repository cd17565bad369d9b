"""Design a motion for an unknown target, fly it, identify, and design the next one for the rest.

    python examples/05_design.py

Writes to build/examples. docs/design.md explains criteria, limits and families of motions.
"""

from pathlib import Path

import freefloat as ff
from freefloat.design import Effort, design
from freefloat.excitation import save_table

folder = Path("build/examples")
folder.mkdir(parents=True, exist_ok=True)

# A spacecraft has grasped a target; all ten of its parameters are wanted.
model = ff.load_model("spatial-capture")
wanted = ff.Parameters.of(model).free("target.*")

# Thirty seconds, within every limit of the model, and no more than 0.4 rad/s at any joint. A few
# rounds are enough for an example.
quick = Effort(random=8, starts=1, rounds=3)
found = design(
    model, wanted, duration=30.0, harmonics=3, limits={"arm_*.velocity": 0.4}, effort=quick
)
print(found)
found.plan.save(folder / "target.toml")
save_table(found.plan, model, folder / "target.csv", rate=50.0)

# Fly it, with noise, and see what is learned.
flight = ff.simulate(model, found.plan, seed=1)
fit = ff.identify(model, wanted, [flight])
for estimate in fit.estimates[:4]:
    print(f"{estimate.name}: {estimate.value:.4g} +- {estimate.std:.2g} {estimate.unit}")

# What is known now is a prior; the next motion is for what is still weak, around the new model.
known = ff.Parameters.of(fit.model).free("target.*")
for estimate in fit.estimates:
    if estimate.total_std > 0.0:
        known = known.prior(estimate.name, std=estimate.total_std)
again = design(
    fit.model, known, duration=30.0, harmonics=3, criterion="worst_parameter", seed=1, effort=quick
)
print(again.measure, f"{again.value:.3g}")
