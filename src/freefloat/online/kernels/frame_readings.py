# pyright: reportCallIssue=false
"""What the streams of a Kalman filter should read at an instant, and how that changes.

The same equations as in `prediction/sensor_models.py`, of which the tests hold them against: of the
kinds that are not here, Python takes readings and slopes from there.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt

from freefloat.dynamics.kernels.newton_euler import joint_force, root_axes
from freefloat.dynamics.kernels.spatial import (
    GRADIENT,
    GRAVITY,
    ORBITAL_RATE,
    RADIAL,
    TANGENTIAL,
    A,
    P,
    S,
    V,
    cross,
    rotate,
    three,
)
from freefloat.numba_.compilation import inline
from freefloat.online.kernels.kalman_tables import (
    ACCELEROMETER,
    ATTITUDE,
    FORCE,
    FREE,
    GYRO,
    NUDGES,
    POSITION,
    VELOCITY,
)


@inline
def radial_at(tree, time):
    """The unit vector away from the planet, in world axes."""
    T = tree.field
    c, s = cos(T[ORBITAL_RATE] * time), sin(T[ORBITAL_RATE] * time)
    return (
        c * T[RADIAL] + s * T[TANGENTIAL],
        c * T[RADIAL + 1] + s * T[TANGENTIAL + 1],
        c * T[RADIAL + 2] + s * T[TANGENTIAL + 2],
    )


@inline
def gravity_change(tree, time, x, y, z):
    """How gravity changes over a displacement, in world axes."""
    rx, ry, rz = radial_at(tree, time)
    n2, along = tree.field[GRADIENT], 3.0 * (rx * x + ry * y + rz * z)
    return n2 * (along * rx - x), n2 * (along * ry - y), n2 * (along * rz - z)


@inline
def gravity_at(tree, time, x, y, z):
    """Gravity and its gradient at a world position."""
    gx, gy, gz = gravity_change(tree, time, x, y, z)
    T = tree.field
    return T[GRAVITY] + gx, T[GRAVITY + 1] + gy, T[GRAVITY + 2] + gz


@inline
def times_axes(m, x, y, z):
    """Nine numbers row by row, times a vector."""
    return (
        m[0] * x + m[1] * y + m[2] * z,
        m[3] * x + m[4] * y + m[5] * z,
        m[6] * x + m[7] * y + m[8] * z,
    )


@inline
def into_axes(m, x, y, z):
    """Their transpose, times a vector."""
    return (
        m[0] * x + m[3] * y + m[6] * z,
        m[1] * x + m[4] * y + m[7] * z,
        m[2] * x + m[5] * y + m[8] * z,
    )


@inline
def mount(L, link, frame):
    """Axes of a sensor in root axes, and its origin from the root's."""
    ax, ay, az = rotate(L, link, frame[0], frame[3], frame[6])
    bx, by, bz = rotate(L, link, frame[1], frame[4], frame[7])
    cx, cy, cz = rotate(L, link, frame[2], frame[5], frame[8])
    x, y, z = rotate(L, link, frame[9], frame[10], frame[11])
    origin = L[link, P] + x, L[link, P + 1] + y, L[link, P + 2] + z
    return (ax, bx, cx, ay, by, cy, az, bz, cz), origin


@inline
def frame_velocity(L, link, origin):
    """Velocity of a sensor's origin less that of the root's."""
    wx, wy, wz = three(L, link, V)
    x, y, z = cross(wx, wy, wz, origin[0], origin[1], origin[2])
    return L[link, V + 3] + x, L[link, V + 4] + y, L[link, V + 5] + z


@inline
def world_position(w, x, origin):
    """Of a point away from the root's origin."""
    dx, dy, dz = times_axes(root_axes(w.root), origin[0], origin[1], origin[2])
    return x[0] + dx, x[1] + dy, x[2] + dz


@inline
def read_streams(tree, w, streams, readings, r, time, x):
    """Row r of the predicted readings, of the motion now in w."""
    value, L = readings.value[r], w.L
    for k in range(streams.kind.shape[0]):
        kind, first = streams.kind[k], streams.first[k]
        if readings.present[k] == 0 or kind < FORCE or kind > ACCELEROMETER:
            continue
        if kind == FORCE:
            value[first] = joint_force(tree, w, streams.where[k])
            continue
        if kind == FREE:
            place = 13 + streams.where[k] + streams.order[k] * w.U.shape[0]
            value[first] = x[place]
            continue
        link = streams.where[k]
        axes, origin = mount(L, link, streams.frame[k])
        if kind == ATTITUDE:
            put_turn(w, axes, readings.turn[r, k])
            continue
        seen = frame_reading(tree, w, kind, link, axes, origin, time, x)
        for row in range(first, streams.first[k + 1]):
            c = streams.component[row]
            value[row] = seen[0] if c == 0 else (seen[1] if c == 1 else seen[2])


@inline
def put_turn(w, axes, turn):
    """The sensor's axes in the world."""
    R = root_axes(w.root)
    for c in range(3):
        a, b, d = times_axes(R, (axes[0], axes[1], axes[2])[c], (axes[3], axes[4], axes[5])[c],
                             (axes[6], axes[7], axes[8])[c])  # fmt: skip
        turn[c], turn[3 + c], turn[6 + c] = a, b, d


@inline
def frame_reading(tree, w, kind, link, axes, origin, time, x):
    """What a gyro, an accelerometer, or a sensor of position or velocity reads."""
    L, R = w.L, root_axes(w.root)
    wx, wy, wz = three(L, link, V)
    vx, vy, vz = frame_velocity(L, link, origin)
    if kind == GYRO:
        return into_axes(axes, wx, wy, wz)
    if kind == POSITION:
        return world_position(w, x, origin)
    if kind == VELOCITY:
        a, b, c = times_axes(R, vx, vy, vz)
        return x[7] + a, x[8] + b, x[9] + c
    ax, ay, az = three(L, link, A)
    ax, ay, az = cross(ax, ay, az, origin[0], origin[1], origin[2])
    bx, by, bz = cross(wx, wy, wz, vx, vy, vz)
    px, py, pz = world_position(w, x, origin)
    gx, gy, gz = gravity_at(tree, time, px, py, pz)
    gx, gy, gz = into_axes(R, gx, gy, gz)  # in root axes
    return into_axes(
        axes,
        L[link, A + 3] + ax + bx - gx,
        L[link, A + 4] + ay + by - gy,
        L[link, A + 5] + az + bz - gz,
    )


@inline
def put_slopes(mechanics, streams, readings, time, x, g):
    """Slopes of all readings that are here, by names and by the joints' motion.

    After the tangent at the instant, and with the motion of the instant as it is in w.
    """
    for k in range(streams.kind.shape[0]):
        kind, first, end = streams.kind[k], streams.first[k], streams.first[k + 1]
        if readings.present[k] == 0 or kind < FORCE or kind > ACCELEROMETER:
            continue
        if kind < GYRO:
            put_row(mechanics, streams, readings, k)
        else:
            frame_slopes(mechanics, streams, readings, k, time, x)
        for n in range(3 * g):
            size = NUDGES[n // g]
            if kind == ATTITUDE:
                put_small_turn(readings, k, n, first, size)
                continue
            for row in range(first, end):
                change = readings.value[1 + n, row] - readings.value[0, row]
                readings.by_joints[row, n] = change / size


@inline
def put_row(mechanics, streams, readings, k):
    """Slopes of a joint's force, or of a free coordinate."""
    c, n = streams.where[k], mechanics.work.U.shape[0]
    own, row = readings.own, streams.first[k]
    if streams.kind[k] == FORCE:
        for p in range(own.shape[1]):
            own[row, p] = mechanics.efforts[0, 6 + n + c, p]
        return
    n_free = (mechanics.first.shape[0] - 12) // 2
    place = 12 + mechanics.slopes.free_at[c] + streams.order[k] * n_free
    for p in range(own.shape[1]):
        own[row, p] = mechanics.tangents[0, place, p]


@inline
def put_small_turn(readings, k, n, first, size):
    """How the axes turn with joint motion n: a small rotation in sensor axes."""
    a, b = readings.turn[0, k], readings.turn[1 + n, k]
    by = readings.by_joints
    by[first, n] = 0.5 * (product_entry(a, b, 2, 1) - product_entry(a, b, 1, 2)) / size
    by[first + 1, n] = 0.5 * (product_entry(a, b, 0, 2) - product_entry(a, b, 2, 0)) / size
    by[first + 2, n] = 0.5 * (product_entry(a, b, 1, 0) - product_entry(a, b, 0, 1)) / size


@inline
def product_entry(a, b, i, j):
    """Entry of a^T b, of nine numbers row by row each."""
    return a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j]


@inline
def frame_slopes(mechanics, streams, readings, k, time, x):
    """Slopes of a frame's reading by every name; see `dynamics.sensitivity.link_change`."""
    w, T, E = mechanics.work, mechanics.tangents[0], mechanics.efforts[0]
    L, kind, link = w.L, streams.kind[k], streams.where[k]
    axes, origin = mount(L, link, streams.frame[k])
    first, end = streams.first[k], streams.first[k + 1]
    for p in range(T.shape[1]):
        turn, shift, motion, gain = link_slope(mechanics, link, T, E, p)
        seen = reading_slope(
            mechanics, kind, link, axes, origin, turn, shift, motion, gain, p, time, x
        )
        for row in range(first, end):
            c = streams.component[row]
            readings.own[row, p] = seen[0] if c == 0 else (seen[1] if c == 1 else seen[2])


@inline
def motion_cross(a, b):
    """Motion a x motion b."""
    x, y, z = cross(a[0], a[1], a[2], b[0], b[1], b[2])
    dx, dy, dz = cross(a[0], a[1], a[2], b[3], b[4], b[5])
    ex, ey, ez = cross(a[3], a[4], a[5], b[0], b[1], b[2])
    return x, y, z, dx + ex, dy + ey, dz + ez


@inline
def six_of(L, i, k):
    """Six numbers of a link's row, as a tuple."""
    return L[i, k], L[i, k + 1], L[i, k + 2], L[i, k + 3], L[i, k + 4], L[i, k + 5]


@inline
def link_slope(mechanics, link, T, E, p):
    """Turn and shift of a link per unit of name p, and change of its motion and acceleration."""
    tree, L = mechanics.tree, mechanics.work.L
    dw = T[9, p], T[10, p], T[11, p]
    turn, shift = (T[3, p], T[4, p], T[5, p]), (0.0, 0.0, 0.0)
    motion = (dw[0], dw[1], dw[2], 0.0, 0.0, 0.0)
    v = six_of(L, link, V)
    cx, cy, cz = cross(dw[0], dw[1], dw[2], L[0, V], L[0, V + 1], L[0, V + 2])
    d = motion_cross(v, motion)
    gain = (
        E[0, p] - cx - d[0], E[1, p] - cy - d[1], E[2, p] - cz - d[2],
        E[3, p] - d[3], E[4, p] - d[4], E[5, p] - d[5],
    )  # fmt: skip
    n_free = (T.shape[0] - 12) // 2
    i = link
    while i > 0:
        at, j = mechanics.slopes.free_at[i - 1], tree.links[i, 0]
        if at >= 0:
            dq, du, da = T[12 + at, p], T[12 + n_free + at, p], E[6 + i - 1, p]
            s = six_of(L, i, S)
            vp = six_of(L, j, V)
            s1 = motion_cross(vp, s)
            s2, s3 = motion_cross(six_of(L, j, A), s), motion_cross(vp, s1)
            c1, c0 = motion_cross(v, s1), motion_cross(v, s)
            turn = turn[0] + s[0] * dq, turn[1] + s[1] * dq, turn[2] + s[2] * dq
            shift = shift[0] + s[3] * dq, shift[1] + s[4] * dq, shift[2] + s[5] * dq
            motion = (
                motion[0] + s1[0] * dq + s[0] * du, motion[1] + s1[1] * dq + s[1] * du,
                motion[2] + s1[2] * dq + s[2] * du, motion[3] + s1[3] * dq + s[3] * du,
                motion[4] + s1[4] * dq + s[4] * du, motion[5] + s1[5] * dq + s[5] * du,
            )  # fmt: skip
            gain = (
                gain[0] + (s2[0] + s3[0] - c1[0]) * dq + (2.0 * s1[0] - c0[0]) * du + s[0] * da,
                gain[1] + (s2[1] + s3[1] - c1[1]) * dq + (2.0 * s1[1] - c0[1]) * du + s[1] * da,
                gain[2] + (s2[2] + s3[2] - c1[2]) * dq + (2.0 * s1[2] - c0[2]) * du + s[2] * da,
                gain[3] + (s2[3] + s3[3] - c1[3]) * dq + (2.0 * s1[3] - c0[3]) * du + s[3] * da,
                gain[4] + (s2[4] + s3[4] - c1[4]) * dq + (2.0 * s1[4] - c0[4]) * du + s[4] * da,
                gain[5] + (s2[5] + s3[5] - c1[5]) * dq + (2.0 * s1[5] - c0[5]) * du + s[5] * da,
            )  # fmt: skip
        i = j
    return turn, shift, motion, gain


@inline
def reading_slope(mechanics, kind, link, axes, origin, turn, shift, motion, gain, p, time, x):
    """The slope of a frame's reading, from that of its link."""
    w, T = mechanics.work, mechanics.tangents[0]
    if kind == GYRO:
        return into_axes(axes, motion[0], motion[1], motion[2])
    if kind == ATTITUDE:
        return into_axes(axes, turn[0], turn[1], turn[2])
    R, (ox, oy, oz) = root_axes(w.root), origin
    ax, ay, az = cross(turn[0], turn[1], turn[2], ox, oy, oz)
    dx, dy, dz = times_axes(R, shift[0] + ax, shift[1] + ay, shift[2] + az)
    dx, dy, dz = T[0, p] + dx, T[1, p] + dy, T[2, p] + dz
    if kind == POSITION:
        return dx, dy, dz
    vx, vy, vz = frame_velocity(w.L, link, origin)
    bx, by, bz = cross(motion[0], motion[1], motion[2], ox, oy, oz)
    ux, uy, uz = motion[3] + bx, motion[4] + by, motion[5] + bz
    if kind == VELOCITY:
        cx, cy, cz = cross(turn[0], turn[1], turn[2], vx, vy, vz)
        ex, ey, ez = times_axes(R, ux + cx, uy + cy, uz + cz)
        return T[6, p] + ex, T[7, p] + ey, T[8, p] + ez
    cx, cy, cz = cross(gain[0], gain[1], gain[2], ox, oy, oz)
    ex, ey, ez = cross(motion[0], motion[1], motion[2], vx, vy, vz)
    fx, fy, fz = cross(ux, uy, uz, w.L[link, V], w.L[link, V + 1], w.L[link, V + 2])
    px, py, pz = world_position(w, x, origin)
    gx, gy, gz = gravity_at(mechanics.tree, time, px, py, pz)
    gx, gy, gz = into_axes(R, gx, gy, gz)
    hx, hy, hz = gravity_change(mechanics.tree, time, dx, dy, dz)
    hx, hy, hz = into_axes(R, hx, hy, hz)
    # the field turns against the sensor: turn x field
    kx, ky, kz = cross(turn[0], turn[1], turn[2], gx, gy, gz)
    return into_axes(
        axes,
        gain[3] + cx + ex - fx - hx + kx,
        gain[4] + cy + ey - fy - hy + ky,
        gain[5] + cz + ez - fz - hz + kz,
    )


@inline
def turn_from(axes, measured, at):
    """The rotation vector from nine axes (row by row) to the attitude x, y, z, w, in those axes."""
    qx, qy, qz, qw = measured[at], measured[at + 1], measured[at + 2], measured[at + 3]
    n = 1.0 / sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
    px, py, pz, pw = quaternion_of(axes)
    qx, qy, qz, qw = n * qx, n * qy, n * qz, n * qw
    # conjugate(p) * q
    x = pw * qx - px * qw - (py * qz - pz * qy)
    y = pw * qy - py * qw - (pz * qx - px * qz)
    z = pw * qz - pz * qw - (px * qy - py * qx)
    w = pw * qw + px * qx + py * qy + pz * qz
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    sine = sqrt(x * x + y * y + z * z)
    scale = 2.0 * atan2(sine, w) / sine if sine > 1e-12 else 2.0
    return scale * x, scale * y, scale * z


@inline
def quaternion_of(m):
    """The unit quaternion of a rotation matrix, row by row: by its largest entry."""
    trace = m[0] + m[4] + m[8]
    if trace >= m[0] and trace >= m[4] and trace >= m[8]:
        x, y, z, w = m[7] - m[5], m[2] - m[6], m[3] - m[1], 1.0 + trace
    elif m[0] >= m[4] and m[0] >= m[8]:
        x, y, z, w = 1.0 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6], m[7] - m[5]
    elif m[4] >= m[8]:
        x, y, z, w = m[1] + m[3], 1.0 + m[4] - m[0] - m[8], m[5] + m[7], m[2] - m[6]
    else:
        x, y, z, w = m[2] + m[6], m[5] + m[7], 1.0 + m[8] - m[0] - m[4], m[3] - m[1]
    n = 1.0 / sqrt(x * x + y * y + z * z + w * w)
    return n * x, n * y, n * z, n * w
