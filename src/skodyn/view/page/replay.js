// The recorded frames: which one is shown at a time, and poses between two frames.

class Replay {
  /** times: F numbers; positions: F·n·3; turns: F·n·4, quaternions as 16-bit integers. */
  constructor(times, positions, turns, coms) {
    Object.assign(this, { times, positions, turns, coms });
    this.bodies = coms.length / 3;
    this.start = times[0];
    this.end = times[times.length - 1];
  }

  /** The last frame at or before t. */
  frame(t) {
    let low = 0, high = this.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= t) low = middle; else high = middle - 1;
    }
    return low;
  }

  /** The frames before and after t, and how far it is from one to the other. */
  between(t) {
    const i = this.frame(t), j = Math.min(i + 1, this.times.length - 1), gap = this.times[j] - this.times[i];
    return { i, j, s: gap > 0 ? Math.min(Math.max((t - this.times[i]) / gap, 0), 1) : 0 };
  }

  /** Writes all poses at time t, two groups of four numbers for each body after the ground's. */
  poses(t, out) {
    const { i, j, s } = this.between(t), { positions: p, turns: q, bodies: n } = this;
    for (let k = 0; k < n; k++) {
      const o = 8 * (k + 1), a = 3 * (i * n + k), b = 3 * (j * n + k), c = 4 * (i * n + k), d = 4 * (j * n + k);
      for (let x = 0; x < 3; x++) out[o + x] = p[a + x] + s * (p[b + x] - p[a + x]);
      const same = q[c] * q[d] + q[c + 1] * q[d + 1] + q[c + 2] * q[d + 2] + q[c + 3] * q[d + 3] >= 0 ? s : -s;
      let norm = 0;
      for (let x = 0; x < 4; x++) { const w = (1 - s) * q[c + x] + same * q[d + x]; out[o + 4 + x] = w; norm += w * w; }
      norm = 1 / Math.sqrt(norm);
      for (let x = 4; x < 8; x++) out[o + x] *= norm;
    }
  }

  /** Where the centre of mass of body k is, given poses that were written. */
  centre(k, poses) {
    const o = 8 * (k + 1), turned = rotated(...poses.subarray(o + 4, o + 8), [...this.coms.subarray(3 * k, 3 * k + 3)]);
    return add([poses[o], poses[o + 1], poses[o + 2]], turned);
  }

  /** The path of a body's centre of mass, frame by frame. */
  path(k) {
    const points = new Float32Array(3 * this.times.length), poses = new Float32Array(8 * (this.bodies + 1));
    const com = [...this.coms.subarray(3 * k, 3 * k + 3)];
    for (let i = 0; i < this.times.length; i++) {
      const a = 3 * (i * this.bodies + k), c = 4 * (i * this.bodies + k);
      const turn = [...this.turns.subarray(c, c + 4)].map((x) => x / 32767);
      points.set(add([...this.positions.subarray(a, a + 3)], rotated(...turn, com)), 3 * i);
    }
    return points;
  }
}
