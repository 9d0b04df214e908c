// Draws the scene with WebGL 2: every shape of one mesh and layer is one instanced call, whatever
// the number of bodies. Poses reach the shaders as a small texture.

const VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 vertex;
layout(location = 1) in vec3 normal;
layout(location = 2) in float body;
layout(location = 3) in vec3 place;
layout(location = 4) in vec4 turn;
layout(location = 5) in vec3 stretch;
layout(location = 6) in vec3 colour;
layout(location = 7) in vec3 paint; // a mesh file's own colours, else white
uniform highp sampler2D poses;
uniform mat4 camera;
uniform float chosen, floorHeight, flat_;
uniform vec3 light;
out vec3 facing, point, tint;
vec3 turned(vec4 q, vec3 x) { return x + 2.0 * cross(q.yzw, cross(q.yzw, x) + q.x * x); }
void main() {
  int k = int(body) + 1;
  ivec2 at = ivec2(2 * (k % 256), k / 256);
  vec3 origin = texelFetch(poses, at, 0).xyz;
  vec4 pose = texelFetch(poses, at + ivec2(1, 0), 0);
  point = origin + turned(pose, place + turned(turn, vertex * stretch));
  facing = turned(pose, turned(turn, normal / stretch));
  tint = colour * paint;
  if (body == chosen) tint = mix(tint, vec3(1.0, 0.95, 0.55), 0.45);
  if (flat_ > 1.5) tint = vec3(mod(body + 1.0, 256.0), floor((body + 1.0) / 256.0), 0.0) / 255.0;
  else if (flat_ > 0.5) point -= light * (point.z - floorHeight) / light.z;
  gl_Position = camera * vec4(point, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec3 facing, point, tint;
uniform vec3 light, eye;
uniform float flat_;
uniform vec4 shadow;
out vec4 shade;
void main() {
  if (flat_ > 0.5) { shade = flat_ > 1.5 ? vec4(tint, 1.0) : shadow; return; }
  vec3 view = normalize(eye - point), n = facing;
  bool lies = dot(n, n) < 1e-12; // no normal of its own: that of the face
  if (lies) n = cross(dFdx(point), dFdy(point));
  n = normalize(n);
  if (lies ? dot(n, view) < 0.0 : !gl_FrontFacing) n = -n;
  float sun = max(dot(n, light), 0.0), sky = 0.5 + 0.5 * n.z;
  float shine = pow(max(dot(n, normalize(light + view)), 0.0), 40.0);
  float rim = pow(1.0 - max(dot(n, view), 0.0), 3.0);
  vec3 c = tint * (0.28 + 0.24 * sky + 0.42 * sun + 0.22 * max(dot(n, view), 0.0)) + 0.16 * shine;
  shade = vec4(mix(c, vec3(0.92, 0.94, 0.97), 0.16 * rim), 1.0);
}`;

const FLOOR_VERTEX = `#version 300 es
precision highp float;
uniform mat4 camera;
uniform vec4 place; // centre, half width
uniform float floorHeight;
out vec2 point;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  point = place.xy + corner * place.w;
  gl_Position = camera * vec4(point, floorHeight, 1.0);
}`;

const FLOOR_FRAGMENT = `#version 300 es
precision highp float;
in vec2 point;
uniform vec4 place;
uniform float cell;
uniform vec3 plain, lines;
out vec4 shade;
float line(float width) {
  vec2 a = abs(fract(point / width - 0.5) - 0.5) / fwidth(point / width);
  return 1.0 - min(min(a.x, a.y), 1.0);
}
void main() {
  float fade = 1.0 - smoothstep(0.35, 1.0, length(point - place.xy) / place.w);
  float ink = max(0.30 * line(cell), 0.55 * line(5.0 * cell));
  shade = vec4(mix(plain, lines, ink), fade * 0.9);
}`;

const SKY_VERTEX = `#version 300 es
precision highp float;
uniform vec3 right, up, ahead; // as long as half the picture is wide and high, one unit ahead
out vec3 ray;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
  ray = ahead + corner.x * right + corner.y * up;
  gl_Position = vec4(corner, 0.0, 1.0);
}`;

const SKY_FRAGMENT = `#version 300 es
precision highp float;
in vec3 ray;
uniform vec3 top, low, ground;
out vec4 shade;
void main() {
  float rise = normalize(ray).z, soft = fwidth(rise);
  vec3 sky = mix(low, top, smoothstep(0.0, 0.6, rise)), below = mix(ground, low, 0.35 * exp(8.0 * rise));
  shade = vec4(mix(below, sky, smoothstep(-soft, soft, rise)), 1.0);
}`;

const TRAIL_VERTEX = `#version 300 es
layout(location = 0) in vec3 vertex;
uniform mat4 camera;
uniform float newest, length_;
out float age;
void main() {
  age = (newest - float(gl_VertexID)) / length_;
  gl_Position = camera * vec4(vertex, 1.0);
}`;

const TRAIL_FRAGMENT = `#version 300 es
precision highp float;
in float age;
out vec4 shade;
void main() { shade = vec4(0.84, 0.37, 0.0, 1.0 - 0.85 * clamp(age, 0.0, 1.0)); }`;

const LIGHT = unit([-0.35, -0.55, 1.0]);
const ARROWS = ["wrenches", "contacts", "velocities", "weights", "forces", "torques", "springs"];

class Renderer {
  constructor(canvas, scene, bodies) {
    const gl = canvas.getContext("webgl2", { antialias: true, stencil: true, alpha: false });
    if (!gl) throw new Error("This browser has no WebGL 2, which the viewer draws with.");
    this.gl = gl;
    this.canvas = canvas;
    this.extent = scene.extent;
    this.meshes = scene.meshes;
    this.shapes = this.program(VERTEX, FRAGMENT);
    this.floor = this.program(FLOOR_VERTEX, FLOOR_FRAGMENT);
    this.line = this.program(TRAIL_VERTEX, TRAIL_FRAGMENT);
    this.sky = this.program(SKY_VERTEX, SKY_FRAGMENT);
    this.nothing = gl.createVertexArray();
    this.batches = scene.batches.map((batch) => this.batch(batch, scene.meshes[batch.mesh]));
    this.rows = Math.ceil((bodies + 1) / 256);
    this.poses = new Float32Array(this.rows * 512 * 4);
    this.poses[4] = 1; // the ground does not turn
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, 512, this.rows, 0, gl.RGBA, gl.FLOAT, this.poses);
    for (const what of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, what, gl.NEAREST);
  }

  program(vertex, fragment) {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error("The viewer's shaders do not compile here: " + gl.getProgramInfoLog(program));
    const uniform = {};
    for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
      const { name } = gl.getActiveUniform(program, i);
      uniform[name] = gl.getUniformLocation(program, name);
    }
    return { program, uniform };
  }

  buffer(data, location, sizes, instanced) {
    const gl = this.gl, stride = 4 * sizes.reduce((a, b) => a + b), made = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, made);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    let offset = 0;
    sizes.forEach((size, i) => {
      gl.enableVertexAttribArray(location + i);
      gl.vertexAttribPointer(location + i, size, gl.FLOAT, false, stride, offset);
      if (instanced) gl.vertexAttribDivisor(location + i, 1);
      offset += 4 * size;
    });
    return made;
  }

  batch({ layer, instances, count }, mesh) {
    const gl = this.gl, array = gl.createVertexArray();
    gl.bindVertexArray(array);
    this.buffer(mesh.vertices, 0, [3], false);
    this.buffer(mesh.normals, 1, [3], false);
    if (mesh.colours) this.buffer(mesh.colours, 7, [3], false);
    const rows = this.buffer(instances, 2, [1, 3, 4, 3, 3], true);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, mesh.triangles, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    return { layer, array, count, rows, corners: mesh.triangles.length };
  }

  /** A batch of shapes that belong to no body; `fill` says what they are, frame by frame. */
  moving(layer, mesh) {
    this.batches.push(this.batch({ layer, instances: new Float32Array(14), count: 0 }, this.meshes[mesh]));
    return this.batches.at(-1);
  }

  fill(batch, instances, count) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, batch.rows);
    gl.bufferData(gl.ARRAY_BUFFER, instances.subarray(0, 14 * count), gl.DYNAMIC_DRAW);
    batch.count = count;
  }

  /** The points of a trail, three numbers each; null for none. */
  setTrail(points) {
    const gl = this.gl;
    this.trail = points && { array: gl.createVertexArray(), count: points.length / 3 };
    if (!points) return;
    gl.bindVertexArray(this.trail.array);
    this.buffer(points, 0, [3], false);
    gl.bindVertexArray(null);
  }

  /** Without a graphics card pixels are what costs: after a second of slow frames, draw fewer. */
  keepUp(seconds) {
    this.slow = seconds > 0.06 ? (this.slow ?? 0) + seconds : 0;
    if (this.slow > 1) this.coarse = 2;
  }

  resize() {
    const scale = Math.min(window.devicePixelRatio || 1, 2) / (this.coarse ?? 1), { canvas } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((x) => Math.max(1, Math.round(x * scale)));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  }

  /** view: eye, target, fieldOfView, floor; what: Set of layers, "floor" among them. */
  draw(view, what, chosen, newest) {
    const gl = this.gl, { theme } = this;
    this.resize();
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...theme.plain, 1);
    gl.clearStencil(0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 512, this.rows, gl.RGBA, gl.FLOAT, this.poses);
    const distance = Math.hypot(...add(view.eye, view.target, -1));
    const camera = cameraMatrix(view.eye, view.target, view.fieldOfView, this.canvas.width / this.canvas.height, distance / 100, distance * 30 + 30 * this.extent);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    const onFloor = what.has("floor") && view.eye[2] > view.floor;
    if (what.has("floor")) this.drawSky(view);
    if (onFloor) this.drawFloor(view, camera, distance);
    gl.useProgram(this.shapes.program);
    const u = this.shapes.uniform;
    this.told = (uniform) => {
      gl.uniformMatrix4fv(uniform.camera, false, camera);
      gl.uniform3fv(uniform.light, LIGHT);
      gl.uniform3fv(uniform.eye, view.eye);
      gl.uniform1f(uniform.chosen, chosen < 0 ? -2 : chosen); // the ground is −1
      gl.uniform1f(uniform.floorHeight, view.floor);
      gl.uniform4fv(uniform.shadow, theme.shadow);
    };
    this.told(u);
    gl.vertexAttrib3f(7, 1, 1, 1);
    if (onFloor) this.drawShadows(what);
    gl.enable(gl.DEPTH_TEST);
    gl.uniform1f(u.flat_, 0);
    const arrows = new Set(ARROWS.filter((layer) => what.has(layer)));
    this.drawBatches(new Set([...what].filter((layer) => !arrows.has(layer))));
    this.bent?.draw(this.told, what, 0);
    gl.depthRange(0, 0.001); // arrows are not hidden by what they act on
    this.drawBatches(arrows);
    gl.depthRange(0, 1);
    if (what.has("trail") && this.trail && newest >= 1) this.drawTrail(camera, newest);
    gl.disable(gl.DEPTH_TEST);
  }

  drawBatches(what) {
    const gl = this.gl;
    for (const { layer, array, count, corners } of this.batches) {
      if (!what.has(layer) || !count) continue;
      gl.bindVertexArray(array);
      gl.drawElementsInstanced(gl.TRIANGLES, corners, gl.UNSIGNED_INT, 0, count);
    }
    gl.bindVertexArray(null);
  }

  /** The body at a place of the last picture, in parts of its width and height; −1 for none. Bodies
      are drawn in colours that are their numbers, until the next picture. */
  pick(x, y, view, what) {
    const gl = this.gl, pixel = new Uint8Array(4), bodies = new Set([...what].filter((layer) => !ARROWS.includes(layer) && layer !== "ground"));
    gl.clearColor(0, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.useProgram(this.shapes.program);
    gl.uniform1f(this.shapes.uniform.flat_, 2);
    this.drawBatches(bodies);
    this.bent?.draw(this.told, bodies, 2);
    gl.readPixels(Math.floor(x * this.canvas.width), Math.floor((1 - y) * this.canvas.height), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    gl.disable(gl.DEPTH_TEST);
    return pixel[0] + 256 * pixel[1] - 1;
  }

  /** Once per pixel, whatever lies above it: that is what the stencil is for. */
  drawShadows(what) {
    const gl = this.gl;
    gl.uniform1f(this.shapes.uniform.flat_, 1);
    gl.enable(gl.BLEND);
    gl.enable(gl.STENCIL_TEST);
    gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    const small = this.rows > 1 && what.has("links"); // of a long chain, links cast all the shadow
    this.drawBatches(small ? new Set(["links"]) : new Set([...what].filter((layer) => !["frames", "ground", ...ARROWS].includes(layer))));
    this.bent?.draw(this.told, what, 1);
    gl.disable(gl.STENCIL_TEST);
    gl.disable(gl.BLEND);
  }

  /** Sky above the horizon, ground below it. */
  drawSky(view) {
    const gl = this.gl, { program, uniform } = this.sky, { width, height } = this.canvas;
    const { right, up, back } = eyeAxes(view.eye, view.target), half = Math.tan(view.fieldOfView / 2), least = Math.min(width, height);
    gl.useProgram(program);
    gl.uniform3fv(uniform.right, right.map((x) => x * half * width / least));
    gl.uniform3fv(uniform.up, up.map((x) => x * half * height / least));
    gl.uniform3fv(uniform.ahead, back.map((x) => -x));
    for (const name of ["top", "low", "ground"]) gl.uniform3fv(uniform[name], this.theme[name]);
    gl.bindVertexArray(this.nothing);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  drawFloor(view, camera, distance) {
    const gl = this.gl, { program, uniform } = this.floor;
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.uniformMatrix4fv(uniform.camera, false, camera);
    gl.uniform4f(uniform.place, view.target[0], view.target[1], 0, 3 * distance);
    gl.uniform1f(uniform.floorHeight, view.floor);
    gl.uniform1f(uniform.cell, view.cell);
    gl.uniform3fv(uniform.plain, this.theme.floor);
    gl.uniform3fv(uniform.lines, this.theme.lines);
    gl.bindVertexArray(this.nothing);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.disable(gl.BLEND);
  }

  drawTrail(camera, newest) {
    const gl = this.gl, { program, uniform } = this.line;
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.uniformMatrix4fv(uniform.camera, false, camera);
    gl.uniform1f(uniform.newest, newest);
    gl.uniform1f(uniform.length_, Math.max(this.trail.count / 3, 2));
    gl.bindVertexArray(this.trail.array);
    gl.drawArrays(gl.LINE_STRIP, 0, Math.min(newest + 1, this.trail.count));
    gl.bindVertexArray(null);
    gl.disable(gl.BLEND);
  }
}
