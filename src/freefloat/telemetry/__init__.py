"""Telemetry: what was seen. Channels, files, quality, common time bases and smooth derivatives.

All of it starts quickly: pyarrow and scipy are loaded by the functions that need them.
"""

from freefloat.telemetry.channel import Channel as Channel
from freefloat.telemetry.channels import Telemetry as Telemetry
from freefloat.telemetry.readers import read_telemetry as read_telemetry
from freefloat.telemetry.readers import write_telemetry as write_telemetry
from freefloat.telemetry.stream import Sample as Sample
