"""Excitation design: the motion, within the limits, that shows what we want to know."""

from freefloat.design.excitation import Design, design, design_excitation
from freefloat.design.motion_search import Effort

__all__ = ["Design", "Effort", "design", "design_excitation"]
