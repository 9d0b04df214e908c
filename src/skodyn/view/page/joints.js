// Sliders for the joints of a model: forward kinematics of a tree, in the picture's axes.
// Each joint is a product of screws, or a turn given by its rotation vector, or that and a place.

const quaternionProduct = ([a, b, c, d], [e, f, g, h]) => [a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g, a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e];

/** The quaternion of a rotation vector. */
function turnOf(vector) {
  const angle = Math.hypot(...vector), s = angle > 1e-12 ? Math.sin(angle / 2) / angle : 0.5;
  return [Math.cos(angle / 2), ...vector.map((x) => s * x)];
}

/** The pose [place, turn] after a screw (u, t) by the amount s. */
function screwed([place, turn], u, t, s) {
  if (!u.some((x) => x)) return [add(place, rotated(...turn, t), s), turn];
  const step = turnOf(u.map((x) => x * s)), arm = cross(u, t);
  const moved = add(add(arm, rotated(...step, arm), -1), u, dot(u, t) * s);
  return [add(place, rotated(...turn, moved)), quaternionProduct(turn, step)];
}

class Joints {
  constructor(run, onMove) {
    Object.assign(this, run.joints);
    this.upright = run.view.upright;
    this.exaggerate = run.bent?.exaggerate ?? 1;
    this.onMove = onMove;
    this.values = Float64Array.from(this.start);
    this.turns = this.bodies.filter(({ kind }) => kind !== "screws").map(({ first }) => first);
    this.assembly = new Assembly(this.groups, this.sliders, this.turns, (values) => this.found(values), this.upright);
    $("joints").hidden = false;
    this.rows = this.sliders.map((slider, i) => this.row(slider, i));
    $("neutral").onclick = () => { this.values.set(this.start); this.changed(); };
    $("stopped").hidden = !this.groups.length;
    $("coordinates").onclick = () => $("coordinates").select();
    this.changed();
  }

  row({ name, unit, low, high }, i) {
    const label = document.createElement("span"), input = document.createElement("input"), shown = document.createElement("output");
    label.textContent = label.title = name;
    Object.assign(input, { type: "range", min: low, max: high, step: "any", value: this.values[i] });
    input.setAttribute("aria-label", name);
    input.oninput = () => this.changed(this.assembly.move(this.values, i, this.nearest(i, input.valueAsNumber)));
    if (this.assembly.groupOf(i)) label.prepend(this.holder(i, name));
    $("sliders").append(label, input, shown);
    return { input, shown, unit };
  }

  /** A box that keeps a joint of a closed mechanism where it is while others move. */
  holder(i, name) {
    const box = Object.assign(document.createElement("input"), { type: "checkbox", title: "hold it while others move" });
    box.setAttribute("aria-label", `hold ${name}`);
    box.onchange = () => this.assembly.held[box.checked ? "add" : "delete"](i);
    return box;
  }

  /** Whether a joint may turn on and on: its slider shows the angle within one turn. Coordinates of
      a rotation vector do not: a whole turn more of one of them is another turn of the joint. */
  endless(i) {
    const { unit, lowest, highest } = this.sliders[i];
    return unit === "rad" && (lowest ?? highest ?? null) === null && this.assembly.groupOf(i) && !this.turns.some((first) => first <= i && i < first + 3);
  }

  /** The value for a place of slider i: of an endless turn, that which is nearest to the present one. */
  nearest(i, place) { return this.endless(i) ? place + 2 * Math.PI * Math.round((this.values[i] - place) / (2 * Math.PI)) : place; }

  changed(why = "") {
    $("stopped").textContent = why || "the other joints follow, so that loops stay closed; ☑ holds a joint";
    this.rows.forEach(({ input, shown, unit }, i) => {
      const turns = this.endless(i) ? Math.round(this.values[i] / (2 * Math.PI)) : 0, place = this.values[i] - 2 * Math.PI * turns;
      Object.assign(input, { min: Math.min(input.min, place), max: Math.max(input.max, place) }); // one that follows goes where it must
      if (input.valueAsNumber !== place) input.value = place;
      shown.textContent = `${short(this.values[i])} ${unit}`;
    });
    $("coordinates").value = `q = [${this.q().map((x) => +x.toPrecision(9)).join(", ")}]`;
    this.onMove();
  }

  /** The coordinates of the model's state. */
  q() {
    return this.bodies.flatMap(({ kind, first, count, mimic, modes }) => {
      if (mimic) return [];
      const own = [...this.values.subarray(first, first + count)], bend = [...this.values.subarray(first + count, first + count + modes)];
      return [...(kind === "screws" ? own : [...turnOf(own.slice(0, 3)), ...own.slice(3)]), ...bend];
    });
  }

  /** A mode of a flexible body. */
  mode(body, m) { return this.values[this.bodies[body].first + this.bodies[body].count + m]; }

  /** Where a node of a flexible body is in it, [place, turn]. */
  nodePose(body, node) {
    const eta = Array.from({ length: body.modes }, (_, m) => this.values[body.first + body.count + m] * this.exaggerate), amounts = shapeAmounts({ modes: body.modes, count: body.shapes, slaves: body.slaves }, eta);
    const sum = (rows) => rows.map((row) => row.reduce((total, x, n) => total + x * amounts[n], 0));
    return [add(node.position, sum(node.translation)), turnOf(sum(node.rotation))];
  }

  /** Writes the poses of all bodies, as Replay.poses does. */
  poses(out) { this.found(this.values).forEach((pose, k) => out.set([...pose[0], 0, ...pose[1]], 8 * (k + 1))); }

  /** [place, turn] of every body for values of the sliders. */
  found(values) {
    const found = [];
    for (const { parent, place, turn, kind, twists, first, mimic, node } of this.bodies) {
      let [origin, axes] = parent < 0 ? [[0, 0, 0], this.upright] : found[parent];
      if (node) {
        const [shift, bend] = this.nodePose(this.bodies[parent], node);
        [origin, axes] = [add(origin, rotated(...axes, shift)), quaternionProduct(axes, bend)];
      }
      let pose = [add(origin, rotated(...axes, place)), quaternionProduct(axes, turn)];
      if (kind === "screws") twists.forEach(([u, t], i) => { pose = screwed(pose, u, t, mimic ? mimic.multiplier * values[mimic.of] + mimic.offset : values[first + i]); });
      else {
        const c = [...values.subarray(first, first + 6)], place_ = kind === "free" ? c.slice(3) : [0, 0, 0];
        pose = [add(pose[0], rotated(...pose[1], place_)), quaternionProduct(pose[1], turnOf(c.slice(0, 3)))];
      }
      found.push(pose);
    }
    return found;
  }
}
