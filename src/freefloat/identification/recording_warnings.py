"""What speaks against recordings before anything is estimated from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.model.model import Model
from freefloat.notes import Note
from freefloat.prediction.measurements import unknown_channel_notes
from freefloat.telemetry.quality_checks import QualityLimits
from freefloat.telemetry.rate_consistency import check_rates
from freefloat.telemetry.telemetry import Telemetry


def recording_warnings(model: Model, flights: Sequence[Telemetry]) -> list[Note]:
    """Recordings of another model, channels it does not have, rates that contradict positions.

    >>> import freefloat as ff
    >>> model = ff.load_model("planar-capture")
    >>> recording_warnings(model, [ff.Telemetry.of([]).with_metadata(model="ets7")])
    ["a recording says it is of 'ets7', not of 'planar-capture'"]
    """
    said = {flight.metadata.get("model", model.name) for flight in flights} - {model.name}
    found = [
        Note("recording.other_model", f"a recording says it is of {name!r}, not of {model.name!r}")
        for name in sorted(said)
    ]
    found += unknown_channel_notes(model, flights)
    with np.errstate(over="ignore", invalid="ignore"):  # absurd values are refused elsewhere
        for flight in flights:
            samples = {name: channel.usable() for name, channel in flight.channels.items()}
            rates = check_rates(samples, QualityLimits())
            found += [Note(one.code, f"{one.place}: {one.text}") for one in rates]
    return list(dict.fromkeys(found))
