// Curves of chosen channels over time, one strip for each unit, with a cursor at the shown time.

const CURVES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
const STRIP = 104, LEFT = 52, RIGHT = 6, TOP = 14, BOTTOM = 4, FOOT = 16;

class Chart {
  constructor(canvas, times, onSeek) {
    Object.assign(this, { canvas, times, curves: [], still: document.createElement("canvas") });
    const seek = (event) => {
      const box = canvas.getBoundingClientRect(), share = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
      onSeek(times[0] + Math.min(Math.max(share, 0), 1) * (times[times.length - 1] - times[0]));
    };
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); seek(event); });
    canvas.addEventListener("pointermove", (event) => { if (event.buttons) seek(event); });
  }

  /** curves: {name, unit, values}; colours go by their order. */
  show(curves) {
    this.curves = curves.map((curve, i) => ({ ...curve, colour: CURVES[i % CURVES.length] }));
    const units = [...new Set(curves.map((curve) => curve.unit))];
    this.strips = units.map((unit) => ({ unit, curves: this.curves.filter((curve) => curve.unit === unit) }));
    this.layout();
  }

  layout() {
    const { canvas, still } = this, scale = window.devicePixelRatio || 1;
    canvas.style.height = (this.strips.length ? this.strips.length * STRIP + FOOT : 0) + "px";
    this.width = canvas.clientWidth;
    for (const c of [canvas, still]) { c.width = Math.round(this.width * scale); c.height = Math.round((this.strips.length * STRIP + FOOT) * scale); }
    const pen = still.getContext("2d");
    pen.scale(scale, scale);
    pen.font = "10.5px system-ui, 'DejaVu Sans', sans-serif";
    this.strips.forEach((strip, i) => this.drawStrip(pen, strip, i * STRIP));
    pen.fillStyle = cssColour("soft");
    pen.textBaseline = "top";
    const y = this.strips.length * STRIP + 1, [first, last] = [this.times[0], this.times[this.times.length - 1]];
    pen.textAlign = "left"; pen.fillText(short(first) + " s", LEFT, y);
    pen.textAlign = "right"; pen.fillText(short(last) + " s", this.width - RIGHT, y);
    this.cursor(this.now ?? first);
  }

  x(t) {
    const [first, last] = [this.times[0], this.times[this.times.length - 1]];
    return LEFT + (this.width - LEFT - RIGHT) * (last > first ? (t - first) / (last - first) : 0);
  }

  drawStrip(pen, strip, top) {
    let low = Infinity, high = -Infinity;
    for (const { values } of strip.curves) for (const v of values) if (isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
    if (!(high > low)) { const v = isFinite(low) ? low : 0, d = Math.abs(v) || 1; low = v - d / 2; high = v + d / 2; }
    const y = (v) => top + TOP + (STRIP - TOP - BOTTOM) * (1 - (v - low) / (high - low));
    pen.strokeStyle = cssColour("line"); pen.lineWidth = 1;
    pen.strokeRect(LEFT + .5, top + TOP + .5, this.width - LEFT - RIGHT - 1, STRIP - TOP - BOTTOM - 1);
    if (low < 0 && high > 0) { pen.beginPath(); pen.moveTo(LEFT, y(0)); pen.lineTo(this.width - RIGHT, y(0)); pen.stroke(); }
    pen.fillStyle = cssColour("soft"); pen.textAlign = "right";
    pen.textBaseline = "top"; pen.fillText(short(high), LEFT - 5, y(high));
    pen.textBaseline = "bottom"; pen.fillText(short(low), LEFT - 5, y(low));
    pen.textAlign = "left"; pen.textBaseline = "top"; pen.fillText(strip.unit ? "in " + strip.unit : "no unit", LEFT, top);
    for (const { values, colour } of strip.curves) {
      pen.strokeStyle = colour; pen.lineWidth = 1.4; pen.beginPath();
      values.forEach((v, i) => { if (isFinite(v)) pen.lineTo(this.x(this.times[i]), y(v)); });
      pen.stroke();
    }
  }

  cursor(t) {
    this.now = t;
    if (!this.strips?.length) return;
    const pen = this.canvas.getContext("2d"), scale = this.canvas.width / this.width;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.drawImage(this.still, 0, 0);
    pen.scale(scale, scale);
    pen.fillStyle = cssColour("ink");
    this.strips.forEach((_, i) => pen.fillRect(this.x(t) - .5, i * STRIP + TOP, 1, STRIP - TOP - BOTTOM));
  }
}

/** A number in few characters. */
function short(x) {
  if (!isFinite(x)) return "–";
  const size = Math.abs(x);
  return size !== 0 && (size >= 1e5 || size < 1e-3) ? x.toExponential(1).replace("-", "−") : String(Number(x.toPrecision(3))).replace("-", "−");
}
