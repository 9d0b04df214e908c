// The page: reads the run that is embedded in it, then ties controls, picture and plot together.

const $ = (id) => document.getElementById(id);
const LAYER_WORDS = { shapes: "shapes", inertia: "inertia ellipsoids", links: "links", joints: "joint axes", loops: "closing joints", wrenches: "loop forces", frames: "frames", floor: "floor" };
const SPEEDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10];
const MOST_CURVES = 6;

async function unpacked() {
  const bytes = Uint8Array.from(atob($("blob").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const types = { f4: Float32Array, f8: Float64Array, i2: Int16Array, u4: Uint32Array };
  const run = JSON.parse($("run").textContent);
  const open = (value) => {
    if (Array.isArray(value)) return value.map(open);
    if (value === null || typeof value !== "object") return value;
    if ("$at" in value) return new types[value.type](buffer, value.$at, value.count);
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, open(entry)]));
  };
  return open(run);
}

class Player {
  constructor(run) {
    this.run = run;
    this.replay = new Replay(run.times, run.positions, run.turns, run.coms);
    this.renderer = new Renderer($("scene"), run.scene, run.bodies.length);
    this.view = { ...run.view };
    this.shown = new Set(run.scene.shown);
    this.time = this.replay.start;
    this.playing = false;
    this.chosen = run.view.follow;
    this.following = run.view.follow >= 0;
    this.framesDrawn = 0;
    this.stale = true;
    this.addClosures();
    this.fillPanel();
    this.fillLoops();
    this.listen();
    this.chart = new Chart($("chart"), run.times, (t) => { this.seek(t); });
    this.plotted = run.signals.length && run.times.length > 1 ? run.plotted.map((i) => run.signals[i]) : [];
    this.showCurves();
    this.choose(this.chosen);
    this.seek(this.time);
    requestAnimationFrame((now) => this.tick(now));
  }

  /** Lines and arrows of loops, if there are any. */
  addClosures() {
    if (!this.run.closures) return;
    const { renderer } = this;
    this.closures = new Closures(this.run);
    this.moving = { line: renderer.moving("loops", "cylinder") };
    if (this.closures.wrenches) Object.assign(this.moving, { shaft: renderer.moving("wrenches", "cylinder"), cone: renderer.moving("wrenches", "cone") });
  }

  // ---- panel ------------------------------------------------------------------------------

  fillPanel() {
    const { run } = this, moving = run.times.length > 1;
    $("title").textContent = run.title;
    $("about").textContent = run.about;
    $("player").hidden = $("plots").hidden = !moving;
    if (!moving) { $("player").style.display = $("plots").style.display = "none"; $("trail").parentElement.style.display = "none"; }
    const layers = Object.keys(LAYER_WORDS).filter((layer) => layer === "floor" || this.renderer.batches.some((batch) => batch.layer === layer));
    for (const layer of layers) {
      const label = document.createElement("label"), box = document.createElement("input");
      Object.assign(box, { type: "checkbox", checked: this.shown.has(layer), id: "layer-" + layer });
      box.onchange = () => { this.shown[box.checked ? "add" : "delete"](layer); this.stale = true; };
      label.append(box, " " + LAYER_WORDS[layer]);
      $("layers").append(label);
    }
    for (const speed of SPEEDS) $("speed").append(new Option(speed + " ×", speed, speed === 1, speed === 1));
    run.bodies.forEach((body, k) => {
      const row = document.createElement("li"), dot = document.createElement("i"), joint = document.createElement("small");
      dot.style.background = body.colour;
      joint.textContent = body.joint;
      row.style.paddingLeft = 8 + 14 * Math.min(body.depth, 12) + "px";
      row.append(dot, body.name, joint);
      row.onclick = () => this.choose(this.chosen === k ? -1 : k);
      $("tree").append(row);
    });
    for (const signal of run.signals) $("channels").append(new Option(signal.name));
  }

  /** Loops and couplings beside the tree; a click marks one, and the bodies that it joins. */
  fillLoops() {
    const { rows, notes } = this.run.loops, { force, moment } = this.closures ?? {};
    $("loops").hidden = !rows.length;
    rows.forEach((loop) => {
      const row = document.createElement("li"), dot = document.createElement("i"), words = document.createElement("small");
      if (loop.colour) dot.style.background = loop.colour; else dot.className = "none";
      words.textContent = `${loop.what} · ${loop.of}`;
      row.title = `${loop.name}: ${words.textContent}`;
      row.append(dot, loop.name, words);
      row.onclick = () => this.markLoop(row, loop);
      $("closings").append(row);
    });
    const scale = [[force, "N", "orange"], [moment, "N·m", "violet"]].filter(([size]) => size).map(([size, unit_, colour]) => `${short(size)} ${unit_} (${colour})`);
    if (scale.length) notes.unshift(`long arrows: ${scale.join(", ")}, on the second body`);
    $("loop-notes").replaceChildren(...notes.map((note) => Object.assign(document.createElement("p"), { textContent: note })));
  }

  markLoop(row, loop) {
    const again = row.classList.contains("chosen");
    for (const marked of document.querySelectorAll("#closings .chosen")) marked.classList.remove("chosen");
    for (const marked of document.querySelectorAll("#tree .end")) marked.classList.remove("end");
    if (again) return;
    row.classList.add("chosen");
    for (const k of loop.bodies) $("tree").children[k]?.classList.add("end");
  }

  showCurves() {
    this.chart.show(this.plotted);
    $("curves").replaceChildren(...this.chart.curves.map((curve, i) => {
      const button = document.createElement("button"), dot = document.createElement("i");
      dot.style.background = curve.colour;
      curve.text = document.createElement("span");
      button.title = "remove this curve";
      button.append(dot, curve.text);
      button.onclick = () => { this.plotted = this.plotted.filter((_, j) => j !== i); this.showCurves(); this.seek(this.time); };
      return button;
    }));
  }

  addCurve(name) {
    const signal = this.run.signals.find((one) => one.name === name);
    if (!signal || this.plotted.includes(signal)) return;
    this.plotted = [...this.plotted, signal].slice(-MOST_CURVES);
    $("channel").value = "";
    this.showCurves();
    this.seek(this.time);
  }

  choose(k) {
    $("tree").children[this.chosen]?.classList.remove("chosen");
    this.chosen = k;
    $("tree").children[k]?.classList.add("chosen");
    if (k < 0) { this.following = false; this.shown.delete("trail"); }
    this.renderer.setTrail(k < 0 ? null : this.replay.path(k));
    for (const id of ["follow", "trail"]) $(id).disabled = k < 0;
    $("follow").checked = this.following;
    $("trail").checked = this.shown.has("trail");
    this.stale = true;
  }

  // ---- time -------------------------------------------------------------------------------

  seek(t) {
    this.time = Math.min(Math.max(t, this.replay.start), this.replay.end);
    const { start, end } = this.replay, frame = this.replay.frame(this.time);
    $("scrub").value = end > start ? (this.time - start) / (end - start) : 0;
    $("clock").textContent = `${this.time.toFixed(this.run.digits)} / ${end.toFixed(this.run.digits)} s`;
    this.chart.cursor(this.time);
    for (const curve of this.chart.curves) curve.text.textContent = `${curve.name} ${short(curve.values[frame])}${curve.unit ? " " + curve.unit : ""}`;
    this.stale = true;
  }

  play(on = !this.playing) {
    if (this.replay.end <= this.replay.start) return;
    if (on && this.time >= this.replay.end) this.seek(this.replay.start);
    this.playing = on;
    $("play").textContent = on ? "❚❚" : "▶";
    $("play").setAttribute("aria-label", on ? "pause" : "play");
  }

  step(frames) {
    this.play(false);
    const { times } = this.run, i = this.replay.frame(this.time) + frames;
    this.seek(times[Math.min(Math.max(i, 0), times.length - 1)]);
  }

  tick(now) {
    const passed = Math.min((now - (this.before ?? now)) / 1000, 0.25);
    this.before = now;
    if (this.playing) this.renderer.keepUp(passed);
    if (this.playing) {
      let t = this.time + passed * Number($("speed").value);
      if (t > this.replay.end) { if ($("loop").checked) t = this.replay.start; else this.play(false); }
      this.seek(t);
    }
    if (this.stale) this.draw();
    requestAnimationFrame((next) => this.tick(next));
  }

  draw() {
    const { renderer, replay, view } = this;
    replay.poses(this.time, renderer.poses);
    if (this.following && this.chosen >= 0) view.target = replay.centre(this.chosen, renderer.poses);
    this.moveClosures();
    const { azimuth: a, elevation: e, distance: d } = view;
    view.eye = add(view.target, [d * Math.cos(e) * Math.cos(a), d * Math.cos(e) * Math.sin(a), d * Math.sin(e)]);
    renderer.draw(view, this.shown, this.chosen, replay.frame(this.time));
    this.framesDrawn += 1;
    this.stale = false;
  }

  moveClosures() {
    if (!this.closures) return;
    const { closures, moving, renderer, replay } = this;
    const counts = closures.fill(renderer.poses, replay.between(this.time), this.shown.has("wrenches"));
    for (const name of Object.keys(moving)) renderer.fill(moving[name], closures.rows[name], counts[name]);
  }

  // ---- controls ---------------------------------------------------------------------------

  listen() {
    const canvas = $("scene");
    $("play").onclick = () => this.play();
    $("scrub").oninput = () => { this.play(false); this.seek(this.replay.start + $("scrub").valueAsNumber * (this.replay.end - this.replay.start)); };
    $("follow").onchange = () => { this.following = $("follow").checked; this.stale = true; };
    $("trail").onchange = () => { this.shown[$("trail").checked ? "add" : "delete"]("trail"); this.stale = true; };
    $("channel").oninput = () => this.addCurve($("channel").value);
    $("filter").oninput = () => {
      const text = $("filter").value.toLowerCase();
      this.run.bodies.forEach((body, k) => { $("tree").children[k].hidden = !body.name.toLowerCase().includes(text); });
      this.run.loops.rows.forEach((loop, k) => { $("closings").children[k].hidden = !`${loop.name} ${loop.of}`.toLowerCase().includes(text); });
    };
    canvas.oncontextmenu = (event) => event.preventDefault();
    canvas.onpointerdown = (event) => canvas.setPointerCapture(event.pointerId);
    canvas.onpointermove = (event) => { if (event.buttons) this.drag(event); };
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.view.distance *= Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY * 0.0015)));
      this.stale = true;
    }, { passive: false });
    window.addEventListener("resize", () => { this.chart.layout(); this.stale = true; });
    window.addEventListener("keydown", (event) => this.key(event));
  }

  drag(event) {
    const { view } = this;
    if (event.shiftKey || event.buttons & 6) {
      const { right, up } = eyeAxes(view.eye, view.target);
      const metres = 2 * view.distance * Math.tan(view.fieldOfView / 2) / Math.min($("scene").clientHeight, $("scene").clientWidth);
      view.target = add(add(view.target, right, -event.movementX * metres), up, event.movementY * metres);
      this.following = $("follow").checked = false;
    } else {
      view.azimuth -= event.movementX * 0.008;
      view.elevation = Math.min(Math.max(view.elevation + event.movementY * 0.008, -1.55), 1.55);
    }
    this.stale = true;
  }

  key(event) {
    if (["INPUT", "SELECT"].includes(event.target.tagName) && event.target.type !== "range" && event.target.type !== "checkbox") return;
    const act = {
      " ": () => this.play(), ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1),
      Home: () => this.seek(this.replay.start), End: () => this.seek(this.replay.end),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

unpacked().then((run) => { window.skodyn = new Player(run); }).catch((error) => {
  $("message").hidden = false;
  $("message").textContent = error.message;
  throw error;
});
