"""The same job with Pinocchio called from a Python loop, written as well as we can.

Nothing is allocated that can be kept; joints along a coordinate axis get Pinocchio's special joint
types; LAPACK is called directly on the one triangle `crba` fills; and because there is no gravity
the root stays at the origin, at rest but for its rate, which spares Pinocchio the free flyer's
attitude. The state is ours, so the results can be compared number by number.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from common import GIVEN, HINGES, MODEL, SPRINGS, Array, C
from scipy.linalg.lapack import dposv

from freefloat.dynamics.kernels.integrate import Inputs

JOINTS = {"x": pin.JointModelRX, "y": pin.JointModelRY, "z": pin.JointModelRZ}
N_STATES = 21  # position, quaternion, velocity, rate, hinge angles, hinge rates


def tensor(six: tuple[float, ...]) -> Array:
    """A symmetric matrix from xx, xy, xz, yy, yz, zz."""
    xx, xy, xz, yy, yz, zz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def build() -> pin.Model:
    """`servicer-wings` with joints numbered as ours."""
    robot = pin.Model()
    robot.gravity.linear[:] = 0.0
    root = robot.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    where = {MODEL.root.body: root}
    for joint in MODEL.assembly.joints:
        place = pin.SE3(joint.placement.rotation, joint.placement.position)
        kind = JOINTS["xyz"[int(np.argmax(joint.axis))]]()
        where[joint.child] = robot.addJoint(where[joint.parent], kind, place, joint.name)
    for body in MODEL.assembly.bodies:
        inertia = pin.Inertia(body.mass, np.array(body.com), tensor(body.inertia))
        robot.appendBodyToJoint(where[body.name], inertia, pin.SE3.Identity())
    return robot


def to_free_state(x: Array) -> Array:
    """The 21 free numbers of a freefloat state."""
    return np.concatenate([x[:13], x[13 + HINGES], x[13 + C + HINGES]])


class Loop:
    """RK4 over Pinocchio's rnea and crba."""

    def __init__(self) -> None:
        self.robot = build()
        self.data = self.robot.createData()
        self.q, self.v, self.a = pin.neutral(self.robot), np.zeros(17), np.zeros(17)
        self.rhs = np.zeros(10)
        free = np.concatenate([np.arange(6), 6 + HINGES])
        self.free, self.grid = free, np.ix_(free, free)
        self.k, self.d = SPRINGS.T.copy()
        assert np.array_equal(HINGES, np.arange(7, 11)) and np.array_equal(GIVEN, np.arange(7))

    def load(self, y: Array, given: Array) -> None:
        """State and prescribed motion into Pinocchio's q, v and a (free accelerations zero)."""
        q, v, a = self.q, self.v, self.a
        q[7:14], v[6:13], a[6:13] = given.T
        q[14:18], v[13:17], v[3:6] = y[13:17], y[17:21], y[10:13]

    def accelerations(self, y: Array, given: Array) -> tuple[Array, Array]:
        """The free accelerations, and the Cholesky factor that gave them."""
        self.load(y, given)
        bias = pin.rnea(self.robot, self.data, self.q, self.v, self.a)
        rhs = np.negative(bias[self.free], out=self.rhs)
        rhs[6:] -= self.k * y[13:17] + self.d * y[17:21]
        H = pin.crba(self.robot, self.data, self.q)[self.grid]
        factor, solution, _ = dposv(H, rhs)
        return solution, factor

    def rate(self, y: Array, given: Array, dy: Array) -> None:
        """dy = time derivative of the free state."""
        a, _ = self.accelerations(y, given)
        put_rate(y, a, dy)

    def run(self, x: Array, table: Inputs, *, step: float, n_steps: int) -> Array:
        """The free state after n_steps."""
        y, k, total = to_free_state(x), np.zeros(N_STATES), np.zeros(N_STATES)
        half, sixth = 0.5 * step, step / 6.0
        for given in table.given[:n_steps]:
            start, middle, end = given
            self.rate(y, start, k)
            total[:] = k
            self.rate(y + half * k, middle, k)
            total += 2.0 * k
            self.rate(y + half * k, middle, k)
            total += 2.0 * k
            self.rate(y + step * k, end, k)
            total += k
            y += sixth * total
            y[3:7] /= np.sqrt(y[3:7] @ y[3:7])
        return y


def rotate(y: list[float], ax: float, ay: float, az: float) -> tuple[float, float, float]:
    """R a for the quaternion in y[3:7], whatever its norm; plain floats are fastest here."""
    x, s, z, w = y[3:7]
    n = 2.0 / (x * x + s * s + z * z + w * w)
    tx, ty, tz = s * az - z * ay, z * ax - x * az, x * ay - s * ax
    return (
        ax + n * (w * tx + s * tz - z * ty),
        ay + n * (w * ty + z * tx - x * tz),
        az + n * (w * tz + x * ty - s * tx),
    )


def put_rate(y: Array, a: Array, dy: Array) -> None:
    """dy from the free accelerations a (linear, angular, hinges)."""
    f = y.tolist()
    x, s, z, w = f[3:7]
    ox, oy, oz = 0.5 * f[10], 0.5 * f[11], 0.5 * f[12]
    ax, ay, az, *rest = a.tolist()
    dy[:] = [
        *f[7:10],
        w * ox + s * oz - z * oy,
        w * oy + z * ox - x * oz,
        w * oz + x * oy - s * ox,
        -x * ox - s * oy - z * oz,
        *rotate(f, ax, ay, az),
        *rest[:3],
        *f[17:21],
        *rest[3:],
    ]
