// Scenes in the plane: points from -1 to 1 on two axes, in hundredths.
import { across, arrow, axes, background, border, caption, coverage, label, LABELS, limit, mark, panel, percent, picture, POINT, points, shaded, shape, SIDE, sign, signed, stroke, up, clamp } from "./draw.js";

const FLOWERS = { ...POINT.acts, data: "Click, and the next flower is predicted" };
const plane = (px, py) => [(px - 200) / 200, (200 - py) / 200];
const where = ([x, y]) => `(${signed(x)}, ${signed(y)})`;

function ofLine(w, px, py) { // what a line predicts at a pixel
  const [a, b, c] = w, [x, y] = plane(px, py), score = a * x + b * y + c, near = Math.hypot(a, b);
  return `${where([x, y])}: predicts ${sign(score >= 0 ? 1 : -1)}${near ? `, ${(Math.abs(score) / near).toFixed(2)} from the line` : ""}`;
}

function ofField(field, px, py, text) {
  if (!field || !field.says) return "";
  const [row, c] = [py, px].map((p) => clamp(Math.floor(p / SIDE * field.n), 0, field.n - 1)), at = row * field.n + c;
  return `${where(plane(px, py))}: predicts ${field.says[at] === "+" ? "+1" : "\u22121"}, ${text(field.levels[at] / 9)}`;
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

const nats = (frames, t) => `Round ${t}: the learner predicted ${sign(frames[t].said)}, the answer was ${sign(frames[t].y)}. Log loss so far: ${frames[t].paid.toFixed(2)} nats.`;

function counted(parts, x, y, text) { // counts of a leaf, on a plate
  parts.push(shape("rect", { x: (x - 3.5 * text.length - 5).toFixed(1), y: y - 14, width: 7 * text.length + 10, height: 19, rx: 4, class: "page", "fill-opacity": 0.85 }), label(x.toFixed(1), y, text, "middle", { class: "strong" }));
}

const BEST = ["best", "u of the guarantee"], SHADE = ["shade", "stronger: farther from the line"];

export const PLANE = {
  perceptron: { ...POINT, acts: FLOWERS, sketch: "M4 26L40 6M12 8h6M15 5v6M26 24h6", smooth: ["w"],
    legend: [...LABELS, ["line", "the line, with w"], BEST, ["margin", "its margin"], SHADE],
    draw(parts, frames, t, view, { best, hidden }) {
      shaded(parts, view.w);
      parts.push(axes());
      lines(parts, best, hidden);
      const [a, b, c] = view.w, near = Math.hypot(a, b);
      if (near) { // w: its length is drawn to a scale that fits the longest so far
        const longest = Math.max(...frames.slice(0, t + 1).map((one) => Math.hypot(one.view.w[0], one.view.w[1])), near, 1e-9);
        const foot = [-c * a / near ** 2, -c * b / near ** 2], long = 0.55 * near / longest;
        arrow(parts, foot, [foot[0] + long * a / near, foot[1] + long * b / near], "ink");
        parts.push(label(clamp(across(foot[0] + long * a / near), 50, SIDE - 50), up(foot[1] + long * b / near) + (b >= 0 ? -9 : 19), `w, length ${Math.hypot(...view.w).toFixed(2)}`, "middle"));
      }
      points(parts, frames, t);
    },
    tell: (view, field, px, py) => ofLine(view.w, px, py),
  },

  hinge: { ...POINT, sketch: "M6 8L22 24H40M10 6v4M8 8h4", smooth: ["w"],
    legend: [...LABELS, ["good", "your u: drag its tip"], ["margin", "where \u27e8u, x\u27e9 is +1 or \u22121"], ["orange", "hinge loss"], ["line", "the Perceptron's line"]],
    acts: { me: "Drag the green arrow, or click to add a point", target: "Drag the green arrow: which u gives the smallest guarantee?", builtin: "Drag the green arrow, or click: an adversary answers", data: "Drag the green arrow: which u gives the smallest guarantee for these flowers?" },
    goal: () => "find the u with the smallest guarantee",
    handle: (view) => [across(view.u[0] / SCALE), up(view.u[1] / SCALE)],
    pulled: (px, py) => ({ u: clamp(Math.round(SCALE * 100 * (px - 200) / 200), -600, 600), v: clamp(Math.round(SCALE * 100 * (200 - py) / 200), -600, 600) }),
    draw(parts, frames, t, view) {
      const [a, b] = view.u, near = Math.hypot(a, b);
      parts.push(background());
      if (near) {
        shaded(parts, view.u);
        for (const side of [1, -1]) parts.push(stroke(border(view.u, side), { class: "good-line", "stroke-width": 1.4, "stroke-dasharray": "3 5" }));
      }
      parts.push(axes());
      if (border(view.w)) parts.push(stroke(border(view.w), { class: "ink", "stroke-width": 1.5, "stroke-dasharray": "10 4" }));
      frames.slice(1, t + 1).forEach((frame, k) => { // from each point to where its loss would end
        const loss = view.losses[k], [x, y] = frame.x;
        if (!loss || !near) return;
        const to = [x + frame.y * loss * a / near ** 2, y + frame.y * loss * b / near ** 2];
        parts.push(stroke([[x, y], to], { class: "minus-line", "stroke-width": 2, "stroke-opacity": 0.8 }));
      });
      points(parts, frames, t);
      const tip = [a / SCALE, b / SCALE];
      arrow(parts, [0, 0], tip, "good-line", 4);
      parts.push(shape("circle", { cx: across(tip[0]), cy: up(tip[1]), r: 9, class: "good", "fill-opacity": 0.35 }));
      const named = `u = (${signed(a)}, ${signed(b)})`;
      caption(parts, clamp(across(tip[0]) - 3 * named.length, 8, SIDE - 6 * named.length - 10), clamp(up(tip[1]) - 14, 42, SIDE - 8), named, "good strong");
      const total = view.losses.reduce((sum, one) => sum + one, 0);
      caption(parts, 10, 19, `hinge loss D = ${total.toFixed(2)}, length \u2016u\u2016 = ${near.toFixed(2)}`);
    },
    tell(view, field, px, py) {
      const [x, y] = plane(px, py), score = view.u[0] * x + view.u[1] * y;
      return `${where([x, y])}: \u27e8u, x\u27e9 = ${score.toFixed(2)}; hinge loss ${Math.max(0, 1 - score).toFixed(2)} if labelled +1, ${Math.max(0, 1 + score).toFixed(2)} if \u22121`;
    },
  },

  kernel: { ...POINT, sketch: "M30 16a8 8 0 1 1-16 0a8 8 0 1 1 16 0M36 16a14 13 0 1 1-28 0a14 13 0 1 1 28 0", noun: "function", pictured: true,
    legend: [...LABELS, ["square", "stored example"], ["shade", "stronger: larger score"]],
    draw(parts, frames, t, view, { field, hidden }) {
      if (field && field.says) picture(parts, field);
      else parts.push(background("minus-area", 0.3));
      parts.push(axes());
      if (hidden) for (const far of hidden.slice(1)) parts.push(shape("circle", { cx: across(hidden[0]), cy: up(0), r: 200 * far, class: "ink", "stroke-width": 3, "stroke-dasharray": "1 5" }));
      points(parts, frames, t);
      view.supports.forEach(([x, y]) => parts.push(shape("rect", { x: across(x) - 11, y: up(y) - 11, width: 22, height: 22, class: "ink" })));
      if (field && field.says) caption(parts, 10, 19, coverage(field));
    },
    tell: (view, field, px, py) => ofField(field, px, py, (share) => `score ${percent(share)} of the largest`),
  },

  budgets: { ...POINT, of: "Forgetron", sketch: "M4 6h16v14h-16zM24 6h16v14h-16zM4 26h3M9 26h3M14 26h3M24 26h3M34 26h3", noun: "function", pictured: true, drags: false,
    legend: [...LABELS, ["square", "stored example"], ["blue_bar", "weight of a stored +1"], ["orange_bar", "of a stored \u22121"]],
    at: (px, py) => [((px < 200 ? px : px - 202) / 198) * 200 - 100, 100 - clamp(py - 22, 0, 198) / 198 * 200].map((p) => clamp(Math.round(p), -100, 100)),
    put: (place) => [99 + 0.99 * place[0], 121 - 0.99 * place[1]],
    draw(parts, frames, t, view, { field, hidden }) {
      parts.push(background());
      const half = [["Forgetron", 0, field, view], ["RBP", 202, field && field.rbp, view.rbp]];
      for (const [name, left, shown, memory] of half) {
        const mistakes = name === "RBP" ? (frames[t].others || {}).RBP || 0 : frames[t].paid;
        parts.push(label(left + 99, 15, `${name}: ${mistakes} mistake${mistakes === 1 ? "" : "s"}`, "middle"));
        const inside = panel(parts, left, 22, 198, 198, "0 0 400 400"), some = [];
        if (shown && shown.says) picture(some, shown);
        else some.push(background("plus-area", 0.25));
        points(some, frames, t);
        memory.supports.forEach(([x, y]) => some.push(shape("rect", { x: across(x) - 12, y: up(y) - 12, width: 24, height: 24, class: "ink", "stroke-width": 2 })));
        if (hidden) for (const far of hidden.slice(1)) some.push(shape("circle", { cx: across(hidden[0]), cy: up(0), r: 200 * far, class: "ink", "stroke-width": 4, "stroke-dasharray": "1 7" }));
        inside.append(...some);
        const slot = 190 / view.budget; // memory, the oldest example first
        parts.push(label(left + 4, 244, `memory: ${memory.supports.length} of ${view.budget} examples`));
        for (let k = 0; k < view.budget; k++) {
          const weight = memory.weights[k], x = left + 4 + slot * k;
          parts.push(shape("rect", { x, y: 254, width: Math.max(slot - 2, 1), height: 120, class: "axis", "stroke-dasharray": "2 3" }));
          if (weight !== undefined) parts.push(shape("rect", { x, y: (374 - 120 * Math.min(Math.abs(weight), 1)).toFixed(1), width: Math.max(slot - 2, 1), height: (120 * Math.min(Math.abs(weight), 1)).toFixed(1), class: weight > 0 ? "plus" : "minus" }));
        }
        parts.push(label(left + 4, 391, "oldest"), label(left + 192, 391, "newest", "end"));
      }
      parts.push(shape("path", { d: "M201 0V400", class: "axis" }));
    },
    tell(view, field, px, py) {
      const memory = px < 200 ? view : view.rbp, left = px < 200 ? 0 : 202;
      if (py > 240) {
        const k = clamp(Math.floor((px - left - 4) / (190 / view.budget)), 0, view.budget - 1), weight = memory.weights[k];
        return weight === undefined ? "an empty place of the memory" : `example (${memory.supports[k].map((one) => one.toFixed(2)).join(", ")}), weight ${weight.toFixed(3)}`;
      }
      const shown = px < 200 ? field : field && field.rbp;
      return ofField(shown, (px - left) / 198 * SIDE, (py - 22) / 198 * SIDE, (share) => `score ${percent(share)} of the largest`);
    },
  },

  ellipsoid: { ...POINT, sketch: "M38 20a16 7 20 1 1-32-8a16 7 20 1 1 32 8", smooth: ["w", "centre", "factor"],
    legend: [...LABELS, ["line", "the line of the centre"], ["shade", "in the inset: the weights left"]],
    draw(parts, frames, t, view, { hidden }) {
      shaded(parts, view.w);
      parts.push(axes());
      lines(parts, null, hidden);
      points(parts, frames, t);
      // The weights have a picture of their own, enlarged so that the ellipse stays visible.
      const [[a, b], [c, d]] = view.factor, [u, v] = view.centre, ring = [];
      const high = Math.hypot(a, b), wide = Math.hypot(c, d), zoom = Math.min(1e6, 0.9 / Math.max(high, wide, 1e-9)), size = 66, [x0, y0] = [SIDE - size - 6, SIDE - size - 24];
      const put = ([x, y]) => `${(x0 + size * zoom * (x - u)).toFixed(1)},${(y0 - size * zoom * (y - v)).toFixed(1)}`;
      for (let k = 0; k <= 72; k++) {
        const p = Math.cos(k * Math.PI / 36), q = Math.sin(k * Math.PI / 36);
        ring.push([u + a * p + b * q, v + c * p + d * q]);
      }
      for (const [name, opacity] of [["page", 0.94], ["axis", 1]]) parts.push(shape("rect", { x: x0 - size, y: y0 - size - 18, width: 2 * size, height: 2 * size + 36, rx: 6, class: name, "fill-opacity": opacity }));
      parts.push(shape("polygon", { points: ring.map(put).join(" "), class: "plus-area" }), shape("polygon", { points: ring.map(put).join(" "), class: "ink", "stroke-width": 2 }));
      parts.push(shape("circle", { cx: x0, cy: y0, r: 4, class: "fill-ink" }));
      parts.push(label(x0 - size + 6, y0 - size - 3, "weights left"), label(x0 - size + 6, y0 + size + 11, zoom < 1.05 ? "the whole disc" : `enlarged ${zoom < 10 ? zoom.toFixed(1) : Math.round(zoom).toLocaleString("en")} times`));
    },
    tell: (view, field, px, py) => ofLine(view.w, px, py),
  },

  drift: { ...POINT, sketch: "M4 24L16 8M18 24L30 20M32 8L40 24", noun: "function", counted: "log loss", pictured: true, drags: false,
    acts: { ...POINT.acts, target: "Click: a line that turns now and then gives the answer" },
    goal: () => "make the copies change places: answer one way for a while, then the other",
    legend: [...LABELS, ["shade", "stronger: surer"], ["bar", "below: share of the vote of each copy, by round"], ["hidden", "where the target turned"]],
    at: (px, py) => [px / 400 * 200 - 100, 100 - py / 292 * 200].map((p) => clamp(Math.round(p), -100, 100)),
    put: (place) => [200 + 2 * place[0], 146 - 1.46 * place[1]],
    draw(parts, frames, t, view, { field, hidden }) {
      parts.push(background());
      const upper = panel(parts, 0, 0, SIDE, 292, "0 0 400 400"), some = [], marks = [];
      if (field && field.says) picture(some, field);
      if (hidden && border(hidden)) some.push(stroke(border(hidden), { class: "ink", "stroke-width": 3, "stroke-dasharray": "1 5" }));
      upper.append(...some);
      for (const frame of frames.slice(1, t + 1)) // older points fade
        if (t - frame.t < 40) marks.push(...mark(across(frame.x[0]), 146 - 146 * frame.x[1], frame.y, frame.said !== frame.y, frame.t === t, 1 - 0.85 * (t - frame.t) / 40));
      panel(parts, 0, 0, SIDE, 292, "0 0 400 292").append(...marks);
      // Shares of the vote, stacked: a band per copy, by the round in which it started.
      const left = 8, width = 384, top = 316, high = 66, last = Math.max(frames.length - 1, 1), x = (k) => left + width * k / last;
      const rounds = frames.slice(0, t + 1), starts = [...new Set(rounds.flatMap((one) => one.view.copies.map(([first]) => first)))].sort((one, two) => one - two);
      let floor = rounds.map(() => 0);
      starts.forEach((first, k) => {
        const share = rounds.map((one) => (one.view.copies.find(([start]) => start === first) || [0, 0])[1]), roof = floor.map((value, i) => value + share[i]);
        const side = (values) => values.map((value, i) => `${x(i).toFixed(1)} ${(top + high - high * value).toFixed(1)}`);
        parts.push(shape("path", { d: `M${side(roof).join("L")}L${side(floor).reverse().join("L")}z`, class: k === 0 ? "good" : k % 2 ? "plus" : "minus", "fill-opacity": k === 0 ? 0.55 : 0.3 + 0.4 * ((k * 7) % 5) / 4 }));
        floor = roof;
      });
      parts.push(shape("rect", { x: left, y: top, width, height: high, class: "axis" }));
      if (view.turn) for (let k = view.turn; k <= last; k += view.turn) parts.push(shape("line", { x1: x(k), x2: x(k), y1: top - 4, y2: top + high, class: "ink", "stroke-width": 2, "stroke-dasharray": "1 4" }));
      const heaviest = [...view.copies].sort((one, two) => two[1] - one[1])[0];
      parts.push(label(left, 309, heaviest[0] === 1 ? `green: the first copy, which leads with ${percent(heaviest[1])} of the vote` : `the copy of round ${heaviest[0]} leads with ${percent(heaviest[1])} of the vote`));
      parts.push(label(left, 395, "round 0"), label(392, 395, `round ${last}`, "end"));
    },
    describe: nats,
    tell(view, field, px, py, frames, t) {
      if (py < 292) return ofField(field, px, py * SIDE / 292, (share) => `probability ${percent((1 + share) / 2)}`);
      const round = clamp(Math.round((px - 8) / 384 * Math.max(frames.length - 1, 1)), 0, t);
      return `round ${round}: ${frames[round].view.copies.filter(([, weight]) => weight >= 0.005).map(([first, weight]) => `copy of round ${first} ${percent(weight)}`).join(", ")}`;
    },
  },

  tree: { ...POINT, sketch: "M22 4v6M22 10L10 18M22 10L34 18M10 18v10M34 18L28 28M34 18L40 28", noun: "function", counted: "log loss",
    goal: () => "make it cut the plane where you want",
    legend: [...LABELS, ["line", "best pruning, with the +1 : \u22121 that each box has seen since it was cut"], ["shade", "stronger: surer"], ["hidden", "cuts of the target"]],
    draw(parts, frames, t, view, { hidden }) {
      parts.push(background());
      for (const { box: [x0, x1, y0, y1], p } of view.leaves)
        parts.push(shape("rect", { x: across(x0).toFixed(1), y: up(y1).toFixed(1), width: (200 * (x1 - x0)).toFixed(1), height: (200 * (y1 - y0)).toFixed(1), class: p >= 0.5 ? "plus-area" : "minus-area", "fill-opacity": (0.15 + 1.7 * Math.abs(p - 0.5)).toFixed(2) }));
      if (hidden) parts.push(shape("path", { d: `M${across(hidden[0])} 0V${up(hidden[1])}H400M${across(hidden[2])} 0V400`, class: "ink", "stroke-width": 3, "stroke-dasharray": "1 5" }));
      for (const [x0, y0, x1, y1] of view.cuts) parts.push(stroke([[x0, y0], [x1, y1]], { class: "ink", "stroke-width": 2.5 }));
      points(parts, frames, t);
      for (const { box: [x0, x1, y0, y1], counts } of view.leaves)
        if (x1 - x0 > 0.3 && y1 - y0 > 0.15) counted(parts, across((x0 + x1) / 2), up((y0 + y1) / 2) + 4, `${counts[1]} : ${counts[0]}`);
      caption(parts, 10, 19, view.leaves.length > 1 ? `best pruning: ${view.leaves.length} leaves` : "no cut pays yet: each side needs at least 8 points");
    },
    tell(view, field, px, py) {
      const [x, y] = plane(px, py), leaf = view.leaves.find(({ box: [x0, x1, y0, y1] }) => (x > x0 || x0 === -1) && x <= x1 && (y > y0 || y0 === -1) && y <= y1);
      return leaf ? `${where([x, y])}: a leaf with ${leaf.counts[1]} of +1 and ${leaf.counts[0]} of \u22121, which forecasts +1 with probability ${percent(leaf.p)}` : "";
    },
    describe: nats,
  },

  risk: { ...POINT, sketch: "M4 8h34M10 15h28M20 22h18M28 29h10", counted: "% wrong since kept", percent: true, short: "% wrong", promise: "risk at most, in %", after: true, drags: false,
    acts: { ...POINT.acts, target: "Click, or let points be drawn: a hidden line with noise answers" },
    goal: () => "spoil the line that is kept",
    legend: [...LABELS, ["line", "the line of now"], ["good", "the line to keep"], ["bar", "below: rounds each line was tested on, and its risk limit"], ["hidden", "target"]],
    at: (px, py) => [px / 400 * 200 - 100, 100 - py / 268 * 200].map((p) => clamp(Math.round(p), -100, 100)),
    put: (place) => [200 + 2 * place[0], 134 - 1.34 * place[1]],
    draw(parts, frames, t, view, { hidden }) {
      parts.push(background());
      const kept = view.lines[view.kept], inside = [], some = [];
      shaded(inside, kept.w);
      if (border(kept.w)) inside.push(stroke(border(kept.w), { class: "good-line", "stroke-width": 4 }));
      if (border(view.w)) inside.push(stroke(border(view.w), { class: "ink", "stroke-width": 1.5, "stroke-dasharray": "10 4" }));
      if (hidden) inside.push(stroke(border(hidden), { class: "ink", "stroke-width": 3, "stroke-dasharray": "1 5" }));
      panel(parts, 0, 0, SIDE, 268, "0 0 400 400").append(...inside.filter((one) => one.tagName !== "text"));
      for (const frame of frames.slice(1, t + 1)) some.push(...mark(across(frame.x[0]), 134 - 134 * frame.x[1], frame.y, frame.said !== frame.y, frame.t === t));
      panel(parts, 0, 0, SIDE, 268, "0 0 400 268").append(...some);
      if (hidden) caption(parts, 10, 19, `true error rate of the line kept: about ${hidden[3].toFixed(1)} %`);
      // A row per line, the last ones: the bar starts where the line was made and ends now.
      const rows = view.lines.map((line, k) => ({ ...line, k })).filter((line) => line.k === view.kept || line.k > view.lines.length - 7).slice(-7), last = Math.max(t, 1), x = (k) => 8 + 292 * k / last;
      parts.push(label(8, 284, "line made in round"), label(392, 284, "risk at most", "end"));
      rows.forEach((line, i) => {
        const y = 290 + 15 * i, best = line.k === view.kept;
        parts.push(shape("rect", { x: x(line.first), y, width: Math.max(x(t) - x(line.first), 1), height: 11, class: best ? "good" : "fill-ink", "fill-opacity": best ? 0.8 : 0.25 }));
        parts.push(label(Math.min(x(line.first) + 3, 190), y + 9.5, `${line.first}: ${line.errors} error${line.errors === 1 ? "" : "s"} in ${t - line.first}`, "start", { class: "small" }));
        parts.push(label(392, y + 9.5, t > line.first ? `${limit(line.limit, true)} %${best ? "  keep" : ""}` : "untested", "end", { class: best ? "good small" : "small" }));
      });
    },
    tell: (view, field, px, py) => (py < 268 ? ofLine(view.lines[view.kept].w, px, py * SIDE / 268) : ""),
    describe: (frames, t) => { const { view } = frames[t], kept = view.lines[view.kept]; return `Round ${t}: the learner predicted ${sign(frames[t].said)}, the answer was ${sign(frames[t].y)}. Best kept: the line of round ${kept.first}, wrong ${kept.errors} times in ${t - kept.first}.`; },
  },
};

const SCALE = 3; // u of length 3 reaches the edge of the picture
