// Shapes that several scenes draw. No network, no state: the arena and saved files use the same functions.

const NS = "http://www.w3.org/2000/svg";

export function shape(name, attributes, text) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

export const SIDE = 400; // of the picture, in its own units
export const across = (x) => SIDE / 2 + (SIDE / 2) * x; // from -1 .. 1
export const up = (y) => SIDE / 2 - (SIDE / 2) * y;
export const sign = (label) => (label > 0 ? "+1" : "\u22121");
// A bound as the score, the chart and the invitation write it: rounded up, never down, to two decimals; a share in percent
// to three digits, as its card has it.
export function limit(bound, percent = false) {
  if (Number.isInteger(bound)) return bound.toLocaleString("en");
  if (!percent) return (Math.ceil(bound * 100) / 100).toFixed(2);
  const near = Number(bound.toPrecision(3)), unit = 10 ** (Math.floor(Math.log10(bound)) - 2);
  return String(near >= bound ? near : Number((near + unit).toPrecision(3)));
}
export const signed = (value) => value.toFixed(2).replace("-", "\u2212");
export const percent = (share) => `${Math.round(100 * share)} %`;
export const background = (name = "page", opacity = 1) => shape("rect", { width: SIDE, height: SIDE, class: name, "fill-opacity": opacity });
export const label = (x, y, text, anchor = "start", more = {}) => shape("text", { x, y, "text-anchor": anchor, ...more }, text);
export const clamp = (value, least, most) => Math.min(most, Math.max(least, value));

// A text on a plate, readable on top of points.
export function caption(parts, x, y, text, name = "") {
  parts.push(shape("rect", { x: x - 5, y: y - 13, width: (6 * text.length + 12).toFixed(0), height: 19, rx: 4, class: "page", "fill-opacity": 0.85 }), label(x, y, text, "start", name ? { class: name } : {}));
}

// A part of the picture with coordinates of its own; nothing leaves it.
export function panel(parts, x, y, width, height, viewBox) {
  const made = shape("svg", { x, y, width, height, viewBox, preserveAspectRatio: "none" });
  parts.push(made);
  return made;
}

// Labels differ by shape and colour; a ring marks a mistake, a large ring the round that is shown.
export function mark(x, y, value, wrong, now, opacity = 1) {
  const parts = [], d = `M${x - 6} ${y}H${x + 6}` + (value > 0 ? `M${x} ${y - 6}V${y + 6}` : "");
  parts.push(shape("path", { d, class: "halo", "stroke-width": 7, "stroke-linecap": "round", opacity })); // visible on every background
  parts.push(shape("path", { d, class: value > 0 ? "plus-line" : "minus-line", "stroke-width": now ? 4 : 2.5, opacity }));
  if (wrong) parts.push(shape("circle", { cx: x, cy: y, r: 9, class: "ink", "stroke-width": 1.2, opacity }));
  if (now) parts.push(shape("circle", { cx: x, cy: y, r: 13, class: "ink", "stroke-width": 2.4 }));
  return parts;
}

export function points(parts, frames, t, fade = 0) { // with `fade`, points lose their colour over that many rounds
  for (const frame of frames.slice(1, t + 1))
    if (!fade || t - frame.t < fade) parts.push(...mark(across(frame.x[0]), up(frame.x[1]), frame.y, frame.said !== frame.y, frame.t === t, fade ? 1 - 0.85 * (t - frame.t) / fade : 1));
}

// The line w[0] x + w[1] y + w[2] = level, as two far points; null if it is everywhere or nowhere.
export function border([a, b, c], level = 0) {
  const near = Math.hypot(a, b);
  if (!near) return null;
  const foot = [(level - c) * a / near ** 2, (level - c) * b / near ** 2], far = [-4 * b / near, 4 * a / near];
  return [[foot[0] - far[0], foot[1] - far[1]], [foot[0] + far[0], foot[1] + far[1]]];
}

export function stroke([[x1, y1], [x2, y2]], attributes) {
  return shape("line", { x1: across(x1).toFixed(1), y1: up(y1).toFixed(1), x2: across(x2).toFixed(1), y2: up(y2).toFixed(1), ...attributes });
}

export function arrow(parts, from, to, name, width = 2.5) {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]), head = (turn) => [to[0] - 0.055 * Math.cos(angle + turn), to[1] - 0.055 * Math.sin(angle + turn)];
  for (const [one, two] of [[from, to], [head(0.45), to], [head(-0.45), to]]) parts.push(stroke([one, two], { class: name, "stroke-width": width, "stroke-linecap": "round" }));
}

// The plane coloured by the score of a line: the farther from it, the stronger.
export function shaded(parts, w) {
  const [a, b, c] = w, near = Math.hypot(a, b);
  parts.push(background());
  if (!near) {
    parts.push(background(c >= 0 ? "plus-area" : "minus-area", 0.5));
    parts.push(label(8, 18, `predicts ${sign(c >= 0 ? 1 : -1)} everywhere`));
    return;
  }
  const foot = [-c * a / near ** 2, -c * b / near ** 2], reach = 0.9;
  const gradient = shape("linearGradient", { id: "confidence", gradientUnits: "userSpaceOnUse",
    x1: across(foot[0] - reach * a / near).toFixed(1), y1: up(foot[1] - reach * b / near).toFixed(1), x2: across(foot[0] + reach * a / near).toFixed(1), y2: up(foot[1] + reach * b / near).toFixed(1) });
  for (const [offset, name, opacity] of [[0, "minus-stop", 1], [0.499, "minus-stop", 0.3], [0.501, "plus-stop", 0.3], [1, "plus-stop", 1]])
    gradient.append(shape("stop", { offset, class: name, "stop-opacity": opacity }));
  parts.push(gradient, shape("rect", { width: SIDE, height: SIDE, fill: "url(#confidence)" }));
  parts.push(stroke(border(w), { class: "ink", "stroke-width": 1.5 })); // visible without colours
  sides(parts, w);
}

// "predicts +1" and "predicts -1", near the edges of the picture and parallel to nothing: readable at every angle.
function sides(parts, [a, b, c]) {
  const near = Math.hypot(a, b);
  for (const side of [1, -1]) {
    let best = null;
    for (const [x, y] of [[-0.72, 0.93], [0.72, 0.93], [-0.72, -0.95], [0.72, -0.95]]) {
      const far = side * (a * x + b * y + c) / near;
      if (!best || far > best.far) best = { x, y, far };
    }
    if (best.far > 0.12) parts.push(label(across(best.x), up(best.y) + 4, `predicts ${sign(side)}`, "middle", { class: side > 0 ? "plus" : "minus" }));
  }
}

export const axes = () => shape("path", { d: "M0 200H400M200 0V400", class: "axis", "stroke-opacity": 0.5 });

// The picture of a learner whose predictions are known on a grid, in the square at (x, y): confidence, and the border.
export function picture(parts, field, x = 0, y = 0, side = SIDE) {
  const size = side / field.n, at = (k) => (k * size).toFixed(2), says = (row, c) => field.says[row * field.n + c];
  const level = (row, c) => (row < field.n && c < field.n ? says(row, c) + field.levels[row * field.n + c] : "");
  const paths = {}, group = shape("g", { transform: `translate(${x} ${y})` });
  for (let row = 0; row < field.n; row++) {
    for (let c = 0, first = 0; c < field.n; c++) { // one rectangle for equal neighbours in a row
      const key = level(row, c);
      if (key === level(row, c + 1)) continue;
      paths[key] = (paths[key] || "") + `M${at(first)} ${at(row)}h${at(c + 1.04 - first)}v${at(1.04)}h${at(first - c - 1.04)}z`;
      first = c + 1;
    }
  }
  group.append(shape("rect", { width: side, height: side, class: "page" }));
  const soft = shape("g", { class: size > 12 ? "softer" : "soft" }); // so that the grid is not seen
  for (const [key, d] of Object.entries(paths))
    soft.append(shape("path", { d, class: key[0] === "+" ? "plus-area" : "minus-area", "fill-opacity": (0.2 + 0.8 * key[1] / 9).toFixed(2) }));
  group.append(soft, shape("path", { d: edge(field, size), class: "ink border", "stroke-width": 1.6, "stroke-linecap": "round" })); // visible without colours
  parts.push(group);
}

// The border between the predictions, interpolated between the points of the grid (marching squares).
function edge({ n, says, levels }, size) {
  const value = (row, c) => (says[row * n + c] === "+" ? 1 : -1) * (Number(levels[row * n + c]) + 0.5);
  let d = "";
  for (let row = 0; row + 1 < n; row++) for (let c = 0; c + 1 < n; c++) {
    const corners = [[row, c], [row, c + 1], [row + 1, c + 1], [row + 1, c]], cuts = [];
    corners.forEach(([i, j], k) => {
      const [p, q] = corners[(k + 1) % 4], one = value(i, j), two = value(p, q);
      if (one > 0 !== two > 0) { const part = one / (one - two); cuts.push(`${((j + part * (q - j) + 0.5) * size).toFixed(1)} ${((i + part * (p - i) + 0.5) * size).toFixed(1)}`); }
    });
    for (let k = 0; k + 1 < cuts.length; k += 2) d += `M${cuts[k]}L${cuts[k + 1]}`;
  }
  return d;
}

export const coverage = (field) => `predicts +1 on ${percent((field.says.match(/\+/g) || []).length / field.says.length)} of the plane`;

// Samples of the legend, 24 by 14.
const SAMPLES = {
  plus: { d: "M7 7H17M12 2V12", class: "plus-line", "stroke-width": 2.5 }, minus: { d: "M7 7H17", class: "minus-line", "stroke-width": 2.5 },
  ring: { d: "M17 7a5 5 0 1 1-10 0a5 5 0 1 1 10 0", class: "ink", "stroke-width": 1.3 }, line: { d: "M1 7H23", class: "ink", "stroke-width": 2 },
  best: { d: "M1 7H23", class: "good-line", "stroke-width": 2.5, "stroke-dasharray": "7 3" }, margin: { d: "M1 7H23", class: "good-line", "stroke-width": 1.2, "stroke-dasharray": "3 4" },
  good: { d: "M1 7H23", class: "good-line", "stroke-width": 3 }, blue: { d: "M1 7H23", class: "plus-line", "stroke-width": 3 }, orange: { d: "M1 7H23", class: "minus-line", "stroke-width": 3 },
  hidden: { d: "M1 7H23", class: "ink", "stroke-width": 3, "stroke-dasharray": "1 4" }, square: { d: "M7 2h10v10h-10z", class: "ink", "stroke-width": 1.3 },
  dot: { d: "M16 7a4 4 0 1 1-8 0a4 4 0 1 1 8 0", class: "fill-ink" }, bar: { d: "M2 4h20v6h-20z", class: "fill-ink", "fill-opacity": 0.5 },
  shade: { d: "M1 2h22v10h-22z", class: "plus-area" }, blue_bar: { d: "M2 3h20v8h-20z", class: "plus" }, orange_bar: { d: "M2 3h20v8h-20z", class: "minus" }, dashed: { d: "M3 2h18v10h-18z", class: "ink", "stroke-dasharray": "3 3" },
};

export function legend(where, items) {
  where.replaceChildren(...items.map(([sample, text]) => {
    const item = document.createElement("span"), svg = shape("svg", { viewBox: "0 0 24 14", "aria-hidden": "true" });
    svg.append(shape("path", SAMPLES[sample]));
    item.append(svg, text);
    return item;
  }));
}

// What every scene has unless it says otherwise. A place is the list of integers of a move; pixels are of the picture.
export const SCENE = {
  sketch: "", counted: "mistakes", noun: "target", labels: true, pictured: false, drags: false, after: false,
  step: 1, // of the arrow keys
  smooth: [], // numbers of the view that may move from one round to the next
  legend: [],
  acts: { me: "Click anywhere", target: "Click anywhere: a hidden target answers", builtin: "Click, and an adversary of the library plays a round", data: "Click, and the next row is played" },
  goal: (apriori) => (apriori !== null ? `make it err more than ${apriori} times` : "make it err more often than the theorem allows"),
  draw() {},
  tell: () => "",
  at: (px, py, limits) => limits.map(([least]) => least),
  put: () => [SIDE / 2, SIDE / 2],
  where: (place) => `place ${place.join(", ")}`,
  turn: (place, dx, dy, limits, step) => place.map((value, i) => clamp(value + step * (i ? dy : dx + (place.length === 1 ? dy : 0)), ...limits[i])),
  settle: (place) => place, // the place that is played when the cursor is at `place`
  describe: (frames, t) => `Round ${t}: the learner predicted ${sign(frames[t].said)}, the answer was ${sign(frames[t].y)}. ${mistakes(frames[t].paid)} so far.`,
  promise: "guaranteed at most",
  asks: (open) => `the learner predicts ${sign(open.said)}. Your answer?`,
};

export const mistakes = (count) => `${count} mistake${count === 1 ? "" : "s"}`;

export const LABELS = [["plus", "labelled +1"], ["minus", "labelled \u22121"], ["ring", "mistake"]];

// What scenes share whose places are points of the plane, in hundredths.
export const POINT = { ...SCENE, noun: "line", drags: true, step: 5,
  at: (px, py) => [px - 200, 200 - py].map((p) => clamp(Math.round(p / 2), -100, 100)),
  put: (place) => [200 + 2 * place[0], 200 - 2 * place[1]],
  where: (place) => `point ${signed(place[0] / 100)}, ${signed(place[1] / 100)}`,
};
