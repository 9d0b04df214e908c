// The page: reads the run that is embedded in it, then ties controls, picture and plot together.

const SPEEDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10];
const MOST_CURVES = 6;

async function unpacked() {
  const bytes = Uint8Array.from(atob($("blob").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const types = { f4: Float32Array, f8: Float64Array, i2: Int16Array, u1: Uint8Array, u4: Uint32Array };
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
    this.camera = new Camera(run.view, run.reaches);
    this.compass = new Compass(run.view.upright);
    this.shown = new Set(run.scene.shown);
    this.time = this.replay.start;
    this.playing = false;
    this.chosen = run.view.follow;
    this.following = run.view.follow >= 0;
    this.framesDrawn = 0;
    this.addMoving();
    this.fillPanel();
    this.chart = new Chart($("chart"), run.times, (t) => { this.seek(t); });
    this.theme = new Theme(({ colours }) => { this.renderer.theme = colours; this.stale = true; if (this.chart.strips) this.chart.layout(); });
    this.listen();
    this.plotted = run.signals.length && run.times.length > 1 ? run.plotted.map((i) => run.signals[i]) : [];
    this.showCurves();
    if (run.live) this.live = new Live(this);
    if (run.joints) this.joints = new Joints(run, () => { this.stale = true; });
    this.choose(this.chosen);
    this.seek(this.time);
    requestAnimationFrame((now) => this.tick(now));
  }

  get view() { return this.camera.view; }

  /** What is made anew for each frame: lines and arrows of loops, and other arrows. */
  addMoving() {
    const { renderer, run } = this;
    if (run.bent) this.bent = renderer.bent = new Bent(run, renderer);
    if (run.arrows.length) this.arrows = new Arrows(run, renderer);
    if (!run.closures) return;
    this.closures = new Closures(run);
    this.moving = { line: renderer.moving("loops", "cylinder") };
    if (this.closures.wrenches) Object.assign(this.moving, { shaft: renderer.moving("wrenches", "cylinder"), cone: renderer.moving("wrenches", "cone") });
  }

  fillPanel() {
    const { run } = this, moves = run.times.length > 1;
    fillHead(run);
    for (const id of ["player", "plots"]) $(id).hidden = !moves;
    $("trail").parentElement.hidden = $("keys").hidden = !moves;
    const layers = new Set(["floor", "compass", ...(this.bent ? ["bending", "deflection"] : []), ...this.renderer.batches.map((batch) => batch.layer)]);
    const legend = () => showLegend([...(this.bent?.legend(this.shown) ?? []), ...(this.arrows?.legend(this.shown) ?? [])]);
    fillLayers(layers, this.shown, () => { legend(); this.stale = true; });
    legend();
    for (const speed of SPEEDS) $("speed").append(new Option(speed + " ×", speed, speed === 1, speed === 1));
    fillTree(run.bodies, (k) => this.choose(this.chosen === k ? -1 : k));
    fillLoops(run.loops, this.closures ?? {});
    for (const signal of run.signals) $("channels").append(new Option(signal.name));
  }

  showCurves() {
    this.chart.show(this.plotted);
    $("curves").replaceChildren(...this.chart.curves.map((curve, i) => {
      const button = element("button"), dot_ = element("i");
      dot_.style.background = curve.colour;
      curve.text = element("span");
      button.title = "remove this curve";
      button.append(dot_, curve.text);
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
    if (k < 0) this.shown.delete("trail");
    this.renderer.setTrail(k < 0 ? null : this.replay.path(k));
    $("trail").disabled = k < 0;
    $("follow").checked = this.following;
    $("trail").checked = this.shown.has("trail");
    this.stale = true;
  }

  follow(on) {
    this.following = $("follow").checked = on;
    this.camera.close = false;
    this.stale = true;
  }

  reset() {
    this.camera.reset();
    this.follow(this.run.view.follow >= 0);
    this.choose(this.run.view.follow);
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
    if (this.live) { this.live.toggle(); return; }
    if (this.replay.end <= this.replay.start) return;
    if (on && this.time >= this.replay.end) this.seek(this.replay.start);
    this.playing = on;
    $("play").textContent = on ? "❚❚" : "▶";
    $("play").setAttribute("aria-label", on ? "pause" : "play");
  }

  step(frames) {
    if (this.live) return;
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
    const { renderer, replay, camera, shown } = this;
    if (this.live) this.live.poses(renderer.poses, replay);
    else if (this.joints) this.joints.poses(renderer.poses); else replay.poses(this.time, renderer.poses);
    if (this.following) this.followNow();
    camera.place(shown.has("floor"));
    this.fillMoving();
    renderer.draw(camera.view, shown, this.chosen, replay.frame(this.time));
    this.compass.show(shown.has("compass"));
    this.compass.draw(camera.view, Math.min($("scene").clientWidth, $("scene").clientHeight));
    showPose(this.chosen, renderer.poses, this.run.view.upright);
    this.framesDrawn += 1;
    this.stale = false;
  }

  followNow() {
    const { renderer, replay, run } = this, centres = run.bodies.map((_, k) => replay.centre(k, renderer.poses));
    const middle = centres.reduce((sum, centre, k) => add(sum, centre, run.bodies[k].share), [0, 0, 0]);
    this.camera.follow(this.chosen >= 0 ? centres[this.chosen] : middle, centres);
  }

  fillMoving() {
    const { closures, moving, renderer, replay } = this, when = replay.between(this.time);
    this.bent?.move(when, this.live ?? this.joints);
    this.live?.fill(renderer, this.run.scene.extent);
    this.arrows?.fill(renderer, renderer.poses, when, this.shown);
    if (!closures) return;
    const counts = closures.fill(renderer.poses, when, this.shown.has("wrenches"));
    for (const name of Object.keys(moving)) renderer.fill(moving[name], closures.rows[name], counts[name]);
  }

  // ---- controls ---------------------------------------------------------------------------

  listen() {
    $("play").onclick = () => this.play();
    $("reset").onclick = () => this.reset();
    $("theme").onclick = () => this.theme.toggle();
    $("scrub").oninput = () => { this.play(false); this.seek(this.replay.start + $("scrub").valueAsNumber * (this.replay.end - this.replay.start)); };
    $("follow").onchange = () => this.follow($("follow").checked);
    $("trail").onchange = () => { this.shown[$("trail").checked ? "add" : "delete"]("trail"); this.stale = true; };
    $("channel").oninput = () => this.addCurve($("channel").value);
    $("filter").oninput = () => {
      const text = $("filter").value.toLowerCase();
      this.run.bodies.forEach((body, k) => { $("tree").children[k].hidden = !body.name.toLowerCase().includes(text); });
      this.run.loops.rows.forEach((loop, k) => { $("closings").children[k].hidden = !`${loop.name} ${loop.of}`.toLowerCase().includes(text); });
    };
    listenToPointers($("scene"), this.camera, (shifted) => { if (shifted) this.following = $("follow").checked = false; this.stale = true; });
    window.addEventListener("resize", () => { this.chart.layout(); this.stale = true; });
    window.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (["INPUT", "SELECT"].includes(event.target.tagName) && event.target.type !== "range" && event.target.type !== "checkbox") return;
    if (event.target.closest?.("#sliders") || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      " ": () => this.play(), ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), r: () => this.reset(),
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
