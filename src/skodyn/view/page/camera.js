// The eye: where it stands, that it stays above the floor, that it keeps what it follows in sight.

const LOWEST = 0.03; // of the distance: how near to the floor the eye may come

class Camera {
  /** view: target, distance, azimuth, elevation, floor, fieldOfView of the first picture. */
  constructor(view, reaches) {
    this.first = view;
    this.reaches = reaches;
    this.view = { ...view };
  }

  reset() {
    this.view = { ...this.first };
    this.close = false;
  }

  turn(dx, dy) {
    this.view.azimuth -= dx * 0.008;
    this.view.elevation = Math.min(Math.max(this.view.elevation + dy * 0.008, -1.55), 1.55);
  }

  /** So many pixels, in a picture whose smaller side has `pixels`. */
  shift(dx, dy, pixels) {
    const { view } = this, { right, up } = eyeAxes(view.eye, view.target);
    const metres = 2 * view.distance * Math.tan(view.fieldOfView / 2) / pixels;
    view.target = add(add(view.target, right, -dx * metres), up, dy * metres);
  }

  zoom(factor) {
    this.view.distance *= factor;
    this.close = true; // who zooms decides what is in sight
  }

  /** Look at a point; back off as far as the whole needs. centres: of all bodies. */
  follow(target, centres) {
    const { view } = this;
    view.target = target;
    if (this.close) return;
    let reach = 0;
    centres.forEach((centre, k) => { reach = Math.max(reach, Math.hypot(...add(centre, target, -1)) + this.reaches[k]); });
    view.distance = Math.max(view.distance, 1.04 * reach / Math.sin(view.fieldOfView / 2));
  }

  /** Puts the eye where it belongs; above the floor, if there is one. */
  place(withFloor) {
    const { view } = this, { distance: d } = view;
    if (withFloor) {
      view.target = [view.target[0], view.target[1], Math.max(view.target[2], view.floor)];
      view.elevation = Math.max(view.elevation, Math.asin(Math.min(Math.max((view.floor + LOWEST * d - view.target[2]) / d, -1), 1)));
    }
    const { azimuth: a, elevation: e } = view;
    view.eye = add(view.target, [d * Math.cos(e) * Math.cos(a), d * Math.cos(e) * Math.sin(a), d * Math.sin(e)]);
  }
}

/** Pointers on the picture: one turns, two pinch and move, wheel zooms. */
function listenToPointers(canvas, camera, moved) {
  const down = new Map();
  const apart = () => { const [a, b] = [...down.values()]; return { size: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }; };
  const least = () => Math.min(canvas.clientHeight, canvas.clientWidth);
  canvas.oncontextmenu = (event) => event.preventDefault();
  canvas.onpointerdown = (event) => {
    try { canvas.setPointerCapture(event.pointerId); } catch { /* a pointer that is gone already */ }
    down.set(event.pointerId, { x: event.clientX, y: event.clientY });
  };
  canvas.onpointerup = canvas.onpointercancel = (event) => down.delete(event.pointerId);
  canvas.onpointermove = (event) => {
    const at = down.get(event.pointerId);
    if (!at) return;
    const dx = event.clientX - at.x, dy = event.clientY - at.y;
    if (down.size === 2) {
      const before = apart();
      Object.assign(at, { x: event.clientX, y: event.clientY });
      const after = apart();
      camera.zoom(before.size / Math.max(after.size, 1));
      camera.shift(after.x - before.x, after.y - before.y, least());
      moved(true);
      return;
    }
    Object.assign(at, { x: event.clientX, y: event.clientY });
    const shifts = event.shiftKey || event.buttons & 6;
    if (shifts) camera.shift(dx, dy, least()); else camera.turn(dx, dy);
    moved(shifts);
  };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    camera.zoom(Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY * 0.0015))));
    moved(false);
  }, { passive: false });
}
