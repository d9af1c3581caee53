// Viewer of a molecular structure in the report, drawn with WebGL 2 as cartoon, sticks or spheres.
//
// The page holds the structure as JSON in #structure-data, and canvas, note and buttons in #structure-view.
// Lengths are in nm. View coordinates: x to the right, y upward, z toward the reader; the projection is parallel.
(() => {
"use strict";

// Vectors are arrays of three numbers.
const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scale = (a, factor) => [a[0] * factor, a[1] * factor, a[2] * factor];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
const mix = (a, b, part) => a.map((value, k) => value + (b[k] - value) * part);
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

// Returns the unit vector along a, or null if a has no direction.
function unit(a) {
  const length = distance(a, [0, 0, 0]);
  return length > 1e-9 ? scale(a, 1 / length) : null;
}

// Returns a unit vector perpendicular to the unit vector a.
const perpendicular = (a) => unit(cross(a, Math.abs(a[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0]));
// Returns red, green and blue from 0 to 1 of a colour "#rrggbb".
const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);

// Van der Waals radius (nm) and colour of elements. The radii are those of Bondi (J. Phys. Chem. 68, 441, 1964) and
// Mantina et al. (J. Phys. Chem. A 113, 5806, 2009). The colours follow Corey, Pauling and Koltun, in tones that stand
// out from a light and from a dark page. Number 0 stands for all elements that are not listed.
const ELEMENTS = {
  0: [0.18, "#c860b4"], 1: [0.11, "#d2d2d2"], 3: [0.18, "#a35fd6"], 5: [0.19, "#d99a8c"], 6: [0.17, "#868686"],
  7: [0.155, "#3f6fdc"], 8: [0.152, "#dc3a2e"], 9: [0.147, "#5fb548"], 11: [0.227, "#a35fd6"], 12: [0.173, "#3f9a78"],
  15: [0.18, "#e58a1f"], 16: [0.18, "#d6ae12"], 17: [0.175, "#3fa63f"], 19: [0.275, "#8f4bc4"], 20: [0.231, "#3f9a78"],
  26: [0.2, "#c9652b"], 30: [0.2, "#7d82b4"], 35: [0.185, "#a4502f"], 53: [0.198, "#8f4bc4"],
};

// Radius of sticks, and longest bond that is drawn, nm. A longer one joins atoms at opposite faces of the cell.
const STICK_RADIUS = 0.018, LONGEST_BOND = 0.7;
// Part of the van der Waals radius that is drawn for an atom without bonds among sticks.
const LONE_ATOM_PART = 0.4;

// Cross-sections of ribbons: half width, half thickness (nm), exponent of the superellipse (1: ellipse, toward 0:
// rectangle). The colours are from the palette of Okabe and Ito, which readers with any colour vision can tell apart.
const LOOP = { section: [0.03, 0.03, 1], colour: rgb("#8c8c8c") };
const HELIX = { section: [0.13, 0.026, 0.7], colour: rgb("#d55e00") };
const STRAND = { section: [0.11, 0.026, 0.4], colour: rgb("#0072b2") };
const NUCLEIC = { section: [0.06, 0.06, 1], colour: rgb("#8c8c8c") };
const ARROW = [0.19, 0.026, 0.4];
const POINT = [0, 0, 1];
// Rings of a ribbon per residue, and vertices of a ring.
const RINGS = 8, RING_VERTICES = 16;
// Distance between neighbours above which a chain is nucleic, nm. C-alpha atoms are 0.38 apart, P or C4' more than 0.5.
const NUCLEIC_SPACING = 0.45;

// Smallest half width and half height of the initial view, and margin around the centres of atoms, nm.
const SMALLEST_HALF_EXTENT = 0.35, MARGIN = 0.2;

function decode(text, Type) {
  const bytes = Uint8Array.from(atob(text || ""), (character) => character.charCodeAt(0));
  return new Type(bytes.buffer, 0, Math.floor(bytes.length / Type.BYTES_PER_ELEMENT));
}

function readStructure(json) {
  const positions = Float32Array.from(decode(json.positions, Int16Array), (value) => value * json.scale);
  const count = Math.floor(positions.length / 3);
  const elements = decode(json.elements, Uint8Array);
  const pairs = decode(json.bonds, Uint32Array);
  const bonds = Array.from({ length: pairs.length >> 1 }, (_, k) => [pairs[2 * k], pairs[2 * k + 1]])
    .filter(([a, b]) => a < count && b < count);
  const chains = (json.chains || []).map((chain) => ({
    atoms: Array.from(decode(chain.atoms, Uint32Array)).filter((atom) => atom < count),
    kinds: kindsOf(chain.structure || ""),
  }));
  const position = (atom) => Array.from(positions.subarray(3 * atom, 3 * atom + 3));
  return { count, position, elements, bonds, chains, cell: json.cell };
}

// Returns the kind of each residue from DSSP letters. A bridge of one residue counts as loop.
function kindsOf(letters) {
  const isStrand = (letter) => letter === "E" || letter === "B";
  return Array.from(letters, (letter, i) => {
    if ("HGI".includes(letter)) return HELIX;
    return isStrand(letter) && (isStrand(letters[i - 1]) || isStrand(letters[i + 1])) ? STRAND : LOOP;
  });
}

// Returns the edges of the cell around the origin as pairs of points.
function cellEdges(cell) {
  if (!cell) return [];
  const part = (bits, axis) => ((bits >> axis) & 1) - 0.5;
  const corner = (bits) => cell.reduce((sum, vector, axis) => add(sum, scale(vector, part(bits, axis))), [0, 0, 0]);
  const edges = [];
  for (const axis of [1, 2, 4]) {
    for (let bits = 0; bits < 8; bits++) if (!(bits & axis)) edges.push([corner(bits), corner(bits | axis)]);
  }
  return edges;
}

// Returns the eigenvector of the largest eigenvalue of a covariance matrix. Repeated squares of the matrix approach the
// projection on this eigenvector. Null if the matrix is zero.
function mainAxis(matrix) {
  const indices = [0, 1, 2];
  let m = matrix;
  for (let round = 0; round < 40; round++) {
    const trace = m[0][0] + m[1][1] + m[2][2] || 1;
    m = indices.map((i) => indices.map((j) => dot(m[i], m[j]) / trace ** 2));
  }
  return unit(m.reduce((a, b) => (dot(b, b) > dot(a, a) ? b : a)));
}

// Returns the rows of the rotation that lays the longest extent of the points horizontal and the shortest in depth.
function principalAxes(points) {
  const mean = scale(points.reduce(add, [0, 0, 0]), 1 / Math.max(points.length, 1));
  const offsets = points.map((point) => subtract(point, mean));
  const covariance = (list) => [0, 1, 2].map((i) => list.reduce((sum, d) => add(sum, scale(d, d[i])), [0, 0, 0]));
  const right = mainAxis(covariance(offsets)) || [1, 0, 0];
  const across = offsets.map((offset) => subtract(offset, scale(right, dot(offset, right))));
  const guess = mainAxis(covariance(across)) || right;
  const up = unit(subtract(guess, scale(right, dot(guess, right)))) || perpendicular(right);
  return [right, up, cross(right, up)];
}

// Returns the initial rotation, the point that stays in the middle, and the extents (nm) of the structure around it.
function initialView(structure) {
  const atoms = Array.from({ length: structure.count }, (_, atom) => structure.position(atom));
  const all = atoms.concat(cellEdges(structure.cell).flat());
  const axes = principalAxes(atoms.length > 1 ? atoms : all);
  const spans = axes.map((axis) => {
    const places = all.length ? all.map((point) => dot(axis, point)) : [0];
    const low = places.reduce((a, b) => Math.min(a, b)), high = places.reduce((a, b) => Math.max(a, b));
    return { middle: (low + high) / 2, half: Math.max(SMALLEST_HALF_EXTENT, (high - low) / 2 + MARGIN) };
  });
  const pivot = axes.reduce((sum, axis, k) => add(sum, scale(axis, spans[k].middle)), [0, 0, 0]);
  const radius = (points) => points.reduce((most, point) => Math.max(most, distance(point, pivot)), MARGIN);
  return { axes, pivot, half: spans.map((span) => span.half), depth: radius(all) + 2 * MARGIN, fog: radius(atoms) };
}

// Returns the median distance of neighbours in a chain.
function spacing(points) {
  const lengths = points.slice(1).map((point, i) => distance(point, points[i])).sort((a, b) => a - b);
  return lengths[lengths.length >> 1] || 0;
}

// Returns the parts of a chain between gaps, each with its points and kinds of secondary structure.
function segments(structure, chain) {
  const points = chain.atoms.map(structure.position);
  const usual = spacing(points);
  const parts = [];
  points.forEach((point, i) => {
    if (i === 0 || distance(point, points[i - 1]) > 2 * usual) parts.push({ points: [], kinds: [] });
    const part = parts[parts.length - 1];
    part.points.push(point);
    part.kinds.push(usual > NUCLEIC_SPACING ? NUCLEIC : chain.kinds[i] || LOOP);
  });
  return parts.filter((part) => part.points.length > 1);
}

// Returns the points with the pleats of strands smoothed away.
function smoothStrands(points, kinds) {
  return points.map((point, i) => {
    if (kinds[i] !== STRAND || i === 0 || i === points.length - 1) return point;
    return scale(add(add(points[i - 1], points[i + 1]), scale(point, 2)), 0.25);
  });
}

// Returns the direction in which a ribbon is wide at each residue: along the axis of a helix, in the plane of a sheet.
function sideVectors(points) {
  const last = points.length - 1;
  const near = (list, i) => list[clamp(i, 0, last)];
  const sides = [];
  for (let i = 0; i <= last; i++) {
    const middle = last > 1 ? clamp(i, 1, last - 1) : i;
    const before = near(points, middle - 1), after = near(points, middle + 1);
    const tangent = unit(subtract(after, before)) || [1, 0, 0];
    const bend = subtract(mix(before, after, 0.5), points[middle]);
    const side = unit(cross(bend, tangent)) || sides[i - 1] || perpendicular(tangent);
    sides.push(scale(side, i > 0 && dot(side, sides[i - 1]) < 0 ? -1 : 1));
  }
  return sides.map((side, i) => unit(add(scale(side, 2), add(near(sides, i - 1), near(sides, i + 1)))) || side);
}

// Returns the function that gives centre, tangent, side and normal at residue x, a fraction, on a Catmull-Rom spline.
function ribbonFrames(points, sides) {
  const last = points.length - 1;
  const beyond = (end, inner) => subtract(scale(end, 2), inner);
  const extended = [beyond(points[0], points[1]), ...points, beyond(points[last], points[last - 1])];
  return (x) => {
    const i = Math.min(Math.floor(x), last - 1), u = x - i, v = u * u;
    const weighted = (weights) => weights.reduce((sum, w, k) => add(sum, scale(extended[i + k], w / 2)), [0, 0, 0]);
    const centre = weighted([u * (2 * u - v - 1), 2 + v * (3 * u - 5), u * (1 + u * (4 - 3 * u)), v * (u - 1)]);
    const slope = weighted([u * (4 - 3 * u) - 1, u * (9 * u - 10), 1 + u * (8 - 9 * u), u * (3 * u - 2)]);
    const tangent = unit(slope) || unit(subtract(points[i + 1], points[i])) || [1, 0, 0];
    const wide = mix(sides[i], sides[i + 1], u);
    const side = unit(subtract(wide, scale(tangent, dot(wide, tangent)))) || perpendicular(tangent);
    return { centre, tangent, side, normal: cross(tangent, side) };
  };
}

// Returns the function that gives the cross-section of a ribbon at residue x. Where an arrowhead starts, inner is the
// cross-section before its base.
function ribbonSections(kinds) {
  const last = kinds.length - 1;
  const ends = kinds.map((_, i) => i).filter((i) => kinds[i] === STRAND && kinds[i + 1] !== STRAND);
  const heads = ends.map((i) => ({ start: Math.max(i - 1, 0), end: Math.min(i + 0.5, last) }));
  return (x) => {
    const i = Math.min(Math.floor(x), last - 1), u = x - i;
    const head = heads.find(({ start, end }) => x >= start && x <= end);
    const arrow = head && mix(ARROW, LOOP.section, (x - head.start) / (head.end - head.start));
    if (head && head.start < x) return { section: arrow };
    const leaving = heads.some(({ end }) => end < x && x - end < 0.5);
    const body = mix(leaving ? LOOP.section : kinds[i].section, kinds[i + 1].section, u * u * (3 - 2 * u));
    return head ? { section: arrow, inner: body } : { section: body };
  };
}

// Appends a ring of vertices and joins it to the ring before. A ring of an end face has the normal of the face.
function addRing(mesh, frame, [width, thickness, exponent], colour, face) {
  const first = mesh.numbers.length / 9, before = first - RING_VERTICES;
  const power = (value, to) => Math.sign(value) * Math.abs(value) ** to;
  const combine = (a, b) => add(scale(frame.side, a), scale(frame.normal, b));
  for (let k = 0; k < RING_VERTICES; k++) {
    const angle = (2 * Math.PI * k) / RING_VERTICES, c = Math.cos(angle), s = Math.sin(angle);
    const place = add(frame.centre, combine(width * power(c, exponent), thickness * power(s, exponent)));
    const outward = combine(thickness * power(c, 2 - exponent), width * power(s, 2 - exponent));
    mesh.numbers.push(...place, ...(face || unit(outward) || frame.normal), ...colour);
    const next = (k + 1) % RING_VERTICES;
    if (mesh.isJoined) mesh.indices.push(before + k, first + k, first + next, before + k, first + next, before + next);
  }
  mesh.isJoined = true;
}

// Appends the ribbon of a segment. Rings at the same place close its ends and the bases of its arrowheads.
function addRibbon(mesh, { points, kinds }) {
  const frameAt = ribbonFrames(smoothStrands(points, kinds), sideVectors(points));
  const sectionAt = ribbonSections(kinds);
  const count = (points.length - 1) * RINGS;
  mesh.isJoined = false;
  for (let ring = 0; ring <= count; ring++) {
    const x = ring / RINGS, frame = frameAt(x), back = scale(frame.tangent, -1);
    const { section, inner = ring === 0 ? POINT : null } = sectionAt(x);
    const rings = [[section, null]];
    if (inner) rings.unshift([inner, null], [inner, back], [section, back]);
    if (ring === count) rings.push([section, frame.tangent], [POINT, frame.tangent]);
    for (const [shape, face] of rings) addRing(mesh, frame, shape, kinds[Math.ceil(x - 0.5)].colour, face);
  }
}

// Returns for each atom whether a cartoon shows it as sticks: atoms whose molecule has no ribbon, and nucleic acids,
// whose bases a ribbon leaves out.
function besideCartoon(structure) {
  const parent = Uint32Array.from({ length: structure.count }, (_, atom) => atom);
  const root = (atom) => {
    while (parent[atom] !== atom) atom = parent[atom] = parent[parent[atom]];
    return atom;
  };
  for (const [a, b] of structure.bonds) parent[root(a)] = root(b);
  const isRibbon = new Uint8Array(structure.count);
  for (const { atoms } of structure.chains) {
    const hasRibbonOnly = atoms.length > 1 && spacing(atoms.map(structure.position)) <= NUCLEIC_SPACING;
    if (hasRibbonOnly) for (const atom of atoms) isRibbon[root(atom)] = 1;
  }
  return (atom) => !isRibbon[root(atom)];
}

const element = (structure, atom) => ELEMENTS[structure.elements[atom]] || ELEMENTS[0];

function spheres(structure, isShown, radius) {
  const numbers = [];
  for (let atom = 0; atom < structure.count; atom++) {
    const [vdwRadius, colour] = element(structure, atom);
    if (isShown(atom)) numbers.push(...structure.position(atom), radius(atom, vdwRadius), ...rgb(colour));
  }
  return { numbers };
}

function sticks(structure, isShown) {
  const numbers = [];
  const isBonded = new Uint8Array(structure.count);
  for (const [a, b] of structure.bonds) {
    const [start, end] = [structure.position(a), structure.position(b)];
    isBonded[a] = isBonded[b] = 1;
    if (!isShown(a) || distance(start, end) > LONGEST_BOND) continue;
    numbers.push(...start, ...end, STICK_RADIUS, ...rgb(element(structure, a)[1]), ...rgb(element(structure, b)[1]));
  }
  const radius = (atom, vdwRadius) => (isBonded[atom] ? STICK_RADIUS : LONE_ATOM_PART * vdwRadius);
  return [["cylinder", { numbers }], ["sphere", spheres(structure, isShown, radius)]];
}

// Lines have radius 0, drawn as the thinnest visible one, and negative colours, which stand for the ink of the page.
function cellLines(structure) {
  const ink = [-1, -1, -1];
  return { numbers: cellEdges(structure.cell).flatMap(([start, end]) => [...start, ...end, 0, ...ink, ...ink]) };
}

// Returns the geometries of a way of drawing, each with the name of the program that draws it.
function buildScene(structure, name) {
  const cell = ["cylinder", cellLines(structure)];
  if (name === "spheres") return [cell, ["sphere", spheres(structure, () => true, (atom, vdwRadius) => vdwRadius)]];
  if (name === "sticks") return [cell, ...sticks(structure, () => true)];
  const mesh = { numbers: [], indices: [] };
  for (const segment of structure.chains.flatMap((chain) => segments(structure, chain))) addRibbon(mesh, segment);
  return [cell, ["mesh", mesh], ...sticks(structure, besideCartoon(structure))];
}

const COMMON = `#version 300 es
precision highp float;
uniform mat3 rotation; uniform vec3 pivot, ink, paper; uniform vec2 pan, magnification;
uniform float depth, fog, pixel, thinnest;
vec3 view(vec3 point) { return rotation * (point - pivot); }
vec4 project(vec3 place) { return vec4((place.xy + pan) * magnification, -place.z / depth, 1.0); }
vec2 corner(int vertex) { return vec2(vertex & 1, vertex >> 1) * 2.0 - 1.0; }
float depthOf(float z) { return 0.5 - 0.5 * z / depth; }
vec3 shade(vec3 colour, vec3 normal, float z) {
  float diffuse = 0.5 + 0.5 * dot(normal, vec3(-0.34, 0.48, 0.81));
  float gloss = pow(max(dot(normal, vec3(-0.18, 0.25, 0.95)), 0.0), 48.0);
  float rim = pow(1.0 - clamp(normal.z, 0.0, 1.0), 3.0);
  vec3 lit = mix(colour * (0.3 + 0.8 * diffuse * diffuse) + 0.08 * gloss, ink, 0.3 * rim);
  return mix(colour.r < 0.0 ? mix(paper, ink, 0.5) : lit, paper, 0.7 * smoothstep(0.1, 1.1, 0.5 - 0.5 * z / fog));
}
`;

// Programs: numbers of components of the attributes, and shaders. Spheres and cylinders are rectangles whose pixels are
// cast on the true surface. The axis of a cylinder makes an angle with the line of sight: tilt is its sine and cosine.
const PROGRAMS = {
  sphere: { sizes: [3, 1, 3], vertex: `
layout(location = 0) in vec3 centre; layout(location = 1) in float size; layout(location = 2) in vec3 colour;
out vec2 offset; flat out float radius, middle; flat out vec3 paint;
void main() {
  vec3 place = view(centre);
  radius = max(size, thinnest); middle = place.z; paint = colour;
  offset = corner(gl_VertexID) * (radius + pixel);
  gl_Position = project(place + vec3(offset, 0.0));
}`, fragment: `
in vec2 offset; flat in float radius, middle; flat in vec3 paint; out vec4 result;
void main() {
  float coverage = min(0.5 + (radius - length(offset)) / pixel, 1.0); if (coverage <= 0.0) discard;
  vec2 across = offset / radius;
  vec3 normal = vec3(across, sqrt(max(0.0, 1.0 - dot(across, across))));
  float z = middle + radius * normal.z;
  gl_FragDepth = depthOf(z); result = vec4(shade(paint, normal, z), coverage);
}` },
  cylinder: { sizes: [3, 3, 1, 3, 3], vertex: `
layout(location = 0) in vec3 start; layout(location = 1) in vec3 end; layout(location = 2) in float size;
layout(location = 3) in vec3 startColour; layout(location = 4) in vec3 endColour;
out vec2 offset; flat out vec2 direction, tilt; flat out float radius, extent, middle; flat out vec3 paint, endPaint;
void main() {
  vec3 place = view(start), axis = view(end) - place;
  float projected = length(axis.xy);
  extent = max(length(axis), 1e-6); radius = max(size, thinnest); middle = place.z;
  direction = projected > 1e-6 ? axis.xy / projected : vec2(1.0, 0.0);
  tilt = vec2(projected, axis.z) / extent; paint = startColour; endPaint = endColour;
  vec2 side = corner(gl_VertexID); float margin = radius * abs(tilt.y) + pixel;
  offset = vec2(side.x < 0.0 ? -margin : projected + margin, side.y * (radius + pixel));
  gl_Position = project(place + vec3(direction * offset.x + vec2(-direction.y, direction.x) * offset.y, 0.0));
}`, fragment: `
in vec2 offset; flat in vec2 direction, tilt; flat in float radius, extent, middle; flat in vec3 paint, endPaint;
out vec4 result;
void main() {
  float across = clamp(offset.y / radius, -1.0, 1.0), toward = sqrt(1.0 - across * across);
  float along = (offset.x + radius * toward * tilt.y) / max(tilt.x, 1e-4);
  float coverage = min(0.5 + (radius - abs(offset.y)) / pixel, 1.0);
  if (along < 0.0 || along > extent || coverage <= 0.0) discard;
  vec3 normal = vec3(vec2(-direction.y, direction.x) * across - direction * tilt.y * toward, tilt.x * toward);
  float z = middle + along * tilt.y + radius * toward * tilt.x;
  gl_FragDepth = depthOf(z);
  result = vec4(shade(along < 0.5 * extent ? paint : endPaint, normal, z), coverage);
}` },
  mesh: { sizes: [3, 3, 3], vertex: `
layout(location = 0) in vec3 point; layout(location = 1) in vec3 outward; layout(location = 2) in vec3 colour;
out vec3 normal, paint; out float z;
void main() {
  vec3 place = view(point); gl_Position = project(place);
  normal = rotation * outward; z = place.z; paint = colour;
}`, fragment: `
in vec3 normal, paint; in float z; out vec4 result;
void main() { result = vec4(shade(paint, normalize(normal), z), 1.0); }` },
};

function compile(gl, { vertex, fragment }) {
  const program = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, COMMON + source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  const isLinked = gl.getProgramParameter(program, gl.LINK_STATUS) || gl.isContextLost();
  if (!isLinked) throw new Error(gl.getProgramInfoLog(program));
  return program;
}

// Copies a geometry to the graphics memory. Returns what a draw call needs.
function upload(gl, name, { numbers, indices }) {
  const { sizes } = PROGRAMS[name];
  const total = sizes.reduce((sum, size) => sum + size);
  const vertexArray = gl.createVertexArray();
  gl.bindVertexArray(vertexArray);
  const fill = (target, data) => {
    gl.bindBuffer(target, gl.createBuffer());
    gl.bufferData(target, data, gl.STATIC_DRAW);
  };
  fill(gl.ARRAY_BUFFER, new Float32Array(numbers));
  if (indices) fill(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(indices));
  let offset = 0;
  sizes.forEach((size, location) => {
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, size, gl.FLOAT, false, 4 * total, 4 * offset);
    gl.vertexAttribDivisor(location, indices ? 0 : 1);
    offset += size;
  });
  return { name, vertexArray, isMesh: Boolean(indices), count: indices ? indices.length : numbers.length / total };
}

// Returns a custom property of the page's style as red, green and blue from 0 to 1.
function pageColour(canvas, name, otherwise) {
  canvas.style.color = `var(${name}, ${otherwise})`;
  const text = getComputedStyle(canvas).color;
  canvas.style.color = "";
  const values = (text.match(/[\d.]+/g) || []).slice(0, 3).map((value) => value / 255);
  return text.startsWith("rgb") && values.length === 3 ? values : rgb(otherwise);
}

// Gives the picture the size of the canvas on the screen. Returns pixels per CSS pixel, or 0 if the canvas is hidden.
function fitPicture(canvas) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const size = { width: Math.round(canvas.clientWidth * ratio), height: Math.round(canvas.clientHeight * ratio) };
  for (const side of ["width", "height"]) if (canvas[side] !== size[side]) canvas[side] = size[side];
  return size.width && size.height ? ratio : 0;
}

// Returns CSS pixels per nm at which the initial view fills the canvas.
function fittingScale(canvas, initial) {
  return Math.min(canvas.clientWidth / initial.half[0], canvas.clientHeight / initial.half[1]) / 2;
}

function setUniforms(gl, program, canvas, { initial, camera }, colours, ratio) {
  const pixels = fittingScale(canvas, initial) * camera.zoom * ratio;
  const at = (name) => gl.getUniformLocation(program, name);
  gl.useProgram(program);
  gl.uniformMatrix3fv(at("rotation"), true, camera.axes.flat());
  gl.uniform2f(at("magnification"), (2 * pixels) / canvas.width, (2 * pixels) / canvas.height);
  gl.uniform2fv(at("pan"), camera.pan);
  for (const [name, values] of Object.entries({ pivot: initial.pivot, ...colours })) gl.uniform3fv(at(name), values);
  const numbers = { depth: initial.depth, fog: initial.fog, pixel: 1 / pixels, thinnest: (0.55 * ratio) / pixels };
  for (const [name, value] of Object.entries(numbers)) gl.uniform1f(at(name), value);
}

// Returns the function that draws the picture. Throws if the browser has no WebGL 2.
function createRenderer(canvas, structure, state) {
  const gl = canvas.getContext("webgl2", { alpha: false, antialias: true, preserveDrawingBuffer: true });
  if (!gl) throw new Error("no WebGL 2");
  const programs = {};
  for (const [name, sources] of Object.entries(PROGRAMS)) programs[name] = compile(gl, sources);
  gl.enable(gl.DEPTH_TEST);
  gl.enable(gl.SAMPLE_ALPHA_TO_COVERAGE);
  const scenes = {};
  return () => {
    const ratio = gl.isContextLost() ? 0 : fitPicture(canvas);
    if (ratio === 0) return;
    const colours = { paper: pageColour(canvas, "--paper", "#ffffff"), ink: pageColour(canvas, "--ink", "#1a1a1a") };
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(...colours.paper, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    scenes[state.scene] ||= buildScene(structure, state.scene).map(([name, geometry]) => upload(gl, name, geometry));
    for (const { name, vertexArray, count, isMesh } of scenes[state.scene]) {
      setUniforms(gl, programs[name], canvas, state, colours, ratio);
      gl.bindVertexArray(vertexArray);
      if (isMesh) gl.drawElements(gl.TRIANGLES, count, gl.UNSIGNED_INT, 0);
      else gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
    }
  };
}

const startCamera = (initial) => ({ axes: initial.axes, zoom: 1, pan: [0, 0] });

// Turns the structure as if the reader pushed its front by the angles (radians) to the right and downward.
function turn(camera, right, down) {
  const rotate = (a, b, c, s) => [add(scale(a, c), scale(b, s)), subtract(scale(b, c), scale(a, s))];
  const [x, forward] = rotate(camera.axes[0], camera.axes[2], Math.cos(right), Math.sin(right));
  const [z, y] = rotate(forward, camera.axes[1], Math.cos(down), Math.sin(down));
  camera.axes = [x, y, z];
}

const zoomBy = (camera, factor) => { camera.zoom = clamp(camera.zoom * factor, 0.2, 60); };

function shift(canvas, { initial, camera }, right, down) {
  const pixels = fittingScale(canvas, initial) * camera.zoom;
  camera.pan = [camera.pan[0] + right / pixels, camera.pan[1] - down / pixels];
}

// Returns the middle of one or two pointers and their distance.
function summarize(pointers) {
  const [a, b = a] = [...pointers.values()];
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y) };
}

// A drag turns, or shifts if Shift is down. One finger scrolls the page until the canvas has focus, and then turns. Two
// fingers zoom and shift.
function listenToPointers(canvas, state, redraw) {
  const pointers = new Map();
  const isFocused = () => document.activeElement === canvas;
  const allowScrolling = () => { canvas.style.touchAction = isFocused() ? "none" : "pan-x pan-y"; };
  const record = (event) => pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  const listen = (names, listener) => names.split(" ").forEach((name) => canvas.addEventListener(name, listener));
  listen("pointerdown", (event) => {
    if (event.button !== 0 || pointers.size > 1) return;
    record(event);
    canvas.setPointerCapture(event.pointerId);
  });
  listen("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    const before = summarize(pointers), after = summarize(record(event));
    const right = after.x - before.x, down = after.y - before.y;
    const perPixel = Math.PI / Math.min(canvas.clientWidth, canvas.clientHeight);
    if (pointers.size > 1 || event.shiftKey) shift(canvas, state, right, down);
    else if (event.pointerType !== "touch" || isFocused()) turn(state.camera, right * perPixel, down * perPixel);
    if (before.apart > 0 && after.apart > 0) zoomBy(state.camera, after.apart / before.apart);
    redraw();
  });
  listen("pointerup pointercancel lostpointercapture", (event) => pointers.delete(event.pointerId));
  listen("focus blur", allowScrolling);
  listen("click", () => canvas.focus({ preventScroll: true }));
  allowScrolling();
}

// The wheel zooms if the canvas has focus or Ctrl is down, as in a pinch on a touchpad; else it scrolls the page.
function listenToWheel(canvas, state, redraw) {
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    const way = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : 20);
    zoomBy(state.camera, Math.exp(-clamp(way, -60, 60) * (event.ctrlKey ? 0.006 : 0.003)));
    redraw();
  }, { passive: false });
}

// Arrow keys turn by 0.12 radians.
function listenToKeys(canvas, state, redraw) {
  const turns = { ArrowLeft: [-0.12, 0], ArrowRight: [0.12, 0], ArrowUp: [0, -0.12], ArrowDown: [0, 0.12] };
  const zooms = { "+": 1.15, "=": 1.15, "-": 1 / 1.15 };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in turns) turn(state.camera, ...turns[event.key]);
    else if (event.key in zooms) zoomBy(state.camera, zooms[event.key]);
    else if (event.key === "Home") state.camera = startCamera(state.initial);
    else return;
    event.preventDefault();
    redraw();
  });
}

function listenToButtons(buttons, state, redraw) {
  const choices = buttons.filter((button) => button.dataset.view !== "reset");
  const isChosen = (button) => String(button.dataset.view === state.scene);
  const mark = () => choices.forEach((button) => button.setAttribute("aria-pressed", isChosen(button)));
  const choose = (button) => {
    if (choices.includes(button)) state.scene = button.dataset.view;
    else state.camera = startCamera(state.initial);
    mark();
    redraw();
  };
  for (const button of buttons) button.addEventListener("click", () => choose(button));
  mark();
}

function start(canvas, buttons, structure) {
  const initial = initialView(structure);
  const state = { initial, camera: startCamera(initial), scene: structure.chains.length ? "cartoon" : "sticks" };
  let render = createRenderer(canvas, structure, state);
  let pending = 0;
  const draw = () => { pending = 0; render(); };
  const redraw = () => { pending ||= requestAnimationFrame(draw); };
  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  const restore = () => { render = createRenderer(canvas, structure, state); redraw(); };
  canvas.addEventListener("webglcontextrestored", restore);
  for (const listen of [listenToPointers, listenToWheel, listenToKeys]) listen(canvas, state, redraw);
  listenToButtons(buttons, state, redraw);
  // The observer also causes the first drawing. Print has colours of its own and does not wait for a frame.
  new ResizeObserver(redraw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  matchMedia("print").addEventListener("change", draw);
}

const container = document.getElementById("structure-view");
const source = document.getElementById("structure-data");
if (!container || !source) return;
const buttons = [...container.querySelectorAll("button[data-view]")];
try {
  start(container.querySelector("canvas"), buttons, readStructure(JSON.parse(source.textContent)));
} catch (error) {
  console.warn(error);
  container.querySelector(".viewer-note").textContent = "This browser has no WebGL 2; the structure is in final.pdb.";
  for (const button of buttons) button.disabled = true;
}
})();
