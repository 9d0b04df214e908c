// The panel beside the picture: layers, tree, loops, notes, the pose of the chosen body.

const LAYER_WORDS = { shapes: "shapes", inertia: "inertia ellipsoids", links: "links", joints: "joint axes", bending: "flexible bodies", deflection: "colour by deflection", loops: "closing joints", wrenches: "loop forces", contacts: "contact forces", collisions: "collision shapes", ground: "ground", velocities: "velocities", weights: "weights", forces: "forces", torques: "torques", springs: "springs", frames: "frames", floor: "floor", compass: "axes and scale" };

const element = (tag, text, more = {}) => Object.assign(document.createElement(tag), text === undefined ? more : { textContent: text, ...more });

function fillHead(run) {
  $("title").textContent = run.title;
  $("about").textContent = run.about;
  const { notes } = run;
  $("notes").hidden = !notes.length;
  $("notes").open = notes.length === 1 && notes[0].length < 90;
  $("notes").firstElementChild.textContent = notes.length === 1 ? "1 note" : `${notes.length} notes`;
  $("notes").lastElementChild.replaceChildren(...notes.map((note) => element("li", note)));
}

function fillLayers(layers, shown, changed) {
  for (const layer of Object.keys(LAYER_WORDS).filter((name) => layers.has(name))) {
    const label = element("label"), box = element("input", undefined, { type: "checkbox", checked: shown.has(layer), id: "layer-" + layer });
    box.onchange = () => { shown[box.checked ? "add" : "delete"](layer); changed(); };
    label.append(box, " " + LAYER_WORDS[layer]);
    $("layers").append(label);
  }
}

function fillTree(bodies, choose) {
  bodies.forEach((body, k) => {
    const row = element("li"), dot_ = element("i");
    dot_.style.background = body.colour;
    row.style.paddingLeft = 8 + 14 * Math.min(body.depth, 12) + "px";
    row.append(dot_, body.name, element("small", body.joint));
    row.onclick = () => choose(k);
    $("tree").append(row);
  });
}

/** Loops and couplings beside the tree; a click marks one, and the bodies that it joins. */
function fillLoops({ rows, notes }, { force, moment }) {
  $("loops").hidden = !rows.length;
  rows.forEach((loop) => {
    const row = element("li"), dot_ = element("i"), words = `${loop.what} · ${loop.of}`;
    if (loop.colour) dot_.style.background = loop.colour; else dot_.className = "none";
    row.title = `${loop.name}: ${words}`;
    row.append(dot_, loop.name, element("small", words));
    row.onclick = () => markLoop(row, loop);
    $("closings").append(row);
  });
  const scale = [[force, "N", "orange"], [moment, "N·m", "violet"]].filter(([size]) => size).map(([size, unit_, colour]) => `${short(size)} ${unit_} (${colour})`);
  if (scale.length) notes.unshift(`long arrows: ${scale.join(", ")}, on the second body`);
  $("loop-notes").replaceChildren(...notes.map((note) => element("p", note)));
}

function markLoop(row, loop) {
  const again = row.classList.contains("chosen");
  for (const marked of document.querySelectorAll("#closings .chosen")) marked.classList.remove("chosen");
  for (const marked of document.querySelectorAll("#tree .end")) marked.classList.remove("end");
  if (again) return;
  row.classList.add("chosen");
  for (const k of loop.bodies) $("tree").children[k]?.classList.add("end");
}

function showLegend(rows) {
  $("legend").hidden = !rows.length;
  const mark = (colour) => { const dot_ = element("i"); dot_.style.background = `rgb(${colour.map((c) => Math.round(255 * c))})`; return dot_; };
  $("legend").replaceChildren(...rows.flatMap(({ text, keys, colour }, n) => {
    const marks = keys.flatMap((key) => [" ", mark(key.colour), key.word]);
    return [...(n ? [element("br")] : []), ...(colour ? [mark(colour)] : []), text, ...marks];
  }));
}

/** Origin and quaternion of a body in world axes. upright: from world axes to the picture's. */
function showPose(body, poses, upright) {
  $("pose").hidden = body < 0;
  if (body < 0) return;
  const o = 8 * (body + 1), back = [upright[0], -upright[1], -upright[2], -upright[3]];
  const place = rotated(...back, [...poses.subarray(o, o + 3)]), turn = quaternionProduct(back, [...poses.subarray(o + 4, o + 8)]);
  const fixed = (x, digits) => (Math.abs(x) < 0.5 * 10 ** -digits ? 0 : x).toFixed(digits).replace("-", "−");
  const sign = turn[0] < 0 ? -1 : 1;
  $("pose").textContent = `origin x, y, z: ${place.map((x) => fixed(x, 4)).join(", ")} m\nturn w, x, y, z: ${turn.map((x) => fixed(sign * x, 3)).join(", ")}`;
}
