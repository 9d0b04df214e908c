// Shapes of loops that belong to no body: the line from one end to the other, arrows for wrenches.
// view/closures.py makes the same for films.

class Closures {
  constructor(run) {
    Object.assign(this, run.closures);
    this.count = this.bodyA.length;
    this.rows = { line: new Float32Array(14 * this.count), shaft: new Float32Array(28 * this.count), cone: new Float32Array(42 * this.count) };
  }

  /** Where an end is, given poses that were written. */
  place(bodies, points, i, poses) {
    const o = 8 * (bodies[i] + 1), point = [...points.subarray(3 * i, 3 * i + 3)];
    return add([poses[o], poses[o + 1], poses[o + 2]], rotated(...poses.subarray(o + 4, o + 8), point));
  }

  /** Fills `rows` for poses of a frame; wrenches are those at share s from frame i to frame j.
      Returns how many rows of each there are. */
  fill(poses, { i, j, s }, withArrows) {
    const counts = { line: 0, shaft: 0, cone: 0 };
    for (let k = 0; k < this.count; k++) {
      const a = this.place(this.bodyA, this.pointA, k, poses), b = this.place(this.bodyB, this.pointB, k, poses);
      const along = add(b, a, -1), length = Math.hypot(...along);
      if (length > this.least * this.extent) this.put("line", counts, add(a, along, 0.5), along, [this.line, length], "line");
      if (!withArrows) continue;
      const [w, v] = [i, j].map((frame) => this.wrenches.subarray(6 * (frame * this.count + k), 6 * (frame * this.count + k) + 6));
      const now = Array.from(w, (x, n) => (1 - s) * x + s * v[n]);
      this.arrow(counts, b, now.slice(3), "force", 1);
      this.arrow(counts, b, now.slice(0, 3), "moment", 2);
    }
    return counts;
  }

  arrow(counts, at, wrench, kind, heads) {
    if (!this[kind]) return;
    const { extent } = this, longest = this.longest * extent, wanted = Math.hypot(...wrench) * longest / this[kind];
    if (!(wanted > this.headLength * extent / 3)) return;
    const along = unit(wrench), length = Math.min(wanted, this.beyond * longest);
    const head = Math.min(this.headLength * extent, 0.6 * length), shaft = length - head;
    this.put("shaft", counts, add(at, along, shaft / 2), along, [this.shaft * extent, shaft], kind);
    for (let n = 0; n < heads; n++) this.put("cone", counts, add(at, along, length - head * (0.5 + 0.7 * n)), along, [this.head * extent, head], kind);
  }

  put(rows, counts, middle, along, [radius, length], colour) {
    this.rows[rows].set([-1, ...middle, ...turnFromZ(unit(along)), radius, radius, length, ...this.colours[colour]], 14 * counts[rows]++);
  }
}

/** The shortest turn that brings z to a unit vector. */
function turnFromZ([x, y, z]) {
  if (1 + z < 1e-9) return [0, 1, 0, 0];
  const size = Math.hypot(1 + z, y, x);
  return [(1 + z) / size, -y / size, x / size, 0];
}
