"""What the filter holds: the problem, its memory, and scratch space, all as arrays.

Sizes: n free parameters; N unknowns, the nuisance (initial momentum) first; m rows of a sample (3
in the plane, 6 in space); c coordinates; "sources" the errors of a sample, numbered as in
momentum_columns.py. Unknowns are in natural sizes; momenta are linear [N s] first, then angular
[N m s]; positions [m], velocities [m/s] and axes in world axes by default.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from freefloat.dynamics.kernels.mechanism import ParameterArrays, Tree
from freefloat.dynamics.kernels.newton_euler import Work, new_work
from freefloat.online.kernels.codes import Count, Number
from freefloat.online.kernels.innovation_tests import OCTAVES
from freefloat.online.kernels.kernel_limits import KernelLimits
from freefloat.online.kernels.square_root_information import ROOM


class FilterProblem(NamedTuple):
    """What does not change while the filter runs."""

    tree: Tree
    par: ParameterArrays  # of the model, about which the unknowns count
    links: np.ndarray  # (active,) links with unknowns
    entries: np.ndarray  # (e, 2) which of the links' phi (10 link + place) moves with which unknown
    entry_sizes: np.ndarray  # (e,) and by how much; in the order of the unknowns
    rotor_blocks: np.ndarray  # (rotors, n) how rotor inertias [kg m2] move with the unknowns
    sigma: np.ndarray  # (sources,) standard deviations [SI]
    thrust_noise: np.ndarray  # (thrusters,) standard deviations of a level that is open [N]
    rows: np.ndarray  # (m,) which of the six equations the root has
    n_nuisance: int
    n_unknowns: int  # n
    momentum_size: float  # unit of the initial momentum [N s]
    walk: np.ndarray  # (N,) variance of a random walk per second
    gates: np.ndarray  # (2,) largest NIS for all rows and for the linear ones; 0: no gate
    every: np.ndarray  # (3,) samples between solutions, new weights; solutions between noise parts
    probing: float  # 1: what noise in the columns does is found and taken off; 0: it is not
    forgetting: float  # what old information counts after a sample
    limits: KernelLimits


class FilterMemory(NamedTuple):
    """Everything the filter knows; saving it saves the filter."""

    # the last samples, newest last
    counts: np.ndarray  # see codes.Count
    numbers: np.ndarray  # see codes.Number
    times: np.ndarray  # (4,) [s]
    velocities: np.ndarray  # (4, 3) [m/s] less frame_velocity, as if thrust had not switched
    positions: np.ndarray  # (4, 3) [m] in the frame that moves with frame_velocity
    axes: np.ndarray  # (4, 9) of the root, row by row
    velocity: np.ndarray  # (3,) [m/s] of the last sample, less frame_velocity
    rate: np.ndarray  # (3,) [rad/s] of the last sample, root axes
    frame_velocity: np.ndarray  # (3,) [m/s] the segment's first
    impulse: np.ndarray  # (3,) [N s] since the segment began
    momentum: np.ndarray  # (3,) linear [N s] at the last sample, by the weights' parameters
    inertia: np.ndarray  # (10,) phi of everything about the root, by the weights' parameters
    # inputs since the last sample
    switch_displacement: np.ndarray  # (3,) [m] what switching thrust adds, see `switch_thrusters`
    switch_acceleration: np.ndarray  # (3,) [m/s2] step of the root's acceleration at the switch
    impulse_variance: np.ndarray  # (6,) of impulse and angular impulse, see `integrate_inputs`
    wrench_error: np.ndarray  # (6,) of its integral: torque [N m s], force [N s]
    levels: np.ndarray  # (thrusters,) [N]
    level_moments: np.ndarray  # (thrusters, 5) integrals of level s^i [N s^(i+1)]
    wrench: np.ndarray  # (4, 7) time, torque, force of the last ones told
    wrench_moments: np.ndarray  # (6, 4) integrals of torque and force times s^i
    # what the last sample left
    columns: np.ndarray  # (6, n + 1) momentum by unknown; last, what the model has
    first_moments: np.ndarray  # (4, n) first moment [kg m] and mass [kg] by unknown
    probe_columns: np.ndarray  # (6, n + 1) change of the columns by the probe's noise
    probe_velocity: np.ndarray  # (3,) [m/s] noise of the probe's velocity
    velocity_noise: np.ndarray  # (3,) [m/s] standard deviations of the last sample's velocity
    momentum_errors: np.ndarray  # (sources, 6) change of momentum by one deviation
    moment_errors: np.ndarray  # (sources, 3) change of the first moment [kg m] by one deviation
    end_errors: np.ndarray  # (sources, 6) change of the rows of the interval that it ended
    noise_factor: np.ndarray  # (m, m) upper factor of the rows' noise given the rows before
    rows: np.ndarray  # (m, N + 1) whitened, without what walks did to them
    probe_rows: np.ndarray  # (m, N + 1) change of the rows by the probe's noise
    walk_rows: np.ndarray  # (m, N + 1) estimate of what walks made of `rows`, by unknown
    walk_covariance: np.ndarray  # (m, m) of that
    # the estimate
    information_root: np.ndarray  # (N, N + 1) R and z of R x = z with unit noise
    bias: np.ndarray  # (N, N + 1) what noise in the columns adds to R^T R and R^T z
    x: np.ndarray  # (N,)
    worst: np.ndarray  # (N,) the direction that is noise for the greatest part
    clear_factor: np.ndarray  # (N, N) upper factor of 1 - A, the part that is not noise
    weight_x: np.ndarray  # (n,) the unknowns that rows are weighted by
    weight_phi: np.ndarray  # (links, 10) inertial parameters of these
    weight_rotor: np.ndarray  # (rotors,) [kg m2]
    # whether innovations are noise, see innovation_tests.py
    octave_half: np.ndarray  # (octaves, m) sums that wait for their other half
    octave_power: np.ndarray  # (octaves, m) of the differences of such sums
    window_half: np.ndarray  # (octaves, 2) NIS and rows of windows that wait for theirs
    window_worst: np.ndarray  # (octaves, 2) chance of the oddest window, as -ln; its NIS per row
    # what readings look odd
    last: np.ndarray  # the last sample, as it came
    spike_state: np.ndarray  # (4,) samples known, spikes in a row, instants of the last two [s]
    recent: np.ndarray  # (2, sample) the last two that were no spikes
    usual_miss: np.ndarray  # (sample,) what they usually miss a straight line by
    repeats: np.ndarray  # (sources,) samples for which a reading has been the same
    rest: np.ndarray  # (c, 2) how long a joint has rested [s], and its largest speed so far [rad/s]


class FilterScratch(NamedTuple):
    """Space for one update; nothing here outlives it. Fields called as in FilterMemory are next."""

    # the sample
    work: Work  # links, placed and moving
    weights: ParameterArrays  # parameters whose arrays are weight_phi and weight_rotor
    regressor: np.ndarray  # (6, 10 links) momentum by phi, root axes
    energy_row: np.ndarray  # (10 links,) not used, but the regressor's kernel fills it
    sample: np.ndarray  # (10 + 2 c,) rate, attitude, velocity, q, dq
    original: np.ndarray  # (10 + 2 c,) the same before the probe moved it
    small_turn: np.ndarray  # (3,) half the rotation vector [rad] of the probe; any vector
    columns: np.ndarray
    first_moments: np.ndarray
    displacement_slopes: np.ndarray  # (3, n) [m] change of the displacement with each unknown
    column_pair: np.ndarray  # (2, 6, n + 1) columns of the probe and of the sample
    probe_columns: np.ndarray
    probe_velocity: np.ndarray
    velocity_noise: np.ndarray
    momentum_errors: np.ndarray
    moment_errors: np.ndarray
    end_errors: np.ndarray
    start_errors: np.ndarray  # (sources, 6) of the last sample in the rows of this interval
    # the interval
    times: np.ndarray
    velocities: np.ndarray
    positions: np.ndarray
    axes: np.ndarray
    coefficients: np.ndarray  # (4, 4) of the polynomials through the last samples
    gain: np.ndarray  # (12,) displacement, impulse, angular impulse, linear momentum
    other_impulse: np.ndarray  # (6,) impulse and angular impulse of thrusters by another rule
    impulse_variance: np.ndarray  # (6,) with the error of integrating thrust and wrench
    lag: np.ndarray  # (3,) [N s2] integral of force times the time since the last sample
    impulse: np.ndarray  # (3,) [N s] since the segment began
    # its rows
    rows: np.ndarray
    probe_rows: np.ndarray
    plain_rows: np.ndarray  # (2, m, N + 1) rows and probe rows as the next sample needs them
    reflected: np.ndarray  # (ROOM,) rows while they are reflected into R and z
    row_covariance: np.ndarray  # (6, 6) of all six equations
    row_cross_covariance: np.ndarray  # (6, 6) of the rows before (first index) with these
    covariance: np.ndarray  # (m, m) C, of the rows there are
    cross_covariance: np.ndarray  # (m, m) X
    carried: np.ndarray  # (m, m) G = factor^-T X: what the rows before tell of these
    noise_factor: np.ndarray  # (m, m) D, upper factor of C - G^T G
    walk_factor: np.ndarray  # (m, m) E, upper factor of 1 + F V F^T, V the walk's covariance
    walk_gain: np.ndarray  # (m, m) F = D^-T G^T: how the walk enters the rows
    walk_cross: np.ndarray  # (m, m) H = F V, whitened
    walk_before: np.ndarray  # (m, N + 1) the walk's estimate before it is carried on
    # gate and estimate
    uncertain: np.ndarray  # (N, 8) U, two registers a row: a column for each of the six equations
    misled: np.ndarray  # (N, 8) V, the same of what noise in the columns may have misled
    solved: np.ndarray  # (N, 8) R^-1 U
    lanes: np.ndarray  # (8,)
    innovation_covariance: np.ndarray  # (m, m) S = 1 + U^T U + V^T V
    innovation: np.ndarray  # (m,) of the whitened rows; trials read it after the sample
    walk_moves: np.ndarray  # (m,) of the rows, by a step of the unknowns
    octave_sum: np.ndarray  # (m,) innovations summed so far, from octave to octave
    row: np.ndarray  # (N + 1,)
    gradient: np.ndarray  # (N + 1,) R^T R d; any right side
    direction: np.ndarray  # (N,) d, along which an unknown walks
    along: np.ndarray  # (N,) R d
    noise_part: np.ndarray  # (N, fours) A = R^-T B R^-1; rows filled up to fours
    clear_part: np.ndarray  # (N, fours) 1 - A, and its factor


def new_memory(problem: FilterProblem) -> FilterMemory:
    """The memory of a filter that has seen nothing."""
    tree, n = problem.tree, problem.n_unknowns
    N, m, k = problem.n_nuisance + n, len(problem.rows), len(tree.thruster_link)
    c, sources = len(tree.links) - 1 + len(tree.rotor_link), len(problem.sigma)
    return FilterMemory(
        counts=np.zeros(len(Count), dtype=np.int64), numbers=np.zeros(len(Number)),
        times=np.zeros(4), velocities=np.zeros((4, 3)), positions=np.zeros((4, 3)),
        axes=np.zeros((4, 9)), velocity=np.zeros(3), rate=np.zeros(3), frame_velocity=np.zeros(3),
        impulse=np.zeros(3), momentum=np.zeros(3), inertia=np.zeros(10),
        switch_displacement=np.zeros(3), switch_acceleration=np.zeros(3),
        impulse_variance=np.zeros(6), wrench_error=np.zeros(6), levels=np.zeros(k),
        level_moments=np.zeros((k, 5)), wrench=np.zeros((4, 7)), wrench_moments=np.zeros((6, 4)),
        columns=np.zeros((6, n + 1)), first_moments=np.zeros((4, n)),
        probe_columns=np.zeros((6, n + 1)), probe_velocity=np.zeros(3), velocity_noise=np.zeros(3),
        momentum_errors=np.zeros((sources, 6)), moment_errors=np.zeros((sources, 3)),
        end_errors=np.zeros((sources, 6)), noise_factor=np.zeros((m, m)),
        rows=np.zeros((m, N + 1)), probe_rows=np.zeros((m, N + 1)),
        walk_rows=np.zeros((m, N + 1)), walk_covariance=np.zeros((m, m)),
        information_root=np.zeros((N, N + 1)), bias=np.zeros((N, N + 1)), x=np.zeros(N),
        worst=np.ones(N), clear_factor=np.eye(N), weight_x=np.zeros(n),
        weight_phi=problem.par.phi.copy(), weight_rotor=problem.par.rotor.copy(),
        octave_half=np.zeros((OCTAVES, m)), octave_power=np.zeros((OCTAVES, m)),
        window_half=np.zeros((OCTAVES, 2)), window_worst=np.zeros((OCTAVES, 2)),
        last=np.zeros(10 + 2 * c), spike_state=np.zeros(4), recent=np.zeros((2, 10 + 2 * c)),
        usual_miss=np.zeros(10 + 2 * c), repeats=np.zeros(sources, dtype=np.int64),
        rest=np.zeros((c, 2)),
    )  # fmt: skip


def new_scratch(problem: FilterProblem, memory: FilterMemory) -> FilterScratch:
    """Space for updates; its weights are the memory's own arrays."""
    tree, n = problem.tree, problem.n_unknowns
    N, m, links = problem.n_nuisance + n, len(problem.rows), len(tree.links)
    c, sources = len(memory.rest), len(problem.sigma)
    weights = ParameterArrays(memory.weight_phi, memory.weight_rotor, problem.par.spring)
    sample, wide, tall = (10 + 2 * c,), (6, n + 1), (sources, 6)
    table, square, eights, fours = (m, N + 1), (m, m), (N, 8), (N, -4 * (-N // 4))
    return FilterScratch(
        work=new_work(tree), weights=weights, regressor=np.zeros((6, 10 * links)),
        energy_row=np.zeros(10 * links), sample=np.zeros(sample), original=np.zeros(sample),
        small_turn=np.zeros(3), columns=np.zeros(wide), first_moments=np.zeros((4, n)),
        displacement_slopes=np.zeros((3, n)), column_pair=np.zeros((2, *wide)),
        probe_columns=np.zeros(wide), probe_velocity=np.zeros(3), velocity_noise=np.zeros(3),
        momentum_errors=np.zeros(tall), moment_errors=np.zeros((sources, 3)),
        end_errors=np.zeros(tall), start_errors=np.zeros(tall), times=np.zeros(4),
        velocities=np.zeros((4, 3)), positions=np.zeros((4, 3)), axes=np.zeros((4, 9)),
        coefficients=np.zeros((4, 4)),
        gain=np.zeros(12), other_impulse=np.zeros(6), impulse_variance=np.zeros(6),
        lag=np.zeros(3), impulse=np.zeros(3), rows=np.zeros(table), probe_rows=np.zeros(table),
        plain_rows=np.zeros((2, *table)), reflected=np.zeros(ROOM),
        row_covariance=np.zeros((6, 6)), row_cross_covariance=np.zeros((6, 6)),
        covariance=np.zeros(square), cross_covariance=np.zeros(square), carried=np.zeros(square),
        noise_factor=np.zeros(square), walk_factor=np.zeros(square), walk_gain=np.zeros(square),
        walk_cross=np.zeros(square), walk_before=np.zeros(table), uncertain=np.zeros(eights),
        misled=np.zeros(eights), solved=np.zeros(eights), lanes=np.zeros(8),
        innovation_covariance=np.zeros(square), innovation=np.zeros(m), walk_moves=np.zeros(m),
        octave_sum=np.zeros(m), row=np.zeros(N + 1), gradient=np.zeros(N + 1),
        direction=np.zeros(N), along=np.zeros(N), noise_part=np.zeros(fours),
        clear_part=np.zeros(fours),
    )  # fmt: skip
