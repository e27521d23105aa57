// Drawing of the games. No network, no state: the arena and saved files use the same functions.

const NS = "http://www.w3.org/2000/svg";

export function shape(name, attributes, text) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const SIDE = 400;
const across = (x) => SIDE / 2 + (SIDE / 2) * x; // -1 .. 1
const up = (y) => SIDE / 2 - (SIDE / 2) * y;
const sign = (label) => (label > 0 ? "+1" : "\u22121");
const percent = (share) => `${Math.round(100 * share)} %`;

function mark(x, y, label, wrong, where) {
  // Labels differ by shape and colour; a ring marks a mistake.
  const parts = [];
  const colour = label > 0 ? "plus-line" : "minus-line";
  const d = `M${x - 6} ${y}H${x + 6}` + (label > 0 ? `M${x} ${y - 6}V${y + 6}` : "");
  parts.push(shape("path", { d, class: "halo", "stroke-width": 7, "stroke-linecap": "round" })); // visible on every background
  parts.push(shape("path", { d, class: colour, "stroke-width": where ? 4 : 2.5 }));
  if (wrong) parts.push(shape("circle", { cx: x, cy: y, r: 9, class: "ink", "stroke-width": 1.2 }));
  if (where) parts.push(shape("circle", { cx: x, cy: y, r: 13, class: "ink", "stroke-width": 2.4 }));
  return parts;
}

const polygon = (points) => points.map(([x, y]) => `${across(x).toFixed(1)},${up(y).toFixed(1)}`).join(" ");

// The line w[0] x + w[1] y + w[2] = level, as two far points; null if it is everywhere or nowhere.
function border([a, b, c], level = 0) {
  const near = Math.hypot(a, b);
  if (!near) return null;
  const foot = [(level - c) * a / near ** 2, (level - c) * b / near ** 2], far = [-4 * b / near, 4 * a / near];
  return [[foot[0] - far[0], foot[1] - far[1]], [foot[0] + far[0], foot[1] + far[1]]];
}

function stroke(ends, attributes) {
  const [[x1, y1], [x2, y2]] = ends;
  return shape("line", { x1: across(x1).toFixed(1), y1: up(y1).toFixed(1), x2: across(x2).toFixed(1), y2: up(y2).toFixed(1), ...attributes });
}

// The plane coloured by the score of a line: the farther from it, the stronger.
function shaded(parts, w) {
  const [a, b, c] = w, near = Math.hypot(a, b);
  if (!near) {
    parts.push(shape("rect", { width: SIDE, height: SIDE, class: c >= 0 ? "plus-area" : "minus-area", "fill-opacity": 0.5 }));
    parts.push(shape("text", { x: 8, y: 18 }, `predicts ${sign(c >= 0 ? 1 : -1)} everywhere`));
    return;
  }
  const foot = [-c * a / near ** 2, -c * b / near ** 2], reach = 0.9;
  const gradient = shape("linearGradient", { id: "confidence", gradientUnits: "userSpaceOnUse",
    x1: across(foot[0] - reach * a / near).toFixed(1), y1: up(foot[1] - reach * b / near).toFixed(1), x2: across(foot[0] + reach * a / near).toFixed(1), y2: up(foot[1] + reach * b / near).toFixed(1) });
  for (const [offset, name, opacity] of [[0, "minus-stop", 1], [0.499, "minus-stop", 0.3], [0.501, "plus-stop", 0.3], [1, "plus-stop", 1]])
    gradient.append(shape("stop", { offset, class: name, "stop-opacity": opacity }));
  parts.push(gradient, shape("rect", { width: SIDE, height: SIDE, fill: "url(#confidence)" }));
  parts.push(stroke(border(w), { class: "ink", "stroke-width": 1.5 })); // visible without colours
  const [x, y] = [foot[0] + (0.22 * a - 0.12 * b) / near, foot[1] + (0.22 * b + 0.12 * a) / near];
  if (Math.abs(x) < 0.8 && Math.abs(y) < 0.85) { // half a label is 0.18 wide
    parts.push(shape("text", { x: across(x), y: up(y), "text-anchor": "middle", class: "plus" }, "predicts +1"));
    parts.push(shape("text", { x: across(x - 0.44 * a / near), y: up(y - 0.44 * b / near), "text-anchor": "middle", class: "minus" }, "predicts \u22121"));
  }
}

const axes = () => shape("path", { d: "M0 200H400M200 0V400", class: "axis", "stroke-opacity": 0.5 });

// The picture of a learner whose predictions are known on a grid: levels of confidence, and the border.
function picture(parts, field) {
  const size = SIDE / field.n, at = (k) => (k * size).toFixed(2), says = (row, c) => field.says[row * field.n + c];
  const paths = {};
  let edge = "";
  for (let row = 0; row < field.n; row++) {
    for (let c = 0, first = 0; c < field.n; c++) { // one rectangle for equal neighbours in a row
      const key = says(row, c) + field.levels[row * field.n + c], next = c + 1 < field.n ? says(row, c + 1) + field.levels[row * field.n + c + 1] : "";
      if (c + 1 < field.n && says(row, c) !== says(row, c + 1)) edge += `M${at(c + 1)} ${at(row)}v${at(1)}`;
      if (row + 1 < field.n && says(row, c) !== says(row + 1, c)) edge += `M${at(c)} ${at(row + 1)}h${at(1)}`;
      if (key === next) continue;
      paths[key] = (paths[key] || "") + `M${at(first)} ${at(row)}h${at(c + 1 - first)}v${at(1.04)}h${at(first - c - 1)}z`;
      first = c + 1;
    }
  }
  parts.push(shape("rect", { width: SIDE, height: SIDE, class: "page" }));
  for (const [key, d] of Object.entries(paths))
    parts.push(shape("path", { d, class: key[0] === "+" ? "plus-area" : "minus-area", "fill-opacity": (0.4 + 0.6 * key[1] / 9).toFixed(2) }));
  parts.push(shape("path", { d: edge, class: "ink border", "stroke-width": 1.5 })); // visible without colours
  const plus = (field.says.match(/\+/g) || []).length;
  parts.push(shape("text", { x: 8, y: 18 }, `predicts +1 on ${percent(plus / field.says.length)} of the plane`));
}

function points(parts, frames, t) {
  for (const frame of frames.slice(1, t + 1))
    parts.push(...mark(across(frame.x[0]), up(frame.x[1]), frame.y, frame.said !== frame.y, frame.t === t));
}

// The comparator u of the certificate and its margin; the hidden target.
function lines(parts, best, hidden) {
  if (best && border(best.w)) {
    parts.push(stroke(border(best.w), { class: "good-line", "stroke-width": 2.5, "stroke-dasharray": "8 4" }));
    const level = best.margin * best.norm;
    if (level > 0) for (const side of [level, -level]) parts.push(stroke(border(best.w, side), { class: "good-line", "stroke-width": 1, "stroke-dasharray": "3 5" }));
  }
  if (hidden && border(hidden)) parts.push(stroke(border(hidden), { class: "ink", "stroke-width": 3, "stroke-dasharray": "1 5" }));
}

const share = (view, x) => { // of the directions that predict +1
  const left = view.angles.filter((_, i) => view.alive[i]);
  return left.filter((angle) => x[0] * Math.cos(angle) + x[1] * Math.sin(angle) >= 0).length / Math.max(left.length, 1);
};

const SCENES = {
  perceptron(parts, frames, t, view, { best, hidden }) {
    shaded(parts, view.w);
    parts.push(axes());
    lines(parts, best, hidden);
    const near = Math.hypot(view.w[0], view.w[1]);
    if (near) { // the direction of w; its length is in the picture of the proof
      const foot = [-view.w[2] * view.w[0] / near ** 2, -view.w[2] * view.w[1] / near ** 2], tip = [foot[0] + 0.3 * view.w[0] / near, foot[1] + 0.3 * view.w[1] / near];
      parts.push(stroke([foot, tip], { class: "ink", "stroke-width": 2 }), shape("circle", { cx: across(tip[0]).toFixed(1), cy: up(tip[1]).toFixed(1), r: 3, class: "fill-ink" }));
    }
    points(parts, frames, t);
  },
  kernel(parts, frames, t, view, { field, hidden }) {
    if (field && field.says) picture(parts, field);
    else parts.push(shape("rect", { width: SIDE, height: SIDE, class: "minus-area", "fill-opacity": 0.3 }));
    parts.push(axes());
    if (hidden) for (const far of hidden.slice(1)) parts.push(shape("circle", { cx: across(hidden[0]), cy: up(0), r: 200 * far, class: "ink", "stroke-width": 3, "stroke-dasharray": "1 5" }));
    points(parts, frames, t);
    view.supports.forEach(([x, y]) => parts.push(shape("rect", { x: across(x) - 11, y: up(y) - 11, width: 22, height: 22, class: "ink" })));
  },
  ellipsoid(parts, frames, t, view, { hidden }) {
    shaded(parts, view.w);
    parts.push(axes());
    lines(parts, null, hidden);
    points(parts, frames, t);
    // The weights have a picture of their own, enlarged so that the ellipse stays visible.
    const [[a, b], [c, d]] = view.factor, [u, v] = view.centre, ring = [];
    const high = Math.hypot(a, b), wide = Math.hypot(c, d), zoom = Math.min(1e6, 0.9 / Math.max(high, wide, 1e-9)), size = 66, [x0, y0] = [SIDE - size - 6, SIDE - size - 6];
    const put = ([x, y]) => `${(x0 + size * zoom * (x - u)).toFixed(1)},${(y0 - size * zoom * (y - v)).toFixed(1)}`;
    for (let k = 0; k <= 72; k++) {
      const p = Math.cos(k * Math.PI / 36), q = Math.sin(k * Math.PI / 36);
      ring.push([u + a * p + b * q, v + c * p + d * q]);
    }
    parts.push(shape("rect", { x: x0 - size, y: y0 - size, width: 2 * size, height: 2 * size, rx: 6, class: "page", "fill-opacity": 0.92 }), shape("rect", { x: x0 - size, y: y0 - size, width: 2 * size, height: 2 * size, rx: 6, class: "axis" }));
    parts.push(shape("polygon", { points: ring.map(put).join(" "), class: "plus-area" }), shape("polygon", { points: ring.map(put).join(" "), class: "ink", "stroke-width": 2 }));
    parts.push(shape("circle", { cx: x0, cy: y0, r: 4, class: "fill-ink" }));
    parts.push(shape("text", { x: x0 - size + 5, y: y0 - size + 15 }, "weights left"), shape("text", { x: x0 - size + 5, y: y0 + size - 6 }, zoom < 1.05 ? "whole disc" : `enlarged ${zoom < 10 ? zoom.toFixed(1) : Math.round(zoom).toLocaleString("en")} times`));
  },
  halfspaces(parts, frames, t, view, { hidden }) {
    parts.push(shape("rect", { width: SIDE, height: SIDE, class: "page" }));
    for (let k = 0; k < 72; k++) { // share of the vote by direction of x
      const [from, to] = [k, k + 1].map((i) => i * Math.PI / 36), yes = share(view, [Math.cos((from + to) / 2), Math.sin((from + to) / 2)]);
      const corner = (angle) => `${(200 + 300 * Math.cos(angle)).toFixed(1)} ${(200 - 300 * Math.sin(angle)).toFixed(1)}`;
      parts.push(shape("path", { d: `M200 200L${corner(from)}L${corner(to)}z`, class: yes >= 0.5 ? "plus-area" : "minus-area", "fill-opacity": (0.15 + 1.6 * Math.abs(yes - 0.5)).toFixed(2) }));
    }
    parts.push(shape("circle", { cx: 200, cy: 200, r: 170, class: "axis" }));
    view.angles.forEach((angle, i) => {
      const x = 200 + 170 * Math.cos(angle), y = 200 - 170 * Math.sin(angle);
      parts.push(view.alive[i] ? shape("circle", { cx: x, cy: y, r: 5, class: "fill-ink" }) : shape("circle", { cx: x, cy: y, r: 2.5, class: "axis" }));
    });
    const left = view.alive.filter(Boolean).length;
    parts.push(shape("text", { x: 8, y: 18 }, `${left} of ${view.alive.length} directions left`));
    lines(parts, null, hidden);
    const now = frames[t];
    if (now.x) {
      const far = Math.hypot(now.x[0], now.x[1]) || 1, [a, b] = [-now.x[1] / far, now.x[0] / far];
      parts.push(shape("line", { x1: across(-a), y1: up(-b), x2: across(a), y2: up(b), class: "ink", "stroke-dasharray": "5 4" }));
    }
    points(parts, frames, t);
  },
  race(parts, frames, t, view, more) {
    SCENES.thresholds(parts, frames, t, view, more);
    parts.push(shape("text", { x: 200, y: 394, "text-anchor": "middle" }, `mistakes: Halving ${frames[t].paid}, Consistent ${view.other}`));
  },
  intervals(parts, frames, t, view) {
    const shown = frames.slice(0, t + 1).slice(-40), size = 380 / 41, at = (k) => 10 + size * (k + 0.5);
    const bar = (k, { low, high }, more) => shape("rect", { x: (at(k) - size / 2 + 1).toFixed(1), y: up(Math.min(high, 1)).toFixed(1), width: (size - 2).toFixed(1), height: Math.max(up(Math.max(low, -1)) - up(Math.min(high, 1)), 0).toFixed(1), ...more });
    parts.push(shape("rect", { width: SIDE, height: SIDE, class: "page" }), shape("path", { d: "M0 200H400", class: "axis" }));
    shown.slice(1).forEach((frame, k) => {
      const before = shown[k].view, outside = frame.x < before.low || frame.x > before.high;
      parts.push(bar(k, before, { class: outside ? "minus-area" : "plus-area" }));
      parts.push(shape("circle", { cx: at(k).toFixed(1), cy: up(frame.x).toFixed(1), r: frame.t === t ? 5 : 3, class: outside ? "minus" : "fill-ink" }));
      if (outside) parts.push(shape("circle", { cx: at(k).toFixed(1), cy: up(frame.x).toFixed(1), r: 8, class: "ink", "stroke-width": 1.2 }));
    });
    parts.push(bar(shown.length - 1, view, { class: "plus-area", "fill-opacity": 0.5 }), bar(shown.length - 1, view, { class: "ink", "stroke-dasharray": "3 3" }));
    parts.push(shape("text", { x: 8, y: 18 }, `${view.missed} of ${t} values outside, ${(100 - view.cover)} % wanted`));
  },
  thresholds(parts, frames, t, view, { hidden }) {
    const x = (value) => 20 + 360 * value / (view.n + 1), shown = frames.slice(0, t + 1);
    const step = Math.min(19, 340 / shown.length), thin = step < 12;
    parts.push(shape("rect", { width: SIDE, height: SIDE, class: "page" }));
    shown.forEach((frame, k) => {
      const y = 34 + step * k, { lo, hi } = frame.view;
      if (!thin) parts.push(shape("line", { x1: 20, x2: 380, y1: y, y2: y, class: "axis" }));
      parts.push(shape("rect", { x: x(lo) - 2, y: y - step / 4, width: Math.max(x(hi) - x(lo), 0) + 4, height: step / 2, class: "fill-ink", "fill-opacity": frame.t === t ? 0.85 : 0.3 }));
      if (frame.x === null) return;
      if (!thin || frame.t === t) parts.push(...mark(x(frame.x + 0.5), y, frame.y, frame.said !== frame.y, frame.t === t));
      else parts.push(shape("circle", { cx: x(frame.x + 0.5).toFixed(1), cy: y.toFixed(1), r: Math.max(1.5, step / 3).toFixed(1), class: frame.y > 0 ? "plus" : "minus" }));
    });
    if (hidden) parts.push(shape("line", { x1: x(hidden[0]), x2: x(hidden[0]), y1: 24, y2: 376, class: "ink", "stroke-width": 3, "stroke-dasharray": "1 5" }));
    parts.push(shape("text", { x: 20, y: 18 }, view.lo <= view.hi ? `thresholds ${view.lo} to ${view.hi} left, ${view.hi - view.lo + 1} of ${view.n + 2}` : "no threshold left"));
    parts.push(shape("text", { x: 20, y: 394 }, "0"));
    parts.push(shape("text", { x: 380, y: 394, "text-anchor": "end" }, view.n));
  },
  boxes(parts, frames, t, view, { field, hidden }) {
    const m = view.m, size = SIDE / m;
    parts.push(shape("rect", { width: SIDE, height: SIDE, class: "minus-area", "fill-opacity": 0.6 }));
    if (field && field.shares) field.shares.forEach((yes, i) => {
      if (yes > 0) parts.push(shape("rect", { x: (i % m) * size, y: Math.floor(i / m) * size, width: size, height: size, class: "plus", "fill-opacity": (0.75 * yes).toFixed(3) }));
    });
    const cells = (low, high, more) => shape("rect", { x: low[0] * size, y: SIDE - (high[1] + 1) * size, width: (high[0] - low[0] + 1) * size, height: (high[1] - low[1] + 1) * size, class: "ink", ...more });
    if (view.low) parts.push(cells(view.low, view.high, { "stroke-width": 2.5 }));
    if (hidden) parts.push(cells([hidden[0], hidden[2]], [hidden[1], hidden[3]], { "stroke-width": 3, "stroke-dasharray": "1 5" }));
    for (const frame of frames.slice(1, t + 1))
      parts.push(...mark((frame.x[0] + 0.5) * size, SIDE - (frame.x[1] + 0.5) * size, frame.y, frame.said !== frame.y, frame.t === t));
    parts.push(shape("text", { x: 8, y: 18 }, `${view.left.toLocaleString("en")} boxes left`));
  },
  experts(parts, frames, t, view) {
    const count = view.weights.length, width = 360 / count, now = frames[t].x;
    parts.push(shape("rect", { width: SIDE, height: SIDE, class: "page" }));
    view.weights.forEach((weight, i) => {
      const x = 20 + i * width, tall = 260 * weight;
      parts.push(shape("rect", { x: x + 6, y: 300 - tall, width: width - 12, height: tall, class: now && now[i] ? "minus" : "plus" }));
      parts.push(shape("text", { x: x + width / 2, y: 292 - tall, "text-anchor": "middle" }, percent(weight)));
      parts.push(shape("text", { x: x + width / 2, y: 320, "text-anchor": "middle" }, `expert ${i + 1}`));
      parts.push(shape("text", { x: x + width / 2, y: 338, "text-anchor": "middle" }, `lost ${view.losses[i]}`));
      if (now && now[i]) parts.push(shape("text", { x: x + width / 2, y: 356, "text-anchor": "middle", class: "minus" }, "loses"));
    });
    parts.push(shape("line", { x1: 20, x2: 380, y1: 300, y2: 300, class: "axis" }));
    parts.push(shape("text", { x: 20, y: 384 }, `loss: learner ${view.lost.toFixed(2)}, best expert ${view.best.toFixed(0)}`));
  },
};

export const NUMBERS = ["experts", "intervals"]; // games without labels
const LABELS = "+ labelled +1, \u2212 labelled \u22121, ringed: a mistake.";
export const LEGENDS = {
  perceptron: `${LABELS} Stronger colour: farther from the line. Green: the line that the guarantee compares with.`,
  kernel: `${LABELS} Stronger colour: a larger score. Squares: examples the learner stores.`,
  ellipsoid: `${LABELS} Stronger colour: farther from the line.`,
  halfspaces: `${LABELS} Dots on the circle: directions that are still consistent. Stronger colour: a clearer vote.`,
  thresholds: "A row per round. Bar: the thresholds still consistent, which halve at each mistake.",
  race: "Bar: the thresholds still consistent. Halving predicts with their majority, Consistent with the first of them.",
  intervals: "Bars: intervals made before the value was known; a ringed value is outside. Dashed: the interval of the next value.",
  boxes: `${LABELS} Blue: boxes that predict +1. Frame: the smallest box around the points labelled +1.`,
  experts: "Bars: weights of the experts. Click the expert that loses this round.",
};

// What the learner predicts at a place of the picture, in words; "" where there is none.
export function tell(game, view, field, px, py) {
  const [x, y] = [(px - 200) / 200, (200 - py) / 200], where = `(${x.toFixed(2)}, ${y.toFixed(2)})`;
  if (game === "perceptron" || game === "ellipsoid") {
    const [a, b, c] = view.w, score = a * x + b * y + c, near = Math.hypot(a, b);
    return `${where}: predicts ${sign(score >= 0 ? 1 : -1)}${near ? `, ${(Math.abs(score) / near).toFixed(2)} from the line` : ""}`;
  }
  if (game === "kernel") {
    if (!field) return "";
    const [row, c] = [py, px].map((p) => Math.max(0, Math.min(field.n - 1, Math.floor(p / 400 * field.n)))), at = row * field.n + c;
    return `${where}: predicts ${field.says[at]}1, score ${percent(field.levels[at] / 9)} of the largest`;
  }
  if (game === "halfspaces") return `${where}: ${percent(share(view, [x, y]))} of the directions left vote +1`;
  if (game === "intervals") return `${y.toFixed(2)}: ${y < view.low || y > view.high ? "outside" : "inside"} the next interval`;
  if (game === "thresholds" || game === "race") {
    const place = Math.min(view.n, Math.max(0, Math.floor((px - 20) / 360 * (view.n + 1)))), all = view.hi - view.lo + 1;
    if (all <= 0) return "";
    return `x = ${place}: ${Math.max(0, Math.min(view.hi, place) - view.lo + 1)} of ${all} thresholds left vote +1`;
  }
  if (game === "boxes") {
    const [c, row] = [px, py].map((p) => Math.max(0, Math.min(view.m - 1, Math.floor(p / 400 * view.m))));
    return field ? `cell ${c}, ${view.m - 1 - row}: ${percent(field.shares[row * view.m + c])} of the boxes left vote +1` : "";
  }
  const i = Math.min(view.weights.length - 1, Math.max(0, Math.floor((px - 20) / (360 / view.weights.length))));
  return `expert ${i + 1}: weight ${percent(view.weights[i])}, lost ${view.losses[i]}`;
}

// `more` has field, best and hidden; `open` is a round whose answer is still hidden: only its point is drawn.
export function scene(svg, game, frames, t, more, cursor, open) {
  const parts = [];
  SCENES[game](parts, frames, t, frames[t].view, more);
  if (open && !NUMBERS.includes(game)) {
    const [x, y] = game === "thresholds" || game === "race" ? [20 + 360 * (open.x + 0.5) / (frames[t].view.n + 1), 370]
      : game === "boxes" ? [(open.x[0] + 0.5) * SIDE / frames[t].view.m, SIDE - (open.x[1] + 0.5) * SIDE / frames[t].view.m] : [across(open.x[0]), up(open.x[1])];
    parts.push(shape("circle", { cx: x, cy: y, r: 13, class: "page" }), shape("circle", { cx: x, cy: y, r: 13, class: "ink", "stroke-width": 2.4 }));
    parts.push(shape("text", { x, y: y + 5, "text-anchor": "middle" }, "?"));
  }
  if (cursor) parts.push(shape("path", { d: `M${cursor[0] - 9} ${cursor[1]}h18M${cursor[0]} ${cursor[1] - 9}v18`, class: "ink", "stroke-dasharray": "2 2" }));
  svg.replaceChildren(...parts);
}

export function describe(game, frames, t, open) {
  const now = frames[t];
  if (open) return `Round ${open.t}: ${game === "experts" ? "which experts lose?" : game === "intervals" ? "which value is next?" : `the learner predicts ${sign(open.said)}. Your answer?`}`;
  if (t === 0) return "No rounds yet.";
  if (game === "experts") return `Round ${t}: ${now.x.map((v, i) => (v ? i + 1 : 0)).filter(Boolean).map((i) => "expert " + i).join(", ") || "no expert"} lost. Total loss of the learner: ${now.paid.toFixed(2)}.`;
  if (game === "intervals") {
    const { low, high } = frames[t - 1].view, end = (value) => (Math.abs(value) > 8 ? "any value" : value.toFixed(2));
    const interval = Math.abs(low) > 8 || Math.abs(high) > 8 ? "the interval of all values" : low > high ? "an empty interval" : `the interval from ${end(low)} to ${end(high)}`;
    return `Round ${t}: ${now.x.toFixed(2)} was ${now.x < low || now.x > high ? "outside" : "inside"} ${interval}. ${now.paid} outside so far.`;
  }
  return `Round ${t}: the learner predicted ${sign(now.said)}, the answer was ${sign(now.y)}. ${now.paid} mistake${now.paid === 1 ? "" : "s"} so far.`;
}
