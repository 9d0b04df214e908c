// Vectors as arrays of three, quaternions as (w, x, y, z), matrices as WebGL wants them.

const $ = (id) => document.getElementById(id);
const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const unit = (a) => { const n = Math.hypot(...a) || 1; return a.map((x) => x / n); };

function rotated(w, x, y, z, p) {
  const q = [x, y, z], twice = cross(q, p).map((c) => 2 * c);
  return add(add(p, twice, w), cross(q, twice));
}

/** The axes of an eye at `eye` that looks at `target`, with z up. */
function eyeAxes(eye, target) {
  const back = unit(add(eye, target, -1)), right = unit(cross([0, 0, 1], back));
  return { right, up: cross(back, right), back };
}

/** Perspective times view, column by column. */
function cameraMatrix(eye, target, fieldOfView, aspect, near, far) {
  const { right, up, back } = eyeAxes(eye, target);
  const f = 1 / Math.tan(fieldOfView / 2), d = 1 / (near - far);
  const row = (axis, s) => [s * axis[0], s * axis[1], s * axis[2], -s * dot(axis, eye)];
  const z = row(back, 1);
  const wide = aspect >= 1 ? [f / aspect, f] : [f, f * aspect];
  const rx = row(right, wide[0]), ry = row(up, wide[1]);
  const rz = z.map((c) => c * (far + near) * d), rw = z.map((c) => -c);
  rz[3] += 2 * far * near * d;
  const m = new Float32Array(16);
  [rx, ry, rz, rw].forEach((r, i) => r.forEach((c, j) => { m[4 * j + i] = c; }));
  return m;
}
