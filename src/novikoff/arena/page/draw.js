// Drawing of frames. No network, no state: the arena and saved files use the same functions.

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

function half(w) {
  // Part of the square in which w predicts +1, cut by Sutherland and Hodgman.
  const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]];
  const value = (p) => w[0] * p[0] + w[1] * p[1] + w[2];
  const kept = [];
  corners.forEach((p, i) => {
    const q = corners[(i + 1) % 4], a = value(p), b = value(q);
    if (a >= 0) kept.push(p);
    if ((a >= 0) !== (b >= 0)) kept.push([p[0] + (q[0] - p[0]) * a / (a - b), p[1] + (q[1] - p[1]) * a / (a - b)]);
  });
  return kept;
}

const polygon = (points) => points.map(([x, y]) => `${across(x).toFixed(1)},${up(y).toFixed(1)}`).join(" ");

function plane(parts, frames, t, view, field) {
  parts.push(shape("rect", { width: SIDE, height: SIDE, class: "minus-area" }));
  if (field && field.says) {
    const size = SIDE / field.n;
    let path = "", border = "";
    const says = (row, c) => field.says[row * field.n + c], at = (k) => (k * size).toFixed(2);
    for (let row = 0; row < field.n; row++) for (let c = 0; c < field.n; c++) {
      if (says(row, c) === "+") path += `M${at(c)} ${at(row)}h${at(1)}v${at(1)}h${at(-1)}z`;
      if (c + 1 < field.n && says(row, c) !== says(row, c + 1)) border += `M${at(c + 1)} ${at(row)}v${at(1)}`;
      if (row + 1 < field.n && says(row, c) !== says(row + 1, c)) border += `M${at(c)} ${at(row + 1)}h${at(1)}`;
    }
    const hatch = shape("pattern", { id: "hatch", width: 12, height: 12, patternUnits: "userSpaceOnUse" });
    hatch.append(shape("path", { d: "M-3 3L3 -3M0 12L12 0M9 15L15 9", class: "plus-line", "stroke-opacity": 0.35 }));
    parts.push(hatch, shape("path", { d: path, class: "plus-area" }), shape("path", { d: path, fill: "url(#hatch)" }));
    parts.push(shape("path", { d: border, class: "ink", "stroke-width": 1 })); // visible without colours
  } else if (view.w) {
    const area = half(view.w);
    if (area.length) parts.push(shape("polygon", { points: polygon(area), class: "plus-area" }));
    if (area.length) parts.push(shape("polygon", { points: polygon(area), class: "ink", "stroke-width": 1 })); // visible without colours
    const [a, b, c] = view.w;
    if (a || b) {
      const near = Math.hypot(a, b), foot = [-c * a / near ** 2, -c * b / near ** 2];
      const [x, y] = [foot[0] + (0.22 * a - 0.12 * b) / near, foot[1] + (0.22 * b + 0.12 * a) / near];
      const inside = Math.abs(x) < 0.8 && Math.abs(y) < 0.85; // half a label is 0.18 wide
      if (inside) {
        parts.push(shape("text", { x: across(x), y: up(y), "text-anchor": "middle", class: "plus" }, "predicts +1"));
        parts.push(shape("text", { x: across(x - 0.44 * a / near), y: up(y - 0.44 * b / near), "text-anchor": "middle", class: "minus" }, "predicts \u22121"));
      }
      parts.push(shape("line", { x1: across(foot[0]), y1: up(foot[1]), x2: across(foot[0] + 0.3 * a / near), y2: up(foot[1] + 0.3 * b / near), class: "ink", "stroke-width": 2, "stroke-dasharray": "4 3" }));
    } else parts.push(shape("text", { x: 8, y: 18 }, c >= 0 ? "predicts +1 everywhere" : "predicts \u22121 everywhere"));
  }
  if (field && field.says) {
    const plus = (field.says.match(/\+/g) || []).length;
    parts.push(shape("text", { x: 8, y: 18 }, `predicts +1 where hatched, ${Math.round(100 * plus / field.says.length)} % of the plane`));
  }
  parts.push(shape("path", { d: "M0 200H400M200 0V400", class: "axis", "stroke-opacity": 0.5 }));
}

function points(parts, frames, t) {
  for (const frame of frames.slice(1, t + 1))
    parts.push(...mark(across(frame.x[0]), up(frame.x[1]), frame.y, frame.said !== frame.y, frame.t === t));
}

const SCENES = {
  perceptron(parts, frames, t, view) { plane(parts, frames, t, view); points(parts, frames, t); },
  kernel(parts, frames, t, view, field) {
    plane(parts, frames, t, view, field);
    points(parts, frames, t);
    view.supports.forEach(([x, y]) => parts.push(shape("rect", { x: across(x) - 11, y: up(y) - 11, width: 22, height: 22, class: "ink" })));
  },
  ellipsoid(parts, frames, t, view) {
    plane(parts, frames, t, view);
    const [[a, b], [c, d]] = view.factor, [u, v] = view.centre, ring = [];
    for (let k = 0; k <= 72; k++) {
      const p = Math.cos(k * Math.PI / 36), q = Math.sin(k * Math.PI / 36);
      ring.push([u + a * p + b * q, v + c * p + d * q]);
    }
    parts.push(shape("circle", { cx: 200, cy: 200, r: 200, class: "axis" }));
    parts.push(shape("polygon", { points: polygon(ring), class: "ink", "stroke-width": 2 }));
    parts.push(shape("circle", { cx: across(u), cy: up(v), r: 4, class: "fill-ink" }));
    points(parts, frames, t);
  },
  halfspaces(parts, frames, t, view) {
    parts.push(shape("rect", { width: SIDE, height: SIDE, class: "page" }));
    parts.push(shape("circle", { cx: 200, cy: 200, r: 170, class: "axis" }));
    view.angles.forEach((angle, i) => {
      const x = 200 + 170 * Math.cos(angle), y = 200 - 170 * Math.sin(angle);
      parts.push(view.alive[i] ? shape("circle", { cx: x, cy: y, r: 5, class: "fill-ink" }) : shape("circle", { cx: x, cy: y, r: 2.5, class: "axis" }));
    });
    const left = view.alive.filter(Boolean).length;
    parts.push(shape("text", { x: 8, y: 18 }, `${left} of ${view.alive.length} directions left`));
    const now = frames[t];
    if (now.x) {
      const far = Math.hypot(now.x[0], now.x[1]) || 1, [a, b] = [-now.x[1] / far, now.x[0] / far];
      parts.push(shape("line", { x1: across(-a), y1: up(-b), x2: across(a), y2: up(b), class: "ink", "stroke-dasharray": "5 4" }));
    }
    points(parts, frames, t);
  },
  thresholds(parts, frames, t, view) {
    const x = (value) => 20 + 360 * value / (view.n + 1);
    parts.push(shape("rect", { width: SIDE, height: SIDE, class: "page" }));
    const shown = frames.slice(0, t + 1).slice(-18), first = shown[0].t;
    shown.forEach((frame) => {
      const y = 34 + 19 * (frame.t - first), { lo, hi } = frame.view;
      parts.push(shape("line", { x1: 20, x2: 380, y1: y, y2: y, class: "axis" }));
      parts.push(shape("rect", { x: x(lo) - 2, y: y - 5, width: Math.max(x(hi) - x(lo), 0) + 4, height: 10, class: "fill-ink", "fill-opacity": frame.t === t ? 0.85 : 0.3 }));
      if (frame.x !== null) parts.push(...mark(x(frame.x + 0.5), y, frame.y, frame.said !== frame.y, frame.t === t));
    });
    parts.push(shape("text", { x: 20, y: 18 }, `thresholds ${view.lo} to ${view.hi} left, ${view.hi - view.lo + 1} of ${view.n + 2}`));
    parts.push(shape("text", { x: 20, y: 394 }, "0"));
    parts.push(shape("text", { x: 380, y: 394, "text-anchor": "end" }, view.n));
  },
  boxes(parts, frames, t, view, field) {
    const m = view.m, size = SIDE / m;
    parts.push(shape("rect", { width: SIDE, height: SIDE, class: "minus-area" }));
    if (field && field.shares) field.shares.forEach((share, i) => {
      if (share > 0) parts.push(shape("rect", { x: (i % m) * size, y: Math.floor(i / m) * size, width: size, height: size, class: "plus", "fill-opacity": (0.75 * share).toFixed(3) }));
    });
    if (view.low) parts.push(shape("rect", { x: view.low[0] * size, y: SIDE - (view.high[1] + 1) * size, width: (view.high[0] - view.low[0] + 1) * size, height: (view.high[1] - view.low[1] + 1) * size, class: "ink", "stroke-width": 2.5 }));
    for (const frame of frames.slice(1, t + 1))
      parts.push(...mark((frame.x[0] + 0.5) * size, SIDE - (frame.x[1] + 0.5) * size, frame.y, frame.said !== frame.y, frame.t === t));
    parts.push(shape("text", { x: 8, y: 18 }, `${view.left.toLocaleString("en")} boxes left; the stronger the colour, the more predict +1`));
  },
  experts(parts, frames, t, view) {
    const count = view.weights.length, width = 360 / count, now = frames[t].x;
    parts.push(shape("rect", { width: SIDE, height: SIDE, class: "page" }));
    view.weights.forEach((weight, i) => {
      const x = 20 + i * width, tall = 260 * weight;
      parts.push(shape("rect", { x: x + 6, y: 300 - tall, width: width - 12, height: tall, class: now && now[i] ? "minus" : "plus" }));
      parts.push(shape("text", { x: x + width / 2, y: 292 - tall, "text-anchor": "middle" }, `${Math.round(100 * weight)} %`));
      parts.push(shape("text", { x: x + width / 2, y: 320, "text-anchor": "middle" }, `expert ${i + 1}`));
      parts.push(shape("text", { x: x + width / 2, y: 338, "text-anchor": "middle" }, `lost ${view.losses[i]}`));
      if (now && now[i]) parts.push(shape("text", { x: x + width / 2, y: 356, "text-anchor": "middle", class: "minus" }, "loses"));
    });
    parts.push(shape("line", { x1: 20, x2: 380, y1: 300, y2: 300, class: "axis" }));
    parts.push(shape("text", { x: 20, y: 384 }, `loss: learner ${view.lost.toFixed(2)}, best expert ${view.best.toFixed(0)}`));
  },
};

// `open` is a round whose answer is still hidden: only its point is drawn.
export function scene(svg, game, frames, t, field, cursor, open) {
  const parts = [];
  SCENES[game](parts, frames, t, frames[t].view, field);
  if (open && game !== "experts") {
    const [x, y] = game === "thresholds" ? [20 + 360 * (open.x + 0.5) / (frames[t].view.n + 1), 370]
      : game === "boxes" ? [(open.x[0] + 0.5) * SIDE / frames[t].view.m, SIDE - (open.x[1] + 0.5) * SIDE / frames[t].view.m] : [across(open.x[0]), up(open.x[1])];
    parts.push(shape("circle", { cx: x, cy: y, r: 13, class: "page" }), shape("circle", { cx: x, cy: y, r: 13, class: "ink", "stroke-width": 2.4 }));
    parts.push(shape("text", { x, y: y + 5, "text-anchor": "middle" }, "?"));
  }
  if (cursor) parts.push(shape("path", { d: `M${cursor[0] - 9} ${cursor[1]}h18M${cursor[0]} ${cursor[1] - 9}v18`, class: "ink", "stroke-dasharray": "2 2" }));
  svg.replaceChildren(...parts);
}

export function curve(svg, frames, t, bounds, apriori) {
  const last = Math.max(frames[frames.length - 1].t, 1), left = 34, right = 360, top = 34, bottom = 164;
  const paid = frames[frames.length - 1].paid, near = (bound) => bound <= 4 * Math.max(paid, 4);
  // The loss never falls, so a bound up to a round holds for every earlier round: draw steps at the least later bound.
  let least = Infinity;
  const proved = [...bounds].reverse().map(([round, bound]) => [round, (least = Math.min(least, bound))]).reverse();
  const high = Math.max(paid, apriori && apriori <= 40 ? apriori : 0, ...proved.map(([, bound]) => bound).filter(near), 4) * 1.05;
  const x = (round) => left + (right - left) * round / last, y = (value) => bottom - (bottom - top) * value / high;
  const parts = [shape("path", { d: `M${left} ${top}V${bottom}H${right}`, class: "axis" })];
  for (let k = 0, step = Math.max(1, 10 ** Math.floor(Math.log10(high)) / (high / 10 ** Math.floor(Math.log10(high)) < 3 ? 2 : 1)); k * step <= high; k++)
    parts.push(shape("text", { x: left - 4, y: y(k * step) + 4, "text-anchor": "end" }, k * step));
  parts.push(shape("text", { x: right, y: bottom + 16, "text-anchor": "end" }, `${last.toLocaleString("en")} rounds`));
  if (apriori && apriori <= high) parts.push(shape("line", { x1: left, x2: right, y1: y(apriori), y2: y(apriori), class: "ink", "stroke-dasharray": "1 4", "stroke-width": 2 }));
  const [end, bound, , allowed] = bounds.length ? bounds[bounds.length - 1] : [0, 0, true, ""];
  if (bounds.length) {
    const frame = shape("clipPath", { id: "frame" }); // cut off at the frame, never moved into it
    frame.append(shape("rect", { x: left, y: top - 2, width: right - left, height: bottom - top + 2 }));
    const d = `M${left} ` + proved.map(([round, level]) => `${y(level).toFixed(1)}H${x(round).toFixed(1)}`).join("V");
    parts.push(frame, shape("path", { d, class: "minus-line", "stroke-dasharray": "6 3", "stroke-width": 2, "clip-path": "url(#frame)" }));
    if (bound <= high) {
      parts.push(shape("circle", { cx: x(end), cy: y(bound), r: 3, class: "minus" }));
      parts.push(shape("text", { x: x(end) + 5, y: y(bound) + (end < last ? -5 : 4), "text-anchor": end < last ? "middle" : "start" }, allowed));
    }
  }
  parts.push(shape("path", { d: "M" + frames.map((frame) => `${x(frame.t).toFixed(1)} ${y(frame.paid).toFixed(1)}`).join("L"), class: "plus-line", "stroke-width": 2 }));
  const now = frames[t];
  parts.push(shape("circle", { cx: x(now.t), cy: y(now.paid), r: 4.5, class: "plus" }));
  const counts = Number.isInteger(frames[frames.length - 1].paid);
  parts.push(shape("text", { x: left, y: 12 }, `solid: ${counts ? "mistakes" : "loss"}; dashed: ` + (bounds.length && bound > high ? `bound (${allowed}, off the chart)` : "guaranteed at most")));
  if (apriori) parts.push(shape("text", { x: left, y: 26 }, `dotted: guaranteed in advance, ${apriori}`));
  svg.replaceChildren(...parts);
}

export function describe(game, frames, t, open) {
  const now = frames[t];
  if (open) return `Round ${open.t}: ${game === "experts" ? "which experts lose?" : `the learner predicts ${open.said > 0 ? "+1" : "\u22121"}. Your answer?`}`;
  if (t === 0) return "No rounds yet.";
  if (game === "experts") return `Round ${t}: ${now.x.map((v, i) => (v ? i + 1 : 0)).filter(Boolean).map((i) => "expert " + i).join(", ") || "no expert"} lost. Total loss of the learner: ${now.paid.toFixed(2)}.`;
  const sign = (label) => (label > 0 ? "+1" : "\u22121");
  return `Round ${t}: the learner predicted ${sign(now.said)}, the answer was ${sign(now.y)}. ${now.paid} mistake${now.paid === 1 ? "" : "s"} so far.`;
}

const BADGES = { valid: "\u2713 Valid", conditional: "\u2713 Holds if the assumptions hold", vacuous: "\u2013 Not informative", void: "\u2013 No guarantee", violated: "\u2717 VIOLATED" };

export function cards(where, certificates, explain) {
  if (where.shown === certificates) return;
  where.shown = certificates;
  const open = new Set([...where.querySelectorAll("details[open]")].map((one) => one.dataset.theorem));
  const young = certificates.length && certificates.every((one) => one.status === "vacuous") ? [document.createElement("p")] : [];
  if (young.length) young[0].textContent = "The guarantees are not informative yet: keep playing.";
  where.replaceChildren(...young, ...certificates.map((one) => {
    const card = document.createElement("div"), head = document.createElement("p"), badge = document.createElement("span"), name = document.createElement("span"), text = document.createElement("p");
    card.className = `card ${one.status}`;
    badge.className = "badge"; badge.textContent = BADGES[one.status];
    name.className = "faint"; name.textContent = one.theorem;
    text.textContent = one.sentence;
    head.append(badge, " ", name);
    card.append(head, text);
    if (explain) {
      const more = document.createElement("details"), summary = document.createElement("summary"), body = document.createElement("pre");
      summary.textContent = "Theorem and proof";
      more.append(summary, body);
      more.dataset.theorem = one.theorem;
      more.open = open.has(one.theorem);
      more.addEventListener("toggle", async () => { if (more.open && !body.textContent) body.textContent = await explain(one.theorem); });
      card.append(more);
    }
    return card;
  }));
}
