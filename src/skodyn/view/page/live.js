// A run that goes on while it is watched: pictures come as events, wishes go back as messages.

const EVERY = 33; // ms between two messages while a body is dragged

class Live {
  constructor(player) {
    this.player = player;
    this.frame = null;
    this.paused = false;
    this.drag = null;
    this.line = player.renderer.moving("drag", "cylinder");
    this.row = new Float32Array(14);
    player.shown.add("drag");
    for (const id of ["scrub", "looping"]) $(id).hidden = true;
    $("player").hidden = $("live").hidden = false;
    $("player").classList.add("live");
    $("keys").textContent = " · drag a body: pull it · space: pause";
    $("keys").hidden = false;
    this.label();
    this.events = new EventSource("events");
    this.events.onmessage = (event) => this.take(JSON.parse(event.data));
    this.events.onerror = () => { if (this.over) this.events.close(); };
    $("speed").onchange = () => this.send({ speed: Number($("speed").value) });
    this.listen($("scene"));
  }

  get over() { return ["finished", "failed", "interrupted"].includes(this.frame?.state); }

  take(frame) {
    this.agree(frame);
    this.frame = frame;
    const { t, duration, touched, state, words } = frame, { digits } = this.player.run;
    $("clock").textContent = `${t.toFixed(Math.max(digits, 2))} / ${duration.toFixed(Math.max(digits, 2))} s`;
    const notes = [this.over || state === "paused" ? state : "live"];
    if (words) notes.push(words);
    if (touched !== null) notes.push(`touched at ${short(touched)} s, not logged since`);
    $("live").textContent = notes.join(" · ");
    if (this.over) { this.events.close(); this.drag = null; $("play").disabled = true; }
    this.player.stale = true;
  }

  /** Shows speed and pause as they are: a page that is opened later, or beside another, did not ask for them. */
  agree({ state, speed }) {
    if (speed !== this.frame?.speed) $("speed").value = speed;
    if (state === this.frame?.state) return;
    this.paused = state === "paused";
    this.label();
  }

  send(message) {
    if (this.over) return;
    fetch("control", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(message) }).catch(() => {});
  }

  toggle() {
    this.paused = !this.paused;
    this.label();
    this.send({ paused: this.paused });
  }

  label() {
    $("play").textContent = this.paused ? "▶" : "❚❚";
    $("play").setAttribute("aria-label", this.paused ? "go on" : "pause");
  }

  /** Writes the poses of all bodies, as Replay.poses does. */
  poses(out, replay) {
    if (!this.frame) { replay.poses(0, out); return; }
    const { positions, turns } = this.frame;
    for (let k = 0; 3 * k < positions.length; k++) {
      out.set(positions.slice(3 * k, 3 * k + 3), 8 * (k + 1));
      out.set(turns.slice(4 * k, 4 * k + 4), 8 * (k + 1) + 4);
    }
  }

  /** A mode of a flexible body, as Joints.mode. */
  mode(body, m) {
    const n = this.player.bent.surfaces.findIndex((one) => one.body === body);
    return this.frame ? this.frame.modes[n][m] : 0;
  }

  // ---- pulling ----------------------------------------------------------------------------

  listen(canvas) {
    canvas.addEventListener("pointerdown", (event) => { if (this.grab(event)) { event.stopImmediatePropagation(); event.preventDefault(); } }, { capture: true });
    canvas.addEventListener("pointermove", (event) => { if (this.drag?.pointer === event.pointerId) this.pull(event); });
    for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, (event) => { if (this.drag?.pointer === event.pointerId) this.letGo(); });
  }

  /** From the eye through a pixel, as far as one unit ahead of the eye. */
  ray(event) {
    const { view } = this.player, box = $("scene").getBoundingClientRect(), { right, up, back } = eyeAxes(view.eye, view.target);
    const scale = 2 * Math.tan(view.fieldOfView / 2) / Math.min(box.width, box.height);
    const x = (event.clientX - box.left - box.width / 2) * scale, y = (box.top + box.height / 2 - event.clientY) * scale;
    return { back, along: add(add(back.map((c) => -c), right, x), up, y) };
  }

  grab(event) {
    if (event.button !== 0 || event.shiftKey || this.over || this.drag) return false;
    const { renderer, replay, view } = this.player, box = $("scene").getBoundingClientRect();
    const body = renderer.pick((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height, view, this.player.shown);
    this.player.stale = true;
    if (body < 0) return false;
    const { back, along } = this.ray(event), depth = dot(add(view.eye, replay.centre(body, renderer.poses), -1), back);
    const place = add(view.eye, along, depth), o = 8 * (body + 1), [w, x, y, z] = renderer.poses.subarray(o + 4, o + 8);
    const point = rotated(w, -x, -y, -z, add(place, [...renderer.poses.subarray(o, o + 3)], -1));
    try { $("scene").setPointerCapture(event.pointerId); } catch { /* a pointer that is gone already */ }
    this.drag = { pointer: event.pointerId, body, point, depth, end: place, sent: 0 };
    this.pull(event);
    return true;
  }

  pull(event) {
    const { drag } = this, now = performance.now();
    drag.end = add(this.player.view.eye, this.ray(event).along, drag.depth);
    this.player.stale = true;
    clearTimeout(drag.later);
    if (now - drag.sent < EVERY) { drag.later = setTimeout(() => this.tell(), EVERY); return; }
    this.tell();
  }

  tell() {
    if (!this.drag) return;
    const { body, point, end } = this.drag;
    this.drag.sent = performance.now();
    this.send({ grab: { body, point, end } });
  }

  letGo() {
    clearTimeout(this.drag.later);
    this.drag = null;
    this.send({ grab: null });
    this.player.stale = true;
  }

  /** The spring, as a line. */
  fill(renderer, extent) {
    let count = 0;
    if (this.drag) {
      const from = placed(renderer.poses, this.drag.body, this.drag.point), along = add(this.drag.end, from, -1), length = Math.hypot(...along);
      if (length > 1e-6 * extent) put(this.row, count++, add(from, along, 0.5), unit(along), [0.004 * extent, length], [0.8, 0.47, 0.65]);
    }
    renderer.fill(this.line, this.row, count);
  }
}
