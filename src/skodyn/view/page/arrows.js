// Arrows of contacts, velocities, forces and springs, and the lines of springs; off until asked for.
// view/arrows.py makes the same for films.

class Arrows {
  constructor(run, renderer) {
    Object.assign(this, run.arrowLooks);
    this.fields = run.arrows;
    this.parts = run.arrows.map(({ layer, count, ends }) => ({
      shaft: renderer.moving(layer, "cylinder"), cone: renderer.moving(layer, "cone"), line: ends && renderer.moving(layer, "cylinder"),
      rows: { shaft: new Float32Array(14 * count), cone: new Float32Array(14 * count), line: new Float32Array(14 * count) },
    }));
  }

  /** Fills the batches of the layers that are shown. */
  fill(renderer, poses, { i, j, s }, shown) {
    this.fields.forEach((field, n) => {
      const part = this.parts[n], counts = { shaft: 0, cone: 0, line: 0 };
      if (shown.has(field.layer)) for (let k = 0; k < field.count; k++) this.one(field, part, counts, poses, k, { i, j, s });
      for (const name of ["shaft", "cone", "line"]) if (part[name]) renderer.fill(part[name], part.rows[name], counts[name]);
    });
  }

  at(array, field, k, { i, j, s }) {
    const [a, b] = [i, j].map((frame) => 3 * (frame * field.count + k));
    return [0, 1, 2].map((x) => (1 - s) * array[a + x] + s * array[b + x]);
  }

  /** A point in its body: the same in all frames, or one for each, as nodes of bodies that bend. */
  point(array, field, k, when) {
    return array.length > 3 * field.count ? this.at(array, field, k, when) : array.subarray(3 * k, 3 * k + 3);
  }

  one(field, part, counts, poses, k, when) {
    const place = field.places ? this.at(field.places, field, k, when) : placed(poses, field.bodies[k], this.point(field.points, field, k, when));
    if (field.ends) {
      const end = placed(poses, field.ends.bodies[k], this.point(field.ends.points, field, k, when)), along = add(end, place, -1), length = Math.hypot(...along);
      if (length > 1e-6 * this.extent) put(part.rows.line, counts.line++, add(place, along, 0.5), unit(along), [this.shaft * this.extent * 0.8, length], field.lineColour);
    }
    const vector = this.at(field.vectors, field, k, when), longest = this.longest * this.extent;
    const wanted = Math.hypot(...vector) / 32767 * field.peak * longest / field.usual;
    if (!(wanted > 0.02 * longest)) return;
    const along = unit(vector), length = Math.min(wanted, this.beyond * longest), head = Math.min(this.headLength * this.extent, 0.6 * length), shaft = length - head;
    const colour = field.colours[field.states ? field.states[(when.s < 0.5 ? when.i : when.j) * field.count + k] : 0];
    put(part.rows.shaft, counts.shaft++, add(place, along, shaft / 2), along, [this.shaft * this.extent, shaft], colour);
    put(part.rows.cone, counts.cone++, add(place, along, length - head / 2), along, [this.head * this.extent, head], colour);
  }

  /** What the arrows that are shown stand for. */
  legend(shown) {
    return this.fields.filter((field) => shown.has(field.layer)).map((field) => ({ text: `${field.words}: the long arrow is ${short(field.usual)} ${field.unit}`, colour: field.keys.length ? null : field.colours[0], keys: field.keys.map((word, i) => ({ word, colour: field.colours[i] })) }));
  }
}

/** Where a point of a body is, given poses that were written. */
function placed(poses, body, point) {
  const o = 8 * (body + 1);
  return add([poses[o], poses[o + 1], poses[o + 2]], rotated(...poses.subarray(o + 4, o + 8), [...point]));
}

/** A cylinder or cone along a unit vector, as a row of instances. */
function put(rows, row, middle, along, [radius, length], colour) {
  rows.set([-1, ...middle, ...turnFromZ(along), radius, radius, length, ...colour], 14 * row);
}
