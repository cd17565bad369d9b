"""Excitation design: the motion, within the limits, that shows what we want to know."""

from freefloat.design.excitation import design, design_excitation
from freefloat.design.result import Design

__all__ = ["Design", "design", "design_excitation"]
