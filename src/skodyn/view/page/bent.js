// Flexible bodies: surfaces whose corners the vertex shader moves by the shapes of their body.
// view/bent_shapes.py makes the same for films.

const WIDE = 2048; // texels in a row of the textures below

const BENT_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 rest;    // undeformed place of the station
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 arm;     // from the station
layout(location = 3) in float station;
uniform highp sampler2D poses, shapes, amounts;
uniform mat4 camera;
uniform float body, chosen, floorHeight, flat_, largest;
uniform int count, first, turns;
uniform vec3 light, colour;
uniform vec3 scale[5];
out vec3 facing, point, tint;
vec3 turned(vec4 q, vec3 x) { return x + 2.0 * cross(q.yzw, cross(q.yzw, x) + q.x * x); }
vec4 turnOf(vec3 v) {
  float angle = length(v);
  return vec4(cos(0.5 * angle), v * (angle > 1e-6 ? sin(0.5 * angle) / angle : 0.5));
}
vec3 deflectionColour(float share) {
  float x = 4.0 * clamp(share, 0.0, 1.0);
  int i = int(min(floor(x), 3.0));
  return mix(scale[i], scale[i + 1], x - float(i));
}
void main() {
  vec3 moved = vec3(0.0), spin = vec3(0.0);
  int wide = ${WIDE}, each = 1 + turns, at = int(station) * count * each;
  for (int n = 0; n < count; n++) {
    int a = first + n, m = at + n * each;
    float amount = texelFetch(amounts, ivec2(a % wide, a / wide), 0).x;
    moved += amount * texelFetch(shapes, ivec2(m % wide, m / wide), 0).xyz;
    if (turns > 0) spin += amount * texelFetch(shapes, ivec2((m + 1) % wide, (m + 1) / wide), 0).xyz;
  }
  vec4 section = turnOf(spin);
  int k = int(body) + 1;
  ivec2 here = ivec2(2 * (k % 256), k / 256);
  vec4 pose = texelFetch(poses, here + ivec2(1, 0), 0);
  point = texelFetch(poses, here, 0).xyz + turned(pose, rest + moved + turned(section, arm));
  facing = turns > 0 ? turned(pose, turned(section, normal)) : vec3(0.0); // zero: as the face lies
  tint = largest > 0.0 ? deflectionColour(length(moved) / largest) : colour;
  if (body == chosen) tint = mix(tint, vec3(1.0, 0.95, 0.55), 0.45);
  if (flat_ > 1.5) tint = vec3(mod(body + 1.0, 256.0), floor((body + 1.0) / 256.0), 0.0) / 255.0;
  else if (flat_ > 0.5) point -= light * (point.z - floorHeight) / light.z;
  gl_Position = camera * vec4(point, 1.0);
}`;

/** A floating-point texture of rows of WIDE texels, four numbers each. */
function texelTable(gl, numbers) {
  const rows = Math.max(1, Math.ceil(numbers.length / (4 * WIDE))), padded = new Float32Array(4 * WIDE * rows), texture = gl.createTexture();
  padded.set(numbers);
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, WIDE, rows, 0, gl.RGBA, gl.FLOAT, padded);
  for (const what of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, what, gl.NEAREST);
  return { texture, rows, numbers: padded };
}

/** Triples to texels. */
function inTexels(triples) {
  const made = new Float32Array(4 * triples.length / 3);
  for (let i = 0; 3 * i < triples.length; i++) made.set(triples.subarray(3 * i, 3 * i + 3), 4 * i);
  return made;
}

class Bent {
  constructor(run, renderer) {
    const { gl } = renderer;
    Object.assign(this, { gl, run, renderer, largest: run.bent.largest, scale: run.bent.scale, surfaces: run.bent.surfaces });
    this.program = renderer.program(BENT_VERTEX, FRAGMENT);
    let first = 0;
    for (const one of this.surfaces) {
      Object.assign(one, { first, table: texelTable(gl, inTexels(one.shapes)), array: this.upload(one), eta: new Float64Array(one.modes) });
      first += one.count;
    }
    this.amounts = texelTable(gl, new Float32Array(4 * first));
  }

  upload(one) {
    const { gl, renderer } = this, array = gl.createVertexArray(), corners = one.station.length, rest = new Float32Array(3 * corners);
    for (let i = 0; i < corners; i++) rest.set(one.stations.subarray(3 * one.station[i], 3 * one.station[i] + 3), 3 * i);
    gl.bindVertexArray(array);
    renderer.buffer(rest, 0, [3], false);
    renderer.buffer(one.normals, 1, [3], false);
    renderer.buffer(one.arms, 2, [3], false);
    renderer.buffer(Float32Array.from(one.station), 3, [1], false);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, one.triangles, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    return array;
  }

  /** Modes at a time: of the frames around it, or of sliders. */
  move({ i, j, s }, joints) {
    for (const one of this.surfaces) {
      for (let m = 0; m < one.modes; m++) one.eta[m] = joints ? joints.mode(one.body, m) * this.run.bent.exaggerate : (1 - s) * one.values[i * one.modes + m] + s * one.values[j * one.modes + m];
      shapeAmounts(one, one.eta).forEach((amount, n) => { this.amounts.numbers[4 * (one.first + n)] = amount; });
    }
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.amounts.texture);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, WIDE, this.amounts.rows, gl.RGBA, gl.FLOAT, this.amounts.numbers);
  }

  /** Draws with what the renderer told the other shapes. flat: 1 the shadow, 2 numbers of bodies. */
  draw(told, shown, flat) {
    if (!shown.has("bending")) return;
    const { gl } = this, u = this.program.uniform;
    gl.useProgram(this.program.program);
    told(u);
    gl.uniform1f(u.flat_, flat);
    gl.uniform3fv(u["scale[0]"], this.scale.flat());
    [["poses", this.renderer.texture], ["amounts", this.amounts.texture]].forEach(([name, texture], unit_) => this.bind(u[name], texture, unit_));
    for (const one of this.surfaces) {
      this.bind(u.shapes, one.table.texture, 2);
      gl.uniform1f(u.body, one.body);
      gl.uniform1f(u.largest, shown.has("deflection") ? this.largest || 1 : 0);
      gl.uniform1i(u.count, one.count);
      gl.uniform1i(u.first, one.first);
      gl.uniform1i(u.turns, one.turns ? 1 : 0);
      gl.uniform3fv(u.colour, one.colour);
      gl.bindVertexArray(one.array);
      gl.drawElements(gl.TRIANGLES, one.triangles.length, gl.UNSIGNED_INT, 0);
    }
    gl.bindVertexArray(null);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.renderer.texture);
    gl.useProgram(this.renderer.shapes.program);
  }

  bind(uniform, texture, unit_) {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0 + unit_);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.uniform1i(uniform, unit_);
  }

  legend(shown) {
    if (!shown.has("bending") || !shown.has("deflection") || !this.largest) return [];
    const [low, , , , high] = this.scale;
    return [{ text: "deflection:", keys: [{ word: "none", colour: low }, { word: `${short(this.largest / this.run.bent.exaggerate)} m`, colour: high }] }];
  }
}

/** How much there is of each shape: masters η, then slaves ½ ηᵀAη. */
function shapeAmounts({ modes, count, slaves }, eta) {
  const found = [...eta];
  for (let b = 0; b < count - modes; b++) {
    let sum = 0;
    for (let i = 0; i < modes; i++) for (let j = 0; j < modes; j++) sum += slaves[(b * modes + i) * modes + j] * eta[i] * eta[j];
    found.push(0.5 * sum);
  }
  return found;
}
