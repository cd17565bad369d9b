"""What the filter holds: the problem, its memory, and scratch space, all as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from freefloat.dynamics.kernels.newton_euler import Work, new_work
from freefloat.dynamics.tree import ParameterArrays as Numbers
from freefloat.dynamics.tree import Tree
from freefloat.online.kernels.square_root_information import ROOM

# What became of a sample; GAP: nothing yet, since momentum must be found anew first.
BEGUN, TAKEN, GATED, BROKEN, UNUSABLE, SPIKY, GAP = range(7)

# Places in Memory.counts: samples in the segment's history (0 to 4), samples with rows in the
# segment, samples taken, samples gated, the last 60 verdicts as bits, samples taken since the last
# change, rows in the triangle, wrench samples known (0 to 4).
HISTORY, ROWS_HERE, N_TAKEN, N_GATED, VERDICTS, SINCE_CHANGE, N_ROWS, N_WRENCH = range(8)
# Places in Memory.numbers: time up to which inputs are integrated, chi-square of the residuals,
# cumulated excess of NIS, last NIS and its degrees of freedom, share of B taken off, how far noise
# may have misled the estimate, usual step, mean NIS per row (at least one), whether the
# weights are those of an estimate.
INPUT_TIME, CHI2, EXCESS, NIS, DOF, SHARE, WRONG, STEP, LEVEL, SETTLED = range(10)


class FilterProblem(NamedTuple):
    """What does not change while the filter runs."""

    tree: Tree
    par: Numbers  # parameters of the model, about which the unknowns count
    links: np.ndarray  # (active,) links with unknowns
    entries: np.ndarray  # (k, 2) which of the links' phi (10 link + place) moves with which unknown
    entry_sizes: np.ndarray  # (k,) and by how much; in the order of the unknowns
    rotor_blocks: np.ndarray  # (rotors, unknowns)
    sigma: np.ndarray  # (sources,) standard deviations, see momenta.py
    rows: np.ndarray  # (m,) which of the six equations the root has
    n_nuisance: int
    n_unknowns: int  # without the nuisance
    momentum_size: float  # unit of the initial momentum [N s]
    walk: np.ndarray  # (nuisance + unknowns,) variance of a random walk per second
    gates: np.ndarray  # (2,) largest NIS for all rows and for the linear ones; 0: no gate
    gap: float  # usual steps from which on dr is not known
    every: np.ndarray  # (2,) samples between solutions, and between new weights
    probing: float  # 1: what noise in the columns does is found and taken off; 0: it is not
    forgetting: float  # what old information counts after a sample


class FilterMemory(NamedTuple):
    """Everything the filter knows; saving it saves the filter."""

    counts: np.ndarray
    numbers: np.ndarray
    times: np.ndarray  # (4,) of the last samples, newest last
    velocities: np.ndarray  # (4, 3) from the segment's first velocity on
    positions: np.ndarray  # (4, 3)
    axes: np.ndarray  # (4, 9)
    velocity: np.ndarray  # (3,) of the last sample; `velocities` are without kinks
    rate: np.ndarray  # (3,) of the last sample, root axes
    shift: np.ndarray  # (3,) the segment's first velocity
    impulse: np.ndarray  # (3,)
    momentum: np.ndarray  # (3,) linear, at the last sample, by the weights' parameters
    inertia: np.ndarray  # (10,) of everything, at the last sample, by the weights' parameters
    detour: np.ndarray  # (3,) see `switch`
    kink: np.ndarray  # (3,)
    unsure: np.ndarray  # (6,) variance of impulse and angular impulse, see `integrate_inputs`
    slip: np.ndarray  # (6,) error of integrating the wrench since the last sample: torque, force
    levels: np.ndarray  # (thrusters,)
    level_moments: np.ndarray  # (thrusters, 5)
    wrench: np.ndarray  # (4, 7)
    wrench_moments: np.ndarray  # (6, 4)
    columns: np.ndarray  # (6, unknowns + 1) of the last sample
    firsts: np.ndarray  # (4, unknowns) of the last sample, see `first_columns`
    probe: np.ndarray  # (6, unknowns + 1)
    probe_velocity: np.ndarray  # (3,)
    slopes: np.ndarray  # (sources, 6)
    moments: np.ndarray  # (sources, 3) change of the first moment by a deviation
    ends: np.ndarray  # (sources, 6)
    factor: np.ndarray  # (m, m)
    rows: np.ndarray  # (m, N + 1)
    probe_rows: np.ndarray  # (m, N + 1)
    echo: np.ndarray  # (m, N + 1) what wandering made of the rows before, see `echo`
    unheard: np.ndarray  # (m, m) its covariance
    triangle: np.ndarray  # (N, N + 1)
    bias: np.ndarray  # (N, N + 1)
    x: np.ndarray  # (N,)
    worst: np.ndarray  # (N,) the direction that is noise for the greatest part
    spread: np.ndarray  # (N, N) upper factor of 1 - A
    wx: np.ndarray  # (unknowns,) of the weights
    phi: np.ndarray  # (links, 10) for the weights
    rotor: np.ndarray  # (rotors,)
    last: np.ndarray  # the last sample, as it came
    trend: np.ndarray  # (4,) samples known, spikes in a row, instants of the last two
    recent: np.ndarray  # (2, sample) the last two that were no spikes
    wobble: np.ndarray  # (sample,) what they usually miss a straight line by
    repeats: np.ndarray  # (sources,) samples for which a reading has been the same
    still: np.ndarray  # (coordinates, 2) how long it has rested [s], and its largest speed so far


class FilterScratch(NamedTuple):
    """Space for one update; nothing here outlives it."""

    w: Work
    weights: Numbers  # parameters whose arrays are those of Memory
    Y: np.ndarray
    energy: np.ndarray
    sample: np.ndarray
    original: np.ndarray
    turn: np.ndarray
    columns: np.ndarray
    firsts: np.ndarray
    ways: np.ndarray  # (3, unknowns) change of dr with each unknown
    tables: np.ndarray  # (2, 6, unknowns + 1) columns of the probe and of the sample
    probe: np.ndarray
    probe_velocity: np.ndarray
    slopes: np.ndarray
    moments: np.ndarray
    ends: np.ndarray
    starts: np.ndarray
    times: np.ndarray
    velocities: np.ndarray
    positions: np.ndarray
    axes: np.ndarray
    coefficients: np.ndarray
    gain: np.ndarray  # (12,) dr, impulse, angular impulse, linear momentum
    other: np.ndarray  # (6,) impulse and angular impulse of thrusters by another rule
    unsure: np.ndarray  # (6,) as in Memory, with the error of integrating thrust and wrench
    lag: np.ndarray  # (3,) force times the time since the last sample, over the interval [N s2]
    after: np.ndarray  # (3,) impulse so far
    rows: np.ndarray
    probe_rows: np.ndarray
    plain: np.ndarray  # (2, m, N + 1) rows and probe rows as the next sample's need them
    turned: np.ndarray  # see `turn_in`
    own: np.ndarray  # (6, 6)
    shared: np.ndarray  # (6, 6)
    C: np.ndarray
    X: np.ndarray
    G: np.ndarray
    D: np.ndarray
    E: np.ndarray
    F: np.ndarray
    H: np.ndarray
    past: np.ndarray  # (m, N + 1)
    U: np.ndarray  # (N, 8), two registers a row: a column for each of the six equations
    V: np.ndarray
    Z: np.ndarray
    eight: np.ndarray
    S: np.ndarray
    left: np.ndarray
    row: np.ndarray
    g: np.ndarray
    d: np.ndarray
    pushed: np.ndarray
    A: np.ndarray  # (N, N), rows filled up to fours: they are worked on so
    W: np.ndarray


def new_memory(problem: FilterProblem) -> FilterMemory:
    """The memory of a filter that has seen nothing."""
    tree, n = problem.tree, problem.n_unknowns
    N, m, k = problem.n_nuisance + n, len(problem.rows), len(tree.thruster_link)
    c, sources = len(tree.links) - 1 + len(tree.rotor_link), len(problem.sigma)
    return FilterMemory(
        counts=np.zeros(8, dtype=np.int64), numbers=np.zeros(10), times=np.zeros(4),
        velocities=np.zeros((4, 3)), positions=np.zeros((4, 3)), axes=np.zeros((4, 9)),
        velocity=np.zeros(3), rate=np.zeros(3), shift=np.zeros(3),
        impulse=np.zeros(3), momentum=np.zeros(3), inertia=np.zeros(10),
        detour=np.zeros(3), kink=np.zeros(3), unsure=np.zeros(6), slip=np.zeros(6),
        levels=np.zeros(k),
        level_moments=np.zeros((k, 5)), wrench=np.zeros((4, 7)), wrench_moments=np.zeros((6, 4)),
        columns=np.zeros((6, n + 1)), firsts=np.zeros((4, n)), probe=np.zeros((6, n + 1)),
        probe_velocity=np.zeros(3),
        slopes=np.zeros((sources, 6)), moments=np.zeros((sources, 3)),
        ends=np.zeros((sources, 6)), factor=np.zeros((m, m)),
        rows=np.zeros((m, N + 1)), probe_rows=np.zeros((m, N + 1)),
        echo=np.zeros((m, N + 1)), unheard=np.zeros((m, m)), triangle=np.zeros((N, N + 1)),
        bias=np.zeros((N, N + 1)), x=np.zeros(N), worst=np.ones(N),
        spread=np.eye(N),
        wx=np.zeros(n), phi=problem.par.phi.copy(), rotor=problem.par.rotor.copy(),
        last=np.zeros(10 + 2 * c),
        trend=np.zeros(4), recent=np.zeros((2, 10 + 2 * c)), wobble=np.zeros(10 + 2 * c),
        repeats=np.zeros(sources, dtype=np.int64), still=np.zeros((c, 2)),
    )  # fmt: skip


def new_scratch(problem: FilterProblem, memory: FilterMemory) -> FilterScratch:
    """Space for updates; its weights are the memory's own arrays."""
    tree, n = problem.tree, problem.n_unknowns
    N, m, links = problem.n_nuisance + n, len(problem.rows), len(tree.links)
    c, sources = len(memory.still), len(problem.sigma)
    weights = Numbers(memory.phi, memory.rotor, problem.par.spring)
    wide, tall, fours = (6, n + 1), (sources, 6), (N, -4 * (-N // 4))
    return FilterScratch(
        w=new_work(tree), weights=weights, Y=np.zeros((6, 10 * links)), energy=np.zeros(10 * links),
        sample=np.zeros(10 + 2 * c), original=np.zeros(10 + 2 * c), turn=np.zeros(3),
        columns=np.zeros(wide), firsts=np.zeros((4, n)), ways=np.zeros((3, n)),
        tables=np.zeros((2, *wide)), probe=np.zeros(wide),
        probe_velocity=np.zeros(3), slopes=np.zeros(tall), moments=np.zeros((sources, 3)),
        ends=np.zeros(tall),
        starts=np.zeros(tall), times=np.zeros(4), velocities=np.zeros((4, 3)),
        positions=np.zeros((4, 3)), axes=np.zeros((4, 9)), coefficients=np.zeros((4, 4)),
        gain=np.zeros(12), other=np.zeros(6), unsure=np.zeros(6), lag=np.zeros(3),
        after=np.zeros(3), rows=np.zeros((m, N + 1)), probe_rows=np.zeros((m, N + 1)),
        plain=np.zeros((2, m, N + 1)), turned=np.zeros(ROOM),
        own=np.zeros((6, 6)), shared=np.zeros((6, 6)), C=np.zeros((m, m)), X=np.zeros((m, m)),
        G=np.zeros((m, m)), D=np.zeros((m, m)), E=np.zeros((m, m)), F=np.zeros((m, m)),
        H=np.zeros((m, m)), past=np.zeros((m, N + 1)),
        U=np.zeros((N, 8)), V=np.zeros((N, 8)), Z=np.zeros((N, 8)), eight=np.zeros(8),
        S=np.zeros((m, m)), left=np.zeros(m), row=np.zeros(N + 1), g=np.zeros(N + 1),
        d=np.zeros(N), pushed=np.zeros(N), A=np.zeros(fours), W=np.zeros(fours),
    )  # fmt: skip
