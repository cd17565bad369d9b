"""How `auto` chooses a method: by what is free, what acts and what is measured, and says why.

Output error where only simulating the model again can show what is free; else the linear method
that loses least to noise: momentum, or the weak form where momentum is not enough; without a base
velocity angular momentum, accelerations, and last the reduced dynamics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from freefloat.dynamics.tree import System, flatten
from freefloat.identification.linear.sample_reader import samples_of
from freefloat.identification.linear.samples import Samples
from freefloat.identification.linear.windows import wrench_jumps
from freefloat.model.parameter_name import ParameterName, field_of, owner_of
from freefloat.notes import Note
from freefloat.parameters.parameters import Parameter, Parameters
from freefloat.telemetry.names import channel_names
from freefloat.telemetry.telemetry import Telemetry

OUTPUT_ERROR = "output_error"
IN_JOINT = ("stiffness", "damping", "friction", "armature")


class Choice(NamedTuple):
    """A method, and the reason for it."""

    method: str
    reason: Note


def choose_method(parameters: Parameters, recorded: Sequence[Telemetry]) -> Choice:
    """The method that the parameters and measurements call for, and why this one."""
    system = flatten(parameters.model)
    why = why_output_error(system, parameters, recorded)
    if why is not None:
        return Choice(OUTPUT_ERROR, why)
    chosen = choose_linear(system, samples_of(system, recorded[0]), parameters.names)
    if chosen is not None:
        return chosen
    why = Note("choice.no_linear_method", "no linear method can use these channels")
    return Choice(OUTPUT_ERROR, why)


def choose_linear(system: System, samples: Samples, names: tuple[str, ...]) -> Choice | None:
    """The linear method that the measurements allow, and why this one; None if there is none."""
    has_torque, has_rate = samples.torque is not None, samples.rate is not None
    if system.model.root.type == "fixed":
        text = "the root is fixed, so joint torques are all there is; integrals use every sample"
        return _choice("weak", "fixed_root", text)
    has_momentum = has_rate and samples.attitude is not None and samples.velocity is not None
    if has_momentum:
        return _momentum_or_weak(system, samples, names)
    is_pushed = bool(samples.thrust.any() or samples.wrench.any())
    is_planar = system.model.root.type == "planar"
    if has_rate and (samples.attitude is not None or is_planar) and not is_pushed:
        text = "no base velocity; rates and attitudes give the angular momentum"
        return _choice("angular", "no_velocity", text)
    if has_rate and samples.acceleration is not None:
        text = "no base velocity, but an accelerometer: forces on the base"
        return _choice("torque" if has_torque else "force", "accelerometer", text)
    if has_rate and has_torque and _is_only_root(system, names):
        return _choice("reduced", "gyro_and_torques", "only joint torques and a gyro are measured")
    return None


def _momentum_or_weak(system: System, samples: Samples, names: tuple[str, ...]) -> Choice:
    """With attitude, rate and velocity of the base measured."""
    springs = [name for name in names if field_of(name) in IN_JOINT]
    if springs:
        text = f"{springs[0]} acts in its joint, which does not show in the total momentum"
        return _choice("weak", "joint_parameters", text)
    environment = system.environment
    has_gravity_or_drag = bool(environment.gravity.any()) or environment.has_drag
    # An orbit's gradient alone is weaker than thrust, and momentum is the better of the two then.
    if has_gravity_or_drag or (environment.gradient and not samples.thrust.any()):
        text = "gravity or drag acts, which the momentum method leaves out"
        return _choice("weak", "gravity_or_drag", text)
    if len(wrench_jumps(samples)):
        text = "the commanded wrench jumps, which only the weak form takes as it is"
        return _choice("weak", "wrench_jumps", text)
    if samples.torque is not None and not (samples.thrust.any() or samples.wrench.any()):
        text = "no external force acts, so only measured joint torques can fix the scale"
        return _choice("weak", "torques_fix_scale", text)
    text = "attitude, rate and velocity of the base are measured"
    return _choice("momentum", "momentum_measured", text)


def _choice(method: str, code: str, text: str) -> Choice:
    return Choice(method, Note(f"choice.{code}", text))


def _is_only_root(system: System, names: tuple[str, ...]) -> bool:
    root = system.model.assembly.bodies[0].name
    return all(owner_of(name) == root for name in names)


def why_output_error(
    system: System, parameters: Parameters, flights: Sequence[Telemetry]
) -> Note | None:
    """What only output error can find of the parameters; None when nothing is."""
    tanks = {tank.name for tank in system.model.tanks}
    for p in parameters.free_ones:
        why = _not_in_equations(p, tanks)
        if why is not None:
            return why
    unrecorded = [
        c.name
        for c in system.model.assembly.coordinates
        if c.role == "passive" and not all(channel_names(c)[0] in flight for flight in flights)
    ]
    if unrecorded and _has_effect(system, parameters.names):
        text = f"{unrecorded[0]} moves freely and is not recorded"
        return Note("choice.unrecorded_motion", text)
    return None


def _not_in_equations(p: Parameter, tanks: set[str]) -> Note | None:
    name = ParameterName.parse(p.name)
    if name.is_start:
        text = f"{p.name} is an initial state, which only simulating the model again shows"
        return Note("choice.initial_state", text)
    if name.is_of_sensor:
        text = f"{p.name} belongs to a sensor, not to the equations of motion"
        return Note("choice.sensor_parameter", text)
    if name.is_of_setup or name.is_of_known_body:
        text = f"{p.name} is taken as exact by the equations; only simulating shows it"
        return Note("choice.assumption", text)
    if not p.is_shared:
        return Note(
            "choice.per_recording", f"{p.name} is to be estimated for every recording separately"
        )
    if name.field in ("rest", "length") or name.owner in tanks:
        return Note("choice.not_linear", f"{p.name} is not linear in any equation")
    return None


def _has_effect(system: System, names: Sequence[str]) -> bool:
    """Whether what moves unrecorded carries mass: a rigid stand-in would bias everything."""
    free = [int(g) - 6 for g in system.tree.free if g >= 6]
    links = system.n_links
    carries_mass = any(c + 1 >= links or np.any(system.parameters.phi[c + 1] != 0.0) for c in free)
    return carries_mass or any(field_of(name) in IN_JOINT for name in names)
