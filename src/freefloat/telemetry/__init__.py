"""Telemetry: what was measured. Channels, files, quality, common time bases, smooth derivatives.

One word for each thing: a `Telemetry` is a recording, channels by name; a `Channel` the samples of
one quantity, each with its own instant; a `Sample` what was measured at one instant, in all
channels that have a value there; a `SampleSource` where samples arrive from, live.

All of it starts quickly: pyarrow and scipy are loaded by the functions that need them.
"""

from freefloat.telemetry.channel import Channel as Channel
from freefloat.telemetry.clock_offsets import TimeOffset as TimeOffset
from freefloat.telemetry.clock_offsets import estimate_offset as estimate_offset
from freefloat.telemetry.diagnosis import Diagnosis as Diagnosis
from freefloat.telemetry.diagnosis import Finding as Finding
from freefloat.telemetry.doctor import examine as examine
from freefloat.telemetry.doctor import prepare_recording as prepare_recording
from freefloat.telemetry.doctor import repair as repair
from freefloat.telemetry.quality import Quality as Quality
from freefloat.telemetry.quality import quality as quality
from freefloat.telemetry.quality_checks import QualityLimits as QualityLimits
from freefloat.telemetry.readers import read_telemetry as read_telemetry
from freefloat.telemetry.readers import write_telemetry as write_telemetry
from freefloat.telemetry.resample import align as align
from freefloat.telemetry.resample import resample as resample
from freefloat.telemetry.sample_rows import Sample as Sample
from freefloat.telemetry.smoothing import SmoothAttitude as SmoothAttitude
from freefloat.telemetry.smoothing import SmoothSignal as SmoothSignal
from freefloat.telemetry.smoothing import smooth as smooth
from freefloat.telemetry.smoothing import smooth_attitude as smooth_attitude
from freefloat.telemetry.telemetry import Telemetry as Telemetry
