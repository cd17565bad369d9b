// The servicer with flexible wings, simulated by a program written by hand for this one mechanism.
//
// Everything a compiler can know is known at compile time: twelve bodies, who hangs on whom, joint
// axes along x or z, joint frames parallel to their parents', seven joints prescribed, four hinges
// and the bus free. Only numbers (masses, inertias, lengths, springs) come in at run time.
//
// Algorithm, chosen for few operations rather than for generality:
//   * Newton-Euler in body axes with classical accelerations, so linear velocities never appear and
//     inertias never turn; a change of frame is one plane rotation (four products per vector).
//   * composite inertias are carried inboard by the same plane rotations;
//   * the two wings are eliminated first as 2x2 blocks, a 6x6 Cholesky for the bus remains;
//   * only the 21 free states are integrated.
// No heap, no virtual calls, no loops over joint types: recursion is unrolled by templates.

#include <cmath>
#include <cstring>
#include <utility>

namespace {

constexpr int BODIES = 12, JOINTS = 11, DRIVEN = 7, HINGES = 4;
constexpr int PARENT[BODIES] = {-1, 0, 1, 2, 3, 4, 5, 6, 0, 8, 0, 10};
constexpr char AXIS[BODIES] = {'-', 'z', 'x', 'z', 'x', 'z', 'x', 'z', 'x', 'x', 'x', 'x'};

struct Vec {
    double x, y, z;
};
inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec operator*(double s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
inline Vec cross(Vec a, Vec b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// Mass, first moment and inertia about the body's origin.
struct Inertia {
    double m;
    Vec c;
    double xx, xy, xz, yy, yz, zz;
};
inline Vec operator*(const Inertia& I, Vec w) {
    return {I.xx * w.x + I.xy * w.y + I.xz * w.z, I.xy * w.x + I.yy * w.y + I.yz * w.z,
            I.xz * w.x + I.yz * w.y + I.zz * w.z};
}
inline void operator+=(Inertia& a, const Inertia& b) {
    a.m += b.m;
    a.c = a.c + b.c;
    a.xx += b.xx, a.xy += b.xy, a.xz += b.xz, a.yy += b.yy, a.yz += b.yz, a.zz += b.zz;
}

struct Force {
    Vec n, f;
};
inline void operator+=(Force& a, const Force& b) { a.n = a.n + b.n, a.f = a.f + b.f; }

// Cosine and sine of a joint, turning about x or z.
struct Turn {
    double c, s;
};
template <char axis>
inline Vec inboard(Turn t, Vec v) {
    if constexpr (axis == 'z') return {t.c * v.x - t.s * v.y, t.s * v.x + t.c * v.y, v.z};
    return {v.x, t.c * v.y - t.s * v.z, t.s * v.y + t.c * v.z};
}
template <char axis>
inline Vec outboard(Turn t, Vec v) {
    if constexpr (axis == 'z') return {t.c * v.x + t.s * v.y, t.c * v.y - t.s * v.x, v.z};
    return {v.x, t.c * v.y + t.s * v.z, t.c * v.z - t.s * v.y};
}
template <char axis>
inline Vec along(double u) {
    if constexpr (axis == 'z') return {0.0, 0.0, u};
    return {u, 0.0, 0.0};
}
template <char axis>
inline double component(Vec v) {
    if constexpr (axis == 'z') return v.z;
    return v.x;
}

// The inertia in the parent's axes about the parent's origin, r away.
template <char axis>
inline Inertia inboard(Turn t, const Inertia& I, Vec r) {
    Inertia J;
    J.m = I.m;
    const double cc = t.c * t.c, ss = t.s * t.s, cs = t.c * t.s;
    if constexpr (axis == 'z') {
        J.xx = cc * I.xx + ss * I.yy - 2.0 * cs * I.xy;
        J.yy = ss * I.xx + cc * I.yy + 2.0 * cs * I.xy;
        J.xy = cs * (I.xx - I.yy) + (cc - ss) * I.xy;
        J.xz = t.c * I.xz - t.s * I.yz;
        J.yz = t.s * I.xz + t.c * I.yz;
        J.zz = I.zz;
    } else {
        J.yy = cc * I.yy + ss * I.zz - 2.0 * cs * I.yz;
        J.zz = ss * I.yy + cc * I.zz + 2.0 * cs * I.yz;
        J.yz = cs * (I.yy - I.zz) + (cc - ss) * I.yz;
        J.xy = t.c * I.xy - t.s * I.xz;
        J.xz = t.s * I.xy + t.c * I.xz;
        J.xx = I.xx;
    }
    const Vec c = inboard<axis>(t, I.c), h = c + 0.5 * I.m * r;  // I += 2 r.h 1 - r h^T - h r^T
    const double dx = 2.0 * r.x * h.x, dy = 2.0 * r.y * h.y, dz = 2.0 * r.z * h.z;
    J.c = c + I.m * r;
    J.xx += dy + dz, J.yy += dx + dz, J.zz += dx + dy;
    J.xy -= r.x * h.y + r.y * h.x;
    J.xz -= r.x * h.z + r.z * h.x;
    J.yz -= r.y * h.z + r.z * h.y;
    return J;
}

struct Model {
    Inertia body[BODIES];
    Vec place[BODIES];  // of the joint in its parent
    double stiffness[HINGES], damping[HINGES];
};

struct State {
    Vec p;
    double qx, qy, qz, qw;
    Vec v, w;  // world axes, bus axes
    double q[HINGES], dq[HINGES];
};
constexpr int STATES = sizeof(State) / sizeof(double);
static_assert(STATES == 21);

struct Stage {
    Turn turn[BODIES];
    Vec w[BODIES], b[BODIES], a[BODIES];  // rate, angular and linear acceleration, own axes
    Force force[BODIES];
    Inertia whole[BODIES];  // of the body and all it carries
};

template <int i>
inline void move(const Model& model, Stage& s, double q, double dq, double ddq) {
    constexpr char axis = AXIS[i];
    constexpr int p = PARENT[i];
    double sine, cosine;
    sincos(q, &sine, &cosine);
    const Turn t = s.turn[i] = {cosine, sine};
    const Vec r = model.place[i], swept = cross(s.w[p], r);
    const Vec w = outboard<axis>(t, s.w[p]) + along<axis>(dq);
    s.w[i] = w;
    s.b[i] = outboard<axis>(t, s.b[p]) + along<axis>(ddq) + cross(w, along<axis>(dq));
    s.a[i] = outboard<axis>(t, s.a[p] + cross(s.b[p], r) + cross(s.w[p], swept));
}

inline void load(const Model& model, Stage& s, int i) {
    const Inertia& I = model.body[i];
    const Vec w = s.w[i], b = s.b[i], a = s.a[i];
    s.force[i].f = I.m * a + cross(b, I.c) + cross(w, cross(w, I.c));
    s.force[i].n = I * b + cross(w, I * w) + cross(I.c, a);
    s.whole[i] = I;
}

template <int i>
inline Force carried(const Model& model, const Stage& s, const Force& f) {
    const Vec g = inboard<AXIS[i]>(s.turn[i], f.f);
    return {inboard<AXIS[i]>(s.turn[i], f.n) + cross(model.place[i], g), g};
}

template <int i>
inline void collect(const Model& model, Stage& s) {
    constexpr int p = PARENT[i];
    s.force[p] += carried<i>(model, s, s.force[i]);
    s.whole[p] += inboard<AXIS[i]>(s.turn[i], s.whole[i], model.place[i]);
}

// One wing: hinges k and k + 1 at bodies i and i + 1; columns of the mass matrix.
struct Wing {
    double a, b, c;  // inverse of the 2x2 block [[a, b], [b, c]]
    double u, v;     // what drives the two hinges
    double col[2][6];
};

inline Force unit(const Inertia& I) {  // force for one unit of acceleration about x
    return {{I.xx, I.xy, I.xz}, {0.0, -I.c.z, I.c.y}};
}

inline void put(double* col, const Force& f) {
    col[0] = f.n.x, col[1] = f.n.y, col[2] = f.n.z, col[3] = f.f.x, col[4] = f.f.y, col[5] = f.f.z;
}

template <int i>
inline Wing wing(const Model& model, const Stage& s, const State& x, int k) {
    const Force inner = unit(s.whole[i]);
    const Force outer = carried<i + 1>(model, s, unit(s.whole[i + 1]));
    const double h11 = s.whole[i].xx, h12 = outer.n.x, h22 = s.whole[i + 1].xx;
    const double scale = 1.0 / (h11 * h22 - h12 * h12);
    Wing wing;
    wing.a = scale * h22, wing.b = -scale * h12, wing.c = scale * h11;
    wing.u = -model.stiffness[k] * x.q[k] - model.damping[k] * x.dq[k] - s.force[i].n.x;
    wing.v = -model.stiffness[k + 1] * x.q[k + 1] - model.damping[k + 1] * x.dq[k + 1] -
             s.force[i + 1].n.x;
    put(wing.col[0], carried<i>(model, s, inner));
    put(wing.col[1], carried<i>(model, s, outer));
    return wing;
}

// H -= B D^-1 B^T and rhs -= B D^-1 u of one wing (lower triangle).
inline void eliminate(const Wing& wing, double H[6][6], double rhs[6]) {
    const double su = wing.a * wing.u + wing.b * wing.v, sv = wing.b * wing.u + wing.c * wing.v;
    for (int r = 0; r < 6; ++r) {
        const double e = wing.a * wing.col[0][r] + wing.b * wing.col[1][r];
        const double f = wing.b * wing.col[0][r] + wing.c * wing.col[1][r];
        for (int c = 0; c <= r; ++c) H[r][c] -= e * wing.col[0][c] + f * wing.col[1][c];
        rhs[r] -= su * wing.col[0][r] + sv * wing.col[1][r];
    }
}

inline void recover(const Wing& wing, const double a[6], double* ddq) {
    double u = wing.u, v = wing.v;
    for (int r = 0; r < 6; ++r) u -= wing.col[0][r] * a[r], v -= wing.col[1][r] * a[r];
    ddq[0] = wing.a * u + wing.b * v;
    ddq[1] = wing.b * u + wing.c * v;
}

inline void solve(double H[6][6], double x[6]) {  // Cholesky, lower triangle
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < i; ++j) {
            double t = H[i][j];
            for (int k = 0; k < j; ++k) t -= H[i][k] * H[j][k];
            H[i][j] = t * H[j][j];
        }
        double t = H[i][i];
        for (int k = 0; k < i; ++k) t -= H[i][k] * H[i][k];
        H[i][i] = 1.0 / std::sqrt(t);
    }
    for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < i; ++k) x[i] -= H[i][k] * x[k];
        x[i] *= H[i][i];
    }
    for (int i = 5; i >= 0; --i) {
        for (int k = i + 1; k < 6; ++k) x[i] -= H[k][i] * x[k];
        x[i] *= H[i][i];
    }
}

template <int... i>
inline void move_arm(const Model& model, Stage& s, const double* given,
                     std::integer_sequence<int, i...>) {
    (move<i + 1>(model, s, given[3 * i], given[3 * i + 1], given[3 * i + 2]), ...);
}
template <int... i>
inline void move_wings(const Model& model, Stage& s, const State& x,
                       std::integer_sequence<int, i...>) {
    (move<i + 1 + DRIVEN>(model, s, x.q[i], x.dq[i], 0.0), ...);
}
template <int... i>
inline void collect_all(const Model& model, Stage& s, std::integer_sequence<int, i...>) {
    (collect<BODIES - 1 - i>(model, s), ...);
}

// given: q, dq, ddq of the seven driven joints.
inline void rate(const Model& model, const State& x, const double* given, State& dx) {
    Stage s;
    s.w[0] = x.w, s.b[0] = s.a[0] = {0.0, 0.0, 0.0};
    move_arm(model, s, given, std::make_integer_sequence<int, DRIVEN>());
    move_wings(model, s, x, std::make_integer_sequence<int, HINGES>());
    for (int i = 0; i < BODIES; ++i) load(model, s, i);
    collect_all(model, s, std::make_integer_sequence<int, JOINTS>());

    const Wing left = wing<8>(model, s, x, 0), right = wing<10>(model, s, x, 2);
    const Inertia& I = s.whole[0];
    double H[6][6] = {{I.xx},
                      {I.xy, I.yy},
                      {I.xz, I.yz, I.zz},
                      {0.0, I.c.z, -I.c.y, I.m},
                      {-I.c.z, 0.0, I.c.x, 0.0, I.m},
                      {I.c.y, -I.c.x, 0.0, 0.0, 0.0, I.m}};
    const Force& f = s.force[0];
    double a[6] = {-f.n.x, -f.n.y, -f.n.z, -f.f.x, -f.f.y, -f.f.z};
    eliminate(left, H, a);
    eliminate(right, H, a);
    solve(H, a);
    recover(left, a, dx.dq);
    recover(right, a, dx.dq + 2);

    const double X = x.qx, Y = x.qy, Z = x.qz, W = x.qw;
    const double n = 2.0 / (X * X + Y * Y + Z * Z + W * W);
    const Vec q{X, Y, Z}, g{a[3], a[4], a[5]}, t = cross(q, g);
    dx.p = x.v;
    dx.v = g + n * (W * t + cross(q, t));  // turned by the quaternion, whatever its norm
    dx.w = {a[0], a[1], a[2]};
    const Vec spin = 0.5 * x.w, d = W * spin + cross(q, spin);
    dx.qx = d.x, dx.qy = d.y, dx.qz = d.z, dx.qw = -dot(q, spin);
    for (int k = 0; k < HINGES; ++k) dx.q[k] = x.dq[k];
}

inline void step(const Model& model, double h, const double* given, State& x) {
    State y = x, k, total;
    double* const px = &x.p.x;
    double *py = &y.p.x, *pk = &k.p.x, *pt = &total.p.x;
    std::memset(pt, 0, sizeof total);
    for (int stage = 0; stage < 4; ++stage) {
        rate(model, y, given + (stage + 1) / 2 * 3 * DRIVEN, k);
        const double weight = stage == 0 || stage == 3 ? 1.0 : 2.0, ahead = stage == 2 ? h : 0.5 * h;
        for (int i = 0; i < STATES; ++i) pt[i] += weight * pk[i], py[i] = px[i] + ahead * pk[i];
    }
    for (int i = 0; i < STATES; ++i) px[i] += h / 6.0 * pt[i];
    const double n = 1.0 / std::sqrt(x.qx * x.qx + x.qy * x.qy + x.qz * x.qz + x.qw * x.qw);
    x.qx *= n, x.qy *= n, x.qz *= n, x.qw *= n;
}

void record(const State& x, const double* given, double* out) {
    std::memcpy(out, &x, 13 * sizeof(double));
    double *q = out + 13, *dq = q + JOINTS;
    for (int k = 0; k < DRIVEN; ++k) q[k] = given[3 * k], dq[k] = given[3 * k + 1];
    for (int k = 0; k < HINGES; ++k) q[DRIVEN + k] = x.q[k], dq[DRIVEN + k] = x.dq[k];
}

}  // namespace

// phi (12, 10): m, m c, xx, xy, xz, yy, yz, zz about the body's origin; place (12, 3); springs
// (4, 2); given (steps, 3, 7, 3); x (35): position, quaternion, velocity, rate, q, dq, in place;
// out (steps / every, 35).
extern "C" void simulate(const double* phi, const double* place, const double* springs,
                         const double* given, double h, long steps, long every, double* x,
                         double* out) {
    Model model;
    for (int i = 0; i < BODIES; ++i) {
        const double* b = phi + 10 * i;
        model.body[i] = {b[0], {b[1], b[2], b[3]}, b[4], b[5], b[6], b[7], b[8], b[9]};
        model.place[i] = {place[3 * i], place[3 * i + 1], place[3 * i + 2]};
    }
    State state;
    std::memcpy(&state, x, 13 * sizeof(double));
    for (int k = 0; k < HINGES; ++k) {
        model.stiffness[k] = springs[2 * k], model.damping[k] = springs[2 * k + 1];
        state.q[k] = x[13 + DRIVEN + k], state.dq[k] = x[13 + JOINTS + DRIVEN + k];
    }
    constexpr long ROW = 3 * DRIVEN * 3;  // a step: start, middle, end
    for (long n = 0; n < steps; ++n) {
        step(model, h, given + n * ROW, state);
        const double* end = given + n * ROW + 2 * 3 * DRIVEN;
        if ((n + 1) % every == 0) record(state, end, out + (n + 1) / every * 35 - 35);
    }
    if (steps > 0) record(state, given + (steps - 1) * ROW + 2 * 3 * DRIVEN, x);
}
