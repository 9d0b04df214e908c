"""Contact from the definitions, dense and slow; imports nothing of skodyn.

A body is (R, p, ω, v): axes, origin, angular velocity, velocity of the origin, all in world axes.
Distances come from minimising over candidates, not from clamps; rates of normals come from moving
the bodies a little and measuring again.
"""

from __future__ import annotations

import itertools

import numpy as np

# ---- gaps ---------------------------------------------------------------------------------------
# each gives (gap, normal from b to a, point in the middle of the overlap)


def placed(body, x):
    return body[1] + body[0] @ np.asarray(x, float)


def turned(body, x):
    return body[0] @ np.asarray(x, float)


def velocity(body, x):
    """Of the point of the body that is at x now."""
    return body[3] + np.cross(body[2], x - body[1])


def ball_on_plane(a, b, centre, radius, point, normal):
    n = turned(b, normal) / np.linalg.norm(normal)
    x = placed(a, centre)
    gap = n @ (x - placed(b, point)) - radius
    return gap, n, x - n * (radius + gap / 2)


def ellipsoid_on_plane(a, b, centre, axes, radii, point, normal):
    """The lowest point solves a constrained minimum: n·x on xᵀQx = 1."""
    n = turned(b, normal) / np.linalg.norm(normal)
    e = a[0] @ axes
    q = e @ np.diag(1.0 / np.square(radii)) @ e.T
    down = -np.linalg.solve(q, n)
    deepest = placed(a, centre) + down / np.sqrt(down @ q @ down)
    gap = n @ (deepest - placed(b, point))
    return gap, n, deepest - n * gap / 2


def rim_on_plane(a, b, centre, axis, radius, edge, point, normal):
    """The lowest point of a circle."""
    n = turned(b, normal) / np.linalg.norm(normal)
    u = turned(a, axis)
    x, y = np.linalg.svd(u[None])[2][1:]  # a basis of its plane
    angle = np.arctan2(-n @ y, -n @ x)
    deepest = placed(a, centre) + radius * (np.cos(angle) * x + np.sin(angle) * y) - edge * n
    gap = n @ (deepest - placed(b, point))
    return gap, n, deepest - n * gap / 2


def segments(p, u, half_p, q, w, half_q):
    """The nearest points of two segments: the best of ends, feet of ends, and the common normal."""

    def near(x, centre, axis, half):
        return centre + axis * np.clip(axis @ (x - centre), -half, half)

    ends_p = [p + s * half_p * u for s in (-1, 1)]
    ends_q = [q + s * half_q * w for s in (-1, 1)]
    candidates = [(x, near(x, q, w, half_q)) for x in ends_p]
    candidates += [(near(y, p, u, half_p), y) for y in ends_q]
    matrix = np.array([[1.0, -u @ w], [u @ w, -1.0]])
    if abs(np.linalg.det(matrix)) > 1e-12:
        s, t = np.linalg.solve(matrix, [-u @ (p - q), -w @ (p - q)])
        if abs(s) <= half_p and abs(t) <= half_q:
            candidates.append((p + s * u, q + t * w))
    return min(candidates, key=lambda c: np.linalg.norm(c[0] - c[1]))


def capsule_on_capsule(a, b, shape_a, shape_b):
    """A shape is (centre, axis, half length, radius); a sphere has half length 0."""
    (ca, ua, ha, ra), (cb, ub, hb, rb) = shape_a, shape_b
    x, y = segments(placed(a, ca), turned(a, ua), ha, placed(b, cb), turned(b, ub), hb)
    n = (x - y) / np.linalg.norm(x - y)
    gap = np.linalg.norm(x - y) - ra - rb
    return gap, n, x - n * (ra + gap / 2)


def ball_on_box(a, b, centre, radius, box_centre, axes, half):
    """Outside: the nearest of faces, edges and corners. Inside: the way out through a face."""
    e = b[0] @ axes
    x = e.T @ (placed(a, centre) - placed(b, box_centre))
    half = np.asarray(half, float)
    if (np.abs(x) > half).any():
        best = None
        for choice in itertools.product((-1, 0, 1), repeat=3):  # 0: not held at a face
            y = np.array([c * h if c else v for c, h, v in zip(choice, half, x, strict=True)])
            if (np.abs(y) <= half).all() and (
                best is None or np.linalg.norm(x - y) < np.linalg.norm(x - best)
            ):
                best = y
        away = x - best
        n, distance = away / np.linalg.norm(away), np.linalg.norm(away)
    else:
        depths = half - np.abs(x)
        i = int(np.argmin(depths))
        n, distance = np.eye(3)[i] * (1.0 if x[i] >= 0 else -1.0), -depths[i]
    n = e @ n
    gap = distance - radius
    return gap, n, placed(a, centre) - n * (radius + gap / 2)


def cubic(values, t):
    """Catmull and Rom's cubic through the middle two of four values, and its slope in t."""
    slope_0, slope_1 = (values[2] - values[0]) / 2, (values[3] - values[1]) / 2
    basis = np.array([[2, -2, 1, 1], [-3, 3, -2, -1], [0, 0, 1, 0], [1, 0, 0, 0]], float)
    c = basis @ [values[1], values[2], slope_0, slope_1]
    return ((c[0] * t + c[1]) * t + c[2]) * t + c[3], (3 * c[0] * t + 2 * c[1]) * t + c[2]


def height(size, heights, x, y):
    """(height, slope in x, slope in y); level beyond the edges."""
    grid = np.asarray(heights, float)
    steps = np.array(size) / (np.array(grid.shape) - 1)
    place = (np.array([x, y]) + np.array(size) / 2) / steps
    inside = np.clip(place, 0, np.array(grid.shape) - 1)
    cell = np.minimum(np.floor(inside).astype(int), np.array(grid.shape) - 2)
    rows = [min(max(cell[0] + i, 0), grid.shape[0] - 1) for i in range(-1, 3)]
    columns = [min(max(cell[1] + i, 0), grid.shape[1] - 1) for i in range(-1, 3)]
    t = inside - cell
    along = [cubic(grid[i, columns], t[1]) for i in rows]
    f, fx = cubic([z for z, _ in along], t[0])
    fy, _ = cubic([slope for _, slope in along], t[0])
    held = inside != place
    return f, 0.0 if held[0] else fx / steps[0], 0.0 if held[1] else fy / steps[1]


def ball_on_field(a, b, centre, radius, origin, axes, size, heights):
    e = b[0] @ axes
    x = e.T @ (placed(a, centre) - placed(b, origin))
    f, fx, fy = height(size, heights, x[0], x[1])
    n = np.array([-fx, -fy, 1.0]) / np.sqrt(1.0 + fx * fx + fy * fy)
    gap = (x[2] - f) * n[2] - radius
    n = e @ n
    return gap, n, placed(a, centre) - n * (radius + gap / 2)


# ---- how the contact turns ----------------------------------------------------------------------


def moved(body, dt):
    """The body a little later."""
    rotation, place, omega, speed = body
    angle = np.linalg.norm(omega) * dt
    axis = omega / max(np.linalg.norm(omega), 1e-300)
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    turn = np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k
    return turn @ rotation, place + dt * speed, omega, speed


def normal_rate(gap_of, a, b, dt=1e-6):
    """ṅ by moving both bodies."""
    after, before = (gap_of(moved(a, h), moved(b, h))[1] for h in (dt, -dt))
    return (after - before) / (2 * dt)


def turning(gap_of, a, b, n, flat):
    """ωc: that of b where it is flat, else n × ṅ and the mean spin about n."""
    if flat:
        return b[2]
    return np.cross(n, normal_rate(gap_of, a, b)) + n * (n @ (a[2] + b[2])) / 2


def turning_on_box(gap_of, a, b, n):
    """With the box, and about its edges and corners as the normal turns."""
    return b[2] + np.cross(n, normal_rate(gap_of, a, b) - np.cross(b[2], n))


# ---- the law ------------------------------------------------------------------------------------


def law(given, gap, n, v, omega, turn, s, zeta):
    """Everything at one point: force and moment on a, rates of bristles, energy and loss.

    given: k, c, p, mu, mu_s, slip_speed, kt, d, torsion, rolling (both lengths over mu).
    v, omega: of a relative to b at the contact point.
    """
    k, c, p, kt, d = (given[key] for key in ("k", "c", "p", "kt", "d"))
    spring = 0.5 * kt * (s @ s + zeta @ zeta)
    if gap >= 0.0:
        rates = (-kt / d * s, -kt / d * zeta) if d else (0 * s, 0 * zeta)
        loss = d * sum(x @ x for x in rates)
        return {
            "force": 0 * n,
            "moment": 0 * n,
            "s": rates[0],
            "zeta": rates[1],
            "stored": spring,
            "loss": loss,
            "r": 1.0,
        }
    depth, rate = -gap, -n @ v
    elastic = k * depth**p
    normal = elastic * max(1.0 + c * rate, 0.0)
    across = np.eye(3) - np.outer(n, n)
    if not given["mu"]:
        return {
            "force": normal * n,
            "moment": 0 * n,
            "s": 0 * s,
            "zeta": 0 * zeta,
            "stored": k * depth ** (p + 1) / (p + 1),
            "loss": (normal - elastic) * rate,
            "r": 1.0,
        }
    slip = across @ v
    mu = given["mu"]
    if given["mu_s"] > mu:
        mu += (given["mu_s"] - mu) / (1 + slip @ slip / given["slip_speed"] ** 2)
    torsion, rolling = given["torsion"], given["rolling"]
    pull = -(kt * across @ s + d * slip)
    w = torsion * n * (n @ omega) + rolling * across @ omega
    held = (torsion > 0) * n * (n @ zeta) + (rolling > 0) * across @ zeta
    twist = -(kt * held + d * w)
    size = np.sqrt(pull @ pull + twist @ twist)
    r = min(1.0, mu * normal / size) if size > 0 else 1.0
    f, g = r * pull, r * twist
    own_s, own_z = -(f + kt * s) / d, -(g + kt * zeta) / d
    moment = torsion * n * (n @ g) + rolling * across @ g
    loss = (normal - elastic) * rate + d * (own_s @ own_s + own_z @ own_z)
    loss += r * (1 - r) * size**2 / d
    return {
        "force": normal * n + f,
        "moment": moment,
        "s": own_s + np.cross(turn, s),
        "zeta": own_z + np.cross(turn, zeta),
        "loss": loss,
        "r": r,
        "stored": k * depth ** (p + 1) / (p + 1) + spring,
    }


def restitution(x):
    """e of c·v by bisection of (1 + e)·x = ln((1 + x)/(1 − e·x))."""
    low, high = 0.0, min(1.0, 1.0 / x)
    for _ in range(200):
        e = 0.5 * (low + high)
        rest = (1 + e) * x - np.log1p(x) + np.log1p(-e * x) if e * x < 1 else -1.0
        low, high = (e, high) if rest > 0 else (low, e)
    return 0.5 * (low + high)
