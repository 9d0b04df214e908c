// The directions of the world's axes in a corner, and a bar as long as some round length.

const AXES = [["x", "#D04A35"], ["y", "#3F9E4D"], ["z", "#2F6FD0"]];
const REACH = 32;

class Compass {
  /** upright: the turn from world axes to those of the picture. */
  constructor(upright) {
    this.svg = $("compass");
    this.axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((axis) => rotated(...upright, axis));
    const make = (tag, colour) => {
      const made = document.createElementNS(this.svg.namespaceURI, tag);
      made.setAttribute(tag === "text" ? "fill" : "stroke", colour);
      return made;
    };
    this.parts = AXES.map(([name, colour]) => {
      const line = make("line", colour), text = make("text", colour);
      text.textContent = name;
      return { line, text };
    });
  }

  show(on) { this.svg.style.display = $("scale").style.display = on ? "" : "none"; }

  draw(view, pixels) {
    const { right, up, back } = eyeAxes(view.eye, view.target);
    const seen = this.axes.map((axis, i) => ({ x: REACH * dot(axis, right), y: -REACH * dot(axis, up), far: -dot(axis, back), ...this.parts[i] }));
    seen.sort((a, b) => b.far - a.far);
    for (const { x, y, far, line, text } of seen) {
      for (const [key, value] of [["x1", 0], ["y1", 0], ["x2", x], ["y2", y], ["opacity", far > 0.3 ? 0.55 : 1]]) line.setAttribute(key, value);
      const away = Math.hypot(x, y) || 1, beyond = (away + 9) / away;
      text.setAttribute("x", x * beyond);
      text.setAttribute("y", away < 3 ? -9 : y * beyond);
      this.svg.append(line, text);
    }
    const metre = pixels / (2 * view.distance * Math.tan(view.fieldOfView / 2));
    const power = 10 ** Math.floor(Math.log10(110 / metre));
    const length = [5, 2, 1].map((m) => m * power).find((m) => m * metre <= 110) ?? power;
    $("scale").firstElementChild.style.width = length * metre + "px";
    $("scale").lastElementChild.textContent = length >= 1000 ? `${short(length / 1000)} km` : length >= 1 ? `${short(length)} m` : length >= 0.01 ? `${short(length * 100)} cm` : length >= 0.001 ? `${short(length * 1000)} mm` : `${short(length * 1e6)} µm`;
  }
}
