// Scenes of finite classes: thresholds, boxes, and directions that cover a circle or a sphere.
import { across, background, caption, clamp, label, LABELS, mark, percent, POINT, points, SCENE, shape, SIDE, stroke, up, border } from "./draw.js";

const LINE = { ...SCENE, noun: "threshold", smooth: ["lo", "hi"],
  at: (px, py, limits) => [clamp(Math.floor((px - 20) / 360 * (limits[0][1] + 1)), 0, limits[0][1])],
  put: (place, limits) => [20 + 360 * (place[0] + 0.5) / (limits[0][1] + 1), 24],
  where: (place) => `x = ${place[0]}`,
  draw(parts, frames, t, view, { hidden }) {
    const x = (value) => 20 + 360 * value / (view.n + 1), shown = frames.slice(0, t + 1);
    const step = Math.min(19, 340 / shown.length), thin = step < 12;
    parts.push(background());
    shown.forEach((frame, k) => {
      const y = 34 + step * k, { lo, hi } = k === t ? view : frame.view;
      if (!thin) parts.push(shape("line", { x1: 20, x2: 380, y1: y, y2: y, class: "axis", "stroke-opacity": 0.6 }));
      parts.push(shape("rect", { x: x(lo) - 2, y: y - step / 4, width: Math.max(x(hi) - x(lo), 0) + 4, height: step / 2, rx: 2, class: "fill-ink", "fill-opacity": frame.t === t ? 0.85 : 0.3 }));
      if (frame.x === null) return;
      if (!thin || frame.t === t) parts.push(...mark(x(frame.x + 0.5), y, frame.y, frame.said !== frame.y, frame.t === t));
      else parts.push(shape("circle", { cx: x(frame.x + 0.5).toFixed(1), cy: y.toFixed(1), r: Math.max(1.5, step / 3).toFixed(1), class: frame.y > 0 ? "plus" : "minus" }));
    });
    if (hidden) parts.push(shape("line", { x1: x(hidden[0]), x2: x(hidden[0]), y1: 24, y2: 376, class: "ink", "stroke-width": 3, "stroke-dasharray": "1 5" }));
    const [lo, hi] = [Math.round(view.lo), Math.round(view.hi)];
    parts.push(label(20, 18, lo <= hi ? `thresholds ${lo} to ${hi} left, ${hi - lo + 1} of ${view.n + 2}` : "no threshold left"));
    parts.push(label(20, 394, "0"), label(380, 394, view.n, "end"));
  },
  tell(view, field, px) {
    const place = clamp(Math.floor((px - 20) / 360 * (view.n + 1)), 0, view.n), all = view.hi - view.lo + 1;
    return all > 0 ? `x = ${place}: ${Math.max(0, Math.min(view.hi, place) - view.lo + 1)} of ${all} thresholds left vote +1` : "";
  },
  pending: (open, view) => [20 + 360 * (open.x + 0.5) / (view.n + 1), 370],
};

const share = (view, x) => { // of the directions left that predict +1
  const left = view.angles.filter((_, i) => view.alive[i]);
  return left.filter((angle) => x[0] * Math.cos(angle) + x[1] * Math.sin(angle) >= 0).length / Math.max(left.length, 1);
};

const BALL = 170, MIDDLE = 214; // of the sphere in the picture: its radius, and the height of its centre
const globe = (view, frames, t) => { for (let k = t; k >= 0; k--) if (frames[k].view.points && frames[k].view.epsilon === view.epsilon) return frames[k].view.points; return []; };

export const FINITE = {
  thresholds: { ...LINE, sketch: "M4 8h36M12 16h22M18 24h10",
    legend: [["bar", "thresholds still consistent, a row per round"], ["plus", "labelled +1"], ["minus", "labelled \u22121"], ["ring", "mistake"]],
  },

  race: { ...LINE, of: "Halving", sketch: "M4 8h36M4 14h24M4 20h12M34 14l6 6l-6 6",
    legend: [["bar", "thresholds still consistent: Halving follows their majority, Consistent the first of them"], ["ring", "mistake of Halving"]],
    draw(parts, frames, t, view, more) {
      LINE.draw(parts, frames, t, view, more);
      parts.push(label(200, 394, `mistakes: Halving ${frames[t].paid}, Consistent ${(frames[t].others || {}).Consistent || 0}`, "middle"));
    },
  },

  boxes: { ...SCENE, sketch: "M12 8h20v16h-20zM18 16h6M21 13v6", noun: "box", pictured: true, drags: true,
    legend: [["plus", "tasty (+1)"], ["minus", "not (\u22121)"], ["ring", "mistake"], ["shade", "share of the boxes that vote +1"], ["square", "smallest box around the tasty ones"]],
    acts: { ...SCENE.acts, me: "Click a cell to taste that papaya", target: "Click a cell to taste that papaya" },
    at: (px, py, limits) => { const m = limits[0][1] + 1; return [px, SIDE - py].map((p) => clamp(Math.floor(p / SIDE * m), 0, m - 1)); },
    put: (place, limits) => { const m = limits[0][1] + 1; return [(place[0] + 0.5) * SIDE / m, SIDE - (place[1] + 0.5) * SIDE / m]; },
    where: (place) => `colour ${place[0]}, softness ${place[1]}`,
    draw(parts, frames, t, view, { field, hidden }) {
      const m = view.m, size = SIDE / m;
      parts.push(background(), background("minus-area", 0.6));
      if (field && field.shares) field.shares.forEach((yes, i) => {
        if (yes > 0) parts.push(shape("rect", { x: ((i % m) * size).toFixed(1), y: (Math.floor(i / m) * size).toFixed(1), width: size.toFixed(1), height: size.toFixed(1), class: "plus", "fill-opacity": (0.55 * yes).toFixed(3) }));
      });
      const cells = (low, high, more) => shape("rect", { x: low[0] * size, y: SIDE - (high[1] + 1) * size, width: (high[0] - low[0] + 1) * size, height: (high[1] - low[1] + 1) * size, class: "ink", ...more });
      if (view.low) parts.push(cells(view.low, view.high, { "stroke-width": 2.5 }));
      if (hidden) parts.push(cells([hidden[0], hidden[2]], [hidden[1], hidden[3]], { "stroke-width": 3, "stroke-dasharray": "1 5" }));
      for (const frame of frames.slice(1, t + 1))
        parts.push(...mark((frame.x[0] + 0.5) * size, SIDE - (frame.x[1] + 0.5) * size, frame.y, frame.said !== frame.y, frame.t === t));
      caption(parts, 10, 19, `${view.left.toLocaleString("en")} boxes left`);
      parts.push(label(392, 392, "colour \u2192", "end"), label(8, 392, "softness \u2191"));
    },
    tell(view, field, px, py) {
      const [c, row] = [px, py].map((p) => clamp(Math.floor(p / SIDE * view.m), 0, view.m - 1));
      return field && field.shares ? `colour ${c}, softness ${view.m - 1 - row}: ${percent(field.shares[row * view.m + c])} of the boxes left vote +1` : "";
    },
    pending: (open, view) => [(open.x[0] + 0.5) * SIDE / view.m, SIDE - (open.x[1] + 0.5) * SIDE / view.m],
  },

  halfspaces: { ...POINT, sketch: "M34 16a12 12 0 1 1-24 0a12 12 0 1 1 24 0M14 26L30 6",
    legend: [...LABELS, ["dot", "direction still consistent"], ["shade", "stronger: clearer vote"], ["line", "cut of this round"]],
    draw(parts, frames, t, view, { hidden }) {
      parts.push(background());
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
      if (hidden && border(hidden)) parts.push(stroke(border(hidden), { class: "ink", "stroke-width": 3, "stroke-dasharray": "1 5" }));
      const now = frames[t];
      if (now.x) {
        const far = Math.hypot(now.x[0], now.x[1]) || 1, [a, b] = [-now.x[1] / far, now.x[0] / far];
        parts.push(shape("line", { x1: across(-a), y1: up(-b), x2: across(a), y2: up(b), class: "ink", "stroke-dasharray": "5 4" }));
      }
      points(parts, frames, t);
      caption(parts, 10, 19, `${left} of ${view.alive.length} directions left`);
    },
    tell(view, field, px, py) {
      const [x, y] = [(px - 200) / 200, (200 - py) / 200];
      return `(${x.toFixed(2)}, ${y.toFixed(2)}): ${percent(share(view, [x, y]))} of the directions left vote +1`;
    },
  },

  sphere: { ...POINT, sketch: "M36 16a14 14 0 1 1-28 0a14 14 0 1 1 28 0M8 16a14 5 0 1 0 28 0M22 2v28", noun: "direction", drags: false,
    legend: [["dot", "direction still consistent; pale ones are behind"], ["ring", "mistake"], ["plus", "x labelled +1"], ["minus", "x labelled \u22121"], ["line", "cut of this round"]],
    at: (px, py) => [px - 200, MIDDLE - py].map((p) => clamp(Math.round(100 * p / BALL), -100, 100)),
    put: (place) => { const far = Math.max(1, Math.hypot(place[0], place[1]) / 100); return [200 + BALL / 100 * place[0] / far, MIDDLE - BALL / 100 * place[1] / far]; },
    acts: { ...SCENE.acts, me: "Click a point of the sphere" },
    draw(parts, frames, t, view, { hidden }) {
      const put = ([x, y]) => [(200 + BALL * x).toFixed(1), (MIDDLE - BALL * y).toFixed(1)], now = frames[t].x;
      parts.push(background());
      const shadow = shape("radialGradient", { id: "ball", cx: "38%", cy: "32%", r: "75%" });
      for (const [offset, opacity] of [[0, 0.15], [1, 0.9]]) shadow.append(shape("stop", { offset, class: "plus-stop", "stop-opacity": opacity }));
      parts.push(shadow, shape("circle", { cx: 200, cy: MIDDLE, r: BALL, fill: "url(#ball)" }), shape("circle", { cx: 200, cy: MIDDLE, r: BALL, class: "axis", "stroke-width": 1.5 }));
      if (now) { // the great circle of the directions orthogonal to x, its front half solid
        const [a, b, c] = now, near = Math.hypot(a, b) || 1e-9, e = near > 1e-6 ? [-b / near, a / near, 0] : [1, 0, 0];
        const f = [b * e[2] - c * e[1], c * e[0] - a * e[2], a * e[1] - b * e[0]];
        for (const [front, dash] of [[true, "none"], [false, "2 5"]]) {
          let d = "", pen = false;
          for (let k = 0; k <= 120; k++) {
            const [p, q] = [Math.cos(k * Math.PI / 60), Math.sin(k * Math.PI / 60)], at = [0, 1, 2].map((i) => p * e[i] + q * f[i]);
            if ((at[2] >= 0) !== front) { pen = false; continue; }
            d += `${pen ? "L" : "M"}${put(at).join(" ")}`;
            pen = true;
          }
          if (d) parts.push(shape("path", { d, class: "ink", "stroke-width": 1.6, "stroke-dasharray": dash, "stroke-opacity": front ? 1 : 0.6 }));
        }
      }
      const all = globe(view, frames, t);
      all.forEach((at, i) => {
        const [cx, cy] = put(at), alive = view.alive[i] === "1", front = at[2] >= 0;
        parts.push(shape("circle", { cx, cy, r: alive ? (front ? 4.5 : 3.5) : 1.6, class: alive ? "fill-ink" : "axis", opacity: front ? 1 : 0.4 }));
      });
      if (hidden) {
        const [cx, cy] = put(hidden);
        parts.push(shape("circle", { cx, cy, r: 9, class: "good-line", "stroke-width": 3, "stroke-dasharray": hidden[2] >= 0 ? "none" : "3 3" }), label(cx, Number(cy) - 14, "target", "middle", { class: "good" }));
      }
      for (const frame of frames.slice(1, t + 1)) { const [x, y] = put(frame.x).map(Number); parts.push(...mark(x, y, frame.y, frame.said !== frame.y, frame.t === t)); }
      const left = (view.alive.match(/1/g) || []).length;
      parts.push(label(8, 18, `${left} of ${view.alive.length} directions left, within ${view.epsilon} of every direction`));
    },
    tell(view, field, px, py, frames, t) {
      const [a, b] = [(px - 200) / BALL, (MIDDLE - py) / BALL], far = Math.hypot(a, b), x = far >= 1 ? [a / far, b / far, 0] : [a, b, Math.sqrt(1 - far * far)];
      const left = globe(view, frames, t).filter((_, i) => view.alive[i] === "1"), yes = left.filter((w) => w[0] * x[0] + w[1] * x[1] + w[2] * x[2] >= 0).length;
      return left.length ? `x = (${x.map((one) => one.toFixed(2)).join(", ")}): ${yes} of ${left.length} directions left vote +1` : "";
    },
    pending: (open) => [200 + BALL * open.x[0], MIDDLE - BALL * open.x[1]],
  },
};
