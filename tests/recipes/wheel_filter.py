"""A made-up live filter: the inertia of a base from the speed of its wheel and its own rate."""

from __future__ import annotations

import numpy as np

from freefloat.dynamics import flatten
from freefloat.model.mass_properties import mass_properties
from freefloat.online.filter_problem import unknowns_of
from freefloat.online.live_estimate import ValueEstimate
from freefloat.online.live_filter import LiveFilter


class WheelFilter(LiveFilter):
    """I w + J s = 0: the base turns against its wheel. One parameter, the inertia of the base."""

    method = "wheel"

    def __init__(self, request):
        self.request, (wheel,) = request, request.model.wheels
        self.unknowns = unknowns_of(flatten(request.model), request.parameters).without_nuisance
        self.channels = ("base.rate.z", f"{wheel.name}.speed")
        self.spin_inertia = wheel.inertia
        self.inertia = mass_properties(request.model).inertia[2, 2]
        self.sums = np.zeros(2)  # of w w, and of w times what the model's inertia leaves

    def take(self, sample, intake):
        w, s = (sample.values[name] for name in self.channels)
        self.sums += w * w, -w * (self.inertia * w + self.spin_inertia * s)
        intake.time = sample.time
        return "taken"

    @property
    def values(self):
        (izz,) = self.request.parameters.free_ones
        return np.array([izz.value + self.sums[1] / max(self.sums[0], 1e-30)])

    def estimate(self, report):
        request = self.request
        return ValueEstimate(report, np.nan, 0, request.parameters, self.unknowns, self.values)

    def arrays(self):
        return {"sums": self.sums}

    def restore(self, arrays):
        self.sums[:] = arrays["sums"]

    def settings(self):
        return {"inertia": self.inertia}
