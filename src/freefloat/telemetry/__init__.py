"""Telemetry: what was seen. Channels, files, quality, common time bases and smooth derivatives.

All of it starts quickly: pyarrow and scipy are loaded by the functions that need them.
"""

from freefloat.telemetry.align import align as align
from freefloat.telemetry.align import resample as resample
from freefloat.telemetry.channel import Channel as Channel
from freefloat.telemetry.channels import Telemetry as Telemetry
from freefloat.telemetry.clocks import TimeOffset as TimeOffset
from freefloat.telemetry.clocks import estimate_offset as estimate_offset
from freefloat.telemetry.quality import Quality as Quality
from freefloat.telemetry.quality import quality as quality
from freefloat.telemetry.readers import read_telemetry as read_telemetry
from freefloat.telemetry.readers import write_telemetry as write_telemetry
from freefloat.telemetry.smoothing import SmoothAttitude as SmoothAttitude
from freefloat.telemetry.smoothing import SmoothSignal as SmoothSignal
from freefloat.telemetry.smoothing import smooth as smooth
from freefloat.telemetry.smoothing import smooth_attitude as smooth_attitude
from freefloat.telemetry.stream import Sample as Sample


def __getattr__(name: str) -> object:
    if name != "simulate":
        raise AttributeError(f"module 'freefloat.telemetry' has no attribute {name!r}")
    # The only part that needs the compiled dynamics, hence imported when first used.
    from freefloat.telemetry.simulate import simulate

    globals()["simulate"] = simulate  # in place of the module, which the import has put there
    return simulate
