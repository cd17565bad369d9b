"""Identification: from telemetry to parameters, with honest intervals."""
