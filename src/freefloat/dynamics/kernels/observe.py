"""What a simulation shows besides its state: accelerations, torques, momentum, energy, CoM."""

from __future__ import annotations

from freefloat.dynamics.kernels.forward import forward_dynamics, mass_matrix
from freefloat.dynamics.kernels.integrate import load_state
from freefloat.dynamics.kernels.mechanism import ParameterArrays
from freefloat.dynamics.kernels.newton_euler import (
    ACCELERATION,
    DDQ,
    DQ,
    Q,
    joint_force,
    move_links,
    newton_euler,
    place_links,
    root_axes,
)
from freefloat.dynamics.kernels.spatial import (
    LINK_COLUMNS,
    C,
    F,
    V,
    cross,
    momentum_of,
    place_inertia,
    rotate,
    three,
)
from freefloat.numba_.compilation import inline, kernel


@inline
def observe_one(tree, par, w, inputs, times, states, s, motion, links):
    """Row s of `observe`."""
    n = w.U.shape[0]
    load_state(tree, par, w, inputs, s, 0, times[s], states[s])
    forward_dynamics(tree, par, w)
    newton_euler(tree, par, w)
    for k in range(6):
        motion[s, k] = w.root[ACCELERATION + k]
    for c in range(n):
        motion[s, 6 + c] = w.U[c, DDQ]
        motion[s, 6 + n + c] = joint_force(tree, w, c)
    for i in range(w.L.shape[0]):
        for k in range(LINK_COLUMNS):
            links[s, i, k] = w.L[i, k]


@kernel
def observe(tree, par, w, inputs, times, states, motion, links):
    """Accelerations and generalised forces at given states; row i of the inputs belongs to it.

    motion[i] = root acceleration (angular, linear; root axes), ddq, generalised force of every
    coordinate (what a torque sensor in the joint reads). links[i] = the link table.
    """
    for s in range(states.shape[0]):
        observe_one(tree, par, w, inputs, times, states, s, motion, links)


@kernel
def observe_sets(tree, sets, w, inputs, times, states, motion, links):
    """`observe` with a parameter set of its own for every state, the first axis of its arrays."""
    for s in range(states.shape[0]):
        own = ParameterArrays(sets.phi[s], sets.rotor[s], sets.spring[s])
        observe_one(tree, own, w, inputs, times, states, s, motion, links)


@kernel
def inverse_dynamics(tree, par, w, rates, accelerations, coordinates, forces):
    """Generalised forces (root torque and force in root axes, then every coordinate).

    rates (N, 3) and accelerations (N, 6: angular, linear) of the root in root axes; coordinates
    (N, c, 3) hold q, dq, ddq. No field, thrust or springs: H a + c only.
    """
    n = w.U.shape[0]
    for s in range(rates.shape[0]):
        for k in range(w.root.shape[0]):
            w.root[k] = 0.0
        for k in range(3):
            w.root[k] = rates[s, k]
        for k in range(6):
            w.root[ACCELERATION + k] = accelerations[s, k]
        for c in range(n):
            for k in range(3):
                w.U[c, k] = coordinates[s, c, k]
        newton_euler(tree, par, w)
        for k in range(6):
            forces[s, k] = w.L[0, F + k]
        for c in range(n):
            forces[s, 6 + c] = joint_force(tree, w, c)


@inline
def link_momenta(tree, par, L, U):
    """Momentum about the root's origin (root axes) and twice the kinetic energy, root at rest."""
    lx = ly = lz = px = py = pz = energy = 0.0
    for i in range(L.shape[0]):
        wx, wy, wz = three(L, i, V)
        vx, vy, vz = three(L, i, V + 3)
        ax, ay, az, bx, by, bz = momentum_of(L, i, wx, wy, wz, vx, vy, vz)
        lx, ly, lz = lx + ax, ly + ay, lz + az
        px, py, pz = px + bx, py + by, pz + bz
        energy += ax * wx + ay * wy + az * wz + bx * vx + by * vy + bz * vz
    n_joints = L.shape[0] - 1
    for r in range(tree.rotor_link.shape[0]):
        i, N, J = tree.rotor_link[r], tree.rotors[r, 3], par.rotor[r]
        x, y, z = rotate(L, i, tree.rotors[r, 0], tree.rotors[r, 1], tree.rotors[r, 2])
        spin = N * U[n_joints + r, DQ]
        lx, ly, lz = lx + J * spin * x, ly + J * spin * y, lz + J * spin * z
        along = x * L[i, V] + y * L[i, V + 1] + z * L[i, V + 2]
        energy += J * spin * (spin + 2.0 * along)
    return lx, ly, lz, px, py, pz, energy


@kernel
def balance(tree, par, w, states, out):
    """Momentum, energy and CoM of every state, in world axes about the world's origin.

    out[i] = linear momentum (3) [N s], angular momentum (3) [N m s], CoM (3) [m], kinetic energy
    [J], spring energy [J], mass [kg].
    """
    L, U = w.L, w.U
    n = U.shape[0]
    for s in range(states.shape[0]):
        x = states[s]
        for c in range(n):
            U[c, Q], U[c, DQ] = x[13 + c], x[13 + n + c]
        for k in range(4):
            w.root[21 + k] = x[3 + k]
        for k in range(3):
            w.root[k] = x[10 + k]
        place_links(tree, w)
        move_links(tree, w)
        for i in range(L.shape[0]):
            place_inertia(L, i, par.phi)
        lx, ly, lz, px, py, pz, energy = link_momenta(tree, par, L, U)
        for c in range(L.shape[0] - 1):
            energy += par.spring[c, 4] * U[c, DQ] * U[c, DQ]
        m = mx = my = mz = 0.0
        for i in range(L.shape[0]):
            m += L[i, C]
            mx, my, mz = mx + L[i, C + 1], my + L[i, C + 2], mz + L[i, C + 3]
        a, b, c_, d, e, f, g, h, i_ = root_axes(w.root)
        Lx, Ly, Lz = a * lx + b * ly + c_ * lz, d * lx + e * ly + f * lz, g * lx + h * ly + i_ * lz
        Px, Py, Pz = a * px + b * py + c_ * pz, d * px + e * py + f * pz, g * px + h * py + i_ * pz
        Mx, My, Mz = a * mx + b * my + c_ * mz, d * mx + e * my + f * mz, g * mx + h * my + i_ * mz
        vx, vy, vz = x[7], x[8], x[9]
        # the root's own velocity v adds m v to P, m c x v to L and v . P + m v^2 / 2 to T
        energy += 2.0 * (vx * Px + vy * Py + vz * Pz) + m * (vx * vx + vy * vy + vz * vz)
        ax, ay, az = cross(Mx, My, Mz, vx, vy, vz)
        Px, Py, Pz = Px + m * vx, Py + m * vy, Pz + m * vz
        bx, by, bz = cross(x[0], x[1], x[2], Px, Py, Pz)
        out[s, 0], out[s, 1], out[s, 2] = Px, Py, Pz
        out[s, 3], out[s, 4], out[s, 5] = Lx + ax + bx, Ly + ay + by, Lz + az + bz
        out[s, 6], out[s, 7], out[s, 8] = x[0] + Mx / m, x[1] + My / m, x[2] + Mz / m
        out[s, 9], out[s, 10], out[s, 11] = 0.5 * energy, spring_energy(tree, par, U), m


@inline
def spring_energy(tree, par, U):
    """Energy stored in the springs [J]."""
    total = 0.0
    for s in range(tree.spring_ends.shape[0]):
        a, b = tree.spring_ends[s, 0], tree.spring_ends[s, 1]
        stretch = U[a, Q] - par.spring[s, 2]
        if b >= 0:
            stretch -= U[b, Q]
        total += 0.5 * par.spring[s, 0] * stretch * stretch
    return total


@kernel
def survey(tree, w, states, links):
    """Placement and motion of every link at given states: links[i] = the link table."""
    n = w.U.shape[0]
    for s in range(states.shape[0]):
        for c in range(n):
            w.U[c, Q], w.U[c, DQ] = states[s, 13 + c], states[s, 13 + n + c]
        for k in range(3):
            w.root[k] = states[s, 10 + k]
        place_links(tree, w)
        move_links(tree, w)
        for i in range(w.L.shape[0]):
            for k in range(LINK_COLUMNS):
                links[s, i, k] = w.L[i, k]


@kernel
def free_mass_matrix(tree, par, w, q, H):
    """The mass matrix of the free accelerations at coordinates q, full and symmetric."""
    for c in range(q.shape[0]):
        w.U[c, Q] = q[c]
    place_links(tree, w)
    for i in range(w.L.shape[0]):
        place_inertia(w.L, i, par.phi)
    for i in range(w.L.shape[0] - 1, 0, -1):
        for k in range(C, LINK_COLUMNS):
            w.L[tree.links[i, 0], k] += w.L[i, k]
    mass_matrix(tree, par, w)
    for m in range(H.shape[0]):
        for k in range(m + 1):
            H[m, k] = H[k, m] = w.H[m, k]
