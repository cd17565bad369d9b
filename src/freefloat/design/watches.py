"""Limits that only a flight shows, as a design needs them; those of a simulated flight are same."""

from freefloat.telemetry.watches import Watch, watches_of

__all__ = ["Watch", "watches_of"]
