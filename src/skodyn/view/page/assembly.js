// Joints of closed mechanisms: one coordinate is moved, the others of its group follow.
// Rows are those of model/closing.py; the nearest closed configuration is found by Newton's method
// with least-norm steps, damped by the square of what is left (model/loop_newton.py says why).

const CLOSED = 1e-11, LONGEST_MOVE = 0.1, LARGEST_STEP = 0.5, ITERATIONS = 15, SLOPE = 1e-6;
const [POINT, DOT, ALONG, LENGTH, HELIX] = [0, 1, 2, 3, 4];

/** What one primitive leaves, in lengths of the group or radians; A and B are poses [place, turn]. */
function closingRow({ kind, u, w, c, e }, d, turnA, turnB, length) {
  if (kind === POINT) return d.map((x) => x / length);
  if (kind === LENGTH) return [(Math.hypot(...d) - c) / length];
  const axis = rotated(...turnA, u);
  if (kind === ALONG) return [dot(axis, d) / length];
  const other = rotated(...turnB, w);
  if (kind === DOT) return [dot(axis, other) - c];
  if (kind !== HELIX) throw new Error(`a closing row of kind ${kind} is not known to the page`);
  const start = rotated(...turnA, e), turned = dot(axis, d) / c;
  return [c * (dot(cross(axis, start), other) * Math.cos(turned) - dot(start, other) * Math.sin(turned)) / length];
}

function relationRow({ of, coefficients, factors, offset, unit }, values) {
  if (!coefficients.length) return (of.reduce((sum, i, n) => sum + factors[n] * values[i], 0) - offset) / unit;
  return (values[of[0]] - coefficients.reduceRight((sum, x) => sum * values[of[1]] + x, 0)) / unit;
}

/** x with A x = b for a symmetric positive definite A, given by rows; both are overwritten. */
function solvePositive(A, b) {
  const n = b.length;
  for (let j = 0; j < n; j++) {
    for (let k = 0; k < j; k++) for (let i = j; i < n; i++) A[i][j] -= A[i][k] * A[j][k];
    const pivot = Math.sqrt(Math.max(A[j][j], 1e-300));
    for (let i = j; i < n; i++) A[i][j] /= pivot;
  }
  for (let i = 0; i < n; i++) { for (let k = 0; k < i; k++) b[i] -= A[i][k] * b[k]; b[i] /= A[i][i]; }
  for (let i = n - 1; i >= 0; i--) { for (let k = i + 1; k < n; k++) b[i] -= A[k][i] * b[k]; b[i] /= A[i][i]; }
  return b;
}

class Assembly {
  /** posesOf(values): [place, turn] of every body; upright: the world's turn in the same axes;
      turns: where the rotation vectors among the values begin. */
  constructor(groups, sliders, turns, posesOf, upright) {
    Object.assign(this, { groups, sliders, turns, posesOf });
    this.world = [[0, 0, 0], upright];
    this.held = new Set();
  }

  /** The group that a slider belongs to, if any. */
  groupOf(i) { return this.groups.find(({ columns }) => columns.includes(i)); }

  rows(group, values) {
    const poses = this.posesOf(values), at = (k) => (k < 0 ? this.world : poses[k]);
    const found = group.loops.flatMap(({ a, b, pointA, pointB, rows }) => {
      const [[placeA, turnA], [placeB, turnB]] = [at(a), at(b)];
      const d = add(add(placeB, rotated(...turnB, pointB)), add(placeA, rotated(...turnA, pointA)), -1);
      return rows.flatMap((row) => closingRow(row, d, turnA, turnB, group.length));
    });
    return [...found, ...group.relations.map((one) => relationRow(one, values))];
  }

  /** Closes a group by moving what may move; false if Newton's steps lead nowhere near. */
  close(group, values, stay) {
    const free = group.columns.map((i, n) => [i, group.units[n]]).filter(([i]) => !stay.has(i)), begun = values.slice();
    for (let n = 0; n < ITERATIONS; n++) {
      const g = this.rows(group, values), left = Math.max(...g.map(Math.abs));
      if (left < CLOSED) return true;
      if (!(left < 1) || !free.length) return false;
      const slopes = free.map(([i, scale]) => {  // one row for each coordinate
        const before = values[i];
        values[i] = before + SLOPE * scale;
        const moved = this.rows(group, values);
        values[i] = before;
        return moved.map((x, r) => (x - g[r]) / SLOPE);
      });
      const damping = Math.max(left * left, 1e-13);
      const A = g.map((_, r) => g.map((__, s) => slopes.reduce((sum, row) => sum + row[r] * row[s], r === s ? damping : 0)));
      const y = solvePositive(A, g);
      free.forEach(([i, scale], n_) => { values[i] -= scale * slopes[n_].reduce((sum, x, r) => sum + x * y[r], 0); });
      if (free.some(([i, scale]) => !(Math.abs(values[i] - begun[i]) < LARGEST_STEP * scale))) return false;
    }
    return false;
  }

  /** Moves slider i towards a target in short moves, as far as its group closes, and writes values.
      Returns why it stopped, or nothing. */
  move(values, i, target) {
    const group = this.groupOf(i);
    if (!group) { values[i] = target; return ""; }
    const scale = group.units[group.columns.indexOf(i)], stay = new Set([...this.held, i]);
    let step = LONGEST_MOVE * scale, why = "";
    while (Math.abs(target - values[i]) > 1e-12 * scale && step > 1e-5 * scale) {
      const next = values.slice(), way = target - values[i];
      next[i] += Math.sign(way) * Math.min(step, Math.abs(way));
      why = this.close(group, next, stay) ? this.beyond(group, values, next, i) : "its loops would come open";
      if (why) step /= 2; else values.set(this.wrapped(next, stay));
    }
    if (!why) return "";
    const others = [...this.held].filter((k) => k !== i && group.columns.includes(k)).map((k) => this.sliders[k].name);
    return `${this.sliders[i].name} goes no further than ${short(values[i])} ${this.sliders[i].unit}: ${why}${others.length ? ` with ${others.join(", ")} held` : ""}`;
  }

  /** The same turns by rotation vectors of half a turn or less: at a whole one a vector moves far
      for a turn that hardly does. Those with a coordinate that stays are left as they are. */
  wrapped(values, stay) {
    for (const first of this.turns) {
      const own = values.subarray(first, first + 3), angle = Math.hypot(...own);
      if (angle <= Math.PI || own.some((_, n) => stay.has(first + n))) continue;
      const turns = Math.round(angle / (2 * Math.PI));
      own.forEach((x, n) => { own[n] = x * (1 - 2 * Math.PI * turns / angle); });
    }
    return values;
  }

  /** Which joint of a group would leave its limits, in words. */
  beyond(group, values, next, moved) {
    const out = (x, { lowest, highest }) => Math.max((lowest ?? -Infinity) - x, x - (highest ?? Infinity), 0);
    const over = group.columns.find((k) => k !== moved && out(next[k], this.sliders[k]) > 1e-9 + out(values[k], this.sliders[k]));
    return over === undefined ? "" : `${this.sliders[over].name} is at its limit`;
  }
}
