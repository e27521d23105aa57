// Charts and cards beside a game: mistakes and their bound, the two sides of a proof, certificates.
import { shape } from "./draw.js";

// `bounds` has (round, bound, whether it stays in the curve, text); the loss never falls, so a bound at a round holds for
// every round before it, and the curve is a staircase: each stair ends at its round.
export function curve(svg, frames, t, bounds, apriori) {
  const last = Math.max(frames[frames.length - 1].t, 1), left = 34, right = 360, top = 34, bottom = 164;
  const paid = frames[frames.length - 1].paid, near = (bound) => bound <= 4 * Math.max(paid, 4);
  const high = Math.max(paid, ...frames.map((frame) => (frame.view && frame.view.other) || 0), apriori && apriori <= 40 ? apriori : 0, ...bounds.map(([, bound]) => bound).filter(near), 4) * 1.05;
  const x = (round) => left + (right - left) * round / last, y = (value) => bottom - (bottom - top) * value / high;
  const parts = [shape("path", { d: `M${left} ${top}V${bottom}H${right}`, class: "axis" })];
  for (let k = 0, step = Math.max(1, 10 ** Math.floor(Math.log10(high)) / (high / 10 ** Math.floor(Math.log10(high)) < 3 ? 2 : 1)); k * step <= high; k++)
    parts.push(shape("text", { x: left - 4, y: y(k * step) + 4, "text-anchor": "end" }, k * step));
  parts.push(shape("text", { x: right, y: bottom + 16, "text-anchor": "end" }, `${last.toLocaleString("en")} rounds`));
  if (apriori && apriori <= high) parts.push(shape("line", { x1: left, x2: right, y1: y(apriori), y2: y(apriori), class: "ink", "stroke-dasharray": "1 4", "stroke-width": 2 }));
  const [end, bound, , allowed] = bounds.find(([round]) => round === frames[t].t) || bounds[bounds.length - 1] || [0, 0, true, ""];
  if (bounds.length) {
    const frame = shape("clipPath", { id: "frame" }); // cut off at the frame, never moved into it
    frame.append(shape("rect", { x: left, y: top - 2, width: right - left, height: bottom - top + 2 }));
    const d = `M${left} ` + bounds.map(([round, level]) => `${y(level).toFixed(1)}H${x(round).toFixed(1)}`).join("V");
    parts.push(frame, shape("path", { d, class: "minus-line", "stroke-dasharray": "6 3", "stroke-width": 2, "clip-path": "url(#frame)" }));
    if (bound <= high) {
      parts.push(shape("circle", { cx: x(end), cy: y(bound), r: 3, class: "minus" }));
      const inside = end < last || allowed.length > 5;
      parts.push(shape("text", { x: x(end) + (inside ? 0 : 5), y: y(bound) + (inside ? -6 : 4), "text-anchor": end < last ? "middle" : inside ? "end" : "start" }, allowed));
    }
  }
  parts.push(shape("path", { d: "M" + frames.map((frame) => `${x(frame.t).toFixed(1)} ${y(frame.paid).toFixed(1)}`).join("L"), class: "plus-line", "stroke-width": 2 }));
  const others = frames.filter((frame) => frame.view && frame.view.other !== undefined); // a second learner on the same rounds
  if (others.length) parts.push(shape("path", { d: "M" + others.map((frame) => `${x(frame.t).toFixed(1)} ${y(frame.view.other).toFixed(1)}`).join("L"), class: "good-line", "stroke-width": 1.5 }));
  const now = frames[t];
  parts.push(shape("circle", { cx: x(now.t), cy: y(now.paid), r: 4.5, class: "plus" }));
  const counts = Number.isInteger(frames[frames.length - 1].paid);
  parts.push(shape("text", { x: left, y: 12 }, (others.length ? "mistakes: blue Halving, green Consistent; dashed: " : `solid: ${now.view && now.view.cover ? "values outside" : counts ? "mistakes" : "loss"}; dashed: `) + (bounds.length && bound > high ? `bound (${allowed}, off the chart)` : "guaranteed at most")));
  if (apriori) parts.push(shape("text", { x: left, y: 26 }, `dotted: guaranteed in advance, ${apriori}`));
  svg.replaceChildren(...parts);
}

const SIGNS = [["||", "\u2016"], ["sqrt", "\u221a"], ["^2", "\u00b2"], ["<", "\u27e8"], [">", "\u27e9"], ["log2", "log\u2082"], ["kappa", "\u03ba"], ["eta", "\u03b7"], ["sum ", "\u03a3 "], [" - ", " \u2212 "]];
const typeset = (text) => SIGNS.reduce((found, [plain, sign]) => found.split(plain).join(sign), text);

// The chain of inequalities of the proof after each mistake: its members may not cross.
export function chain(svg, proof) {
  const { points, chain: names } = proof, left = 40, right = 392 - 7 * Math.max(...names.map((name) => typeset(name).length)), top = 16, bottom = 160;
  const most = Math.max(points[points.length - 1][0], 1), values = points.flatMap(([, ...members]) => members);
  const low = Math.min(...values), high = Math.max(...values, low + 1e-9);
  const x = (m) => left + (right - left) * m / most, y = (value) => bottom - (bottom - top) * (value - low) / (high - low);
  const parts = [shape("path", { d: `M${left} ${top}V${bottom}H${right}`, class: "axis" })];
  for (const value of [low, high]) parts.push(shape("text", { x: left - 4, y: y(value) + 4, "text-anchor": "end" }, Number(value.toPrecision(3))));
  parts.push(shape("text", { x: right, y: bottom + 16, "text-anchor": "end" }, `${most} ${proof.each}${most === 1 ? "" : "s"}`));
  const at = (k) => points.map(([m, ...members]) => `${x(m).toFixed(1)} ${y(members[k]).toFixed(1)}`), end = names.length - 1;
  parts.push(shape("path", { d: `M${at(0).join("L")}L${at(end).reverse().join("L")}z`, class: "good", "fill-opacity": 0.12 }));
  const kinds = names.map((_, k) => (k === 0 ? "plus-line" : k === end ? "minus-line" : "good-line"));
  names.forEach((_, k) => parts.push(shape("path", { d: `M${at(k).join("L")}`, class: kinds[k], "stroke-width": k % end ? 1.5 : 2.5 })));
  const ends = names.map((name, k) => ({ name, k, place: y(points[points.length - 1][k + 1]) })).sort((one, two) => two.place - one.place || one.k - two.k);
  ends.forEach((one, i) => { one.at = Math.min(one.place, i ? ends[i - 1].at - 14 : bottom); }); // labels do not overlap
  for (const { name, k, at: place } of ends) parts.push(shape("text", { x: right + 5, y: place + 4, class: kinds[k].replace("-line", "") }, typeset(name)));
  svg.replaceChildren(...parts);
}

export const proved = (proof) => `Proof of ${proof.theorem}, on this game: after every ${proof.each} ${proof.chain.map(typeset).join(" \u2264 ")}${proof.failed ? " FAILED" : ""}. No more mistakes fit between the two outer lines once they meet.`;

const BADGES = { valid: "\u2713 Valid", conditional: "\u2713 Holds if the assumptions hold", vacuous: "\u2013 Not informative", void: "\u2013 No guarantee", violated: "\u2717 VIOLATED" };

export function cards(where, certificates, explain) {
  if (where.shown === certificates) return;
  where.shown = certificates;
  const open = new Set([...where.querySelectorAll("details[open]")].map((one) => one.dataset.theorem || "weak"));
  const made = certificates.map((one) => card(one, explain, open));
  const weak = made.filter((_, i) => certificates[i].status === "vacuous"), rest = made.filter((_, i) => certificates[i].status !== "vacuous");
  if (weak.length > 1 || (weak.length && rest.length)) { // folded to one line
    const fold = document.createElement("details"), summary = document.createElement("summary");
    summary.textContent = weak.length === 1 ? "1 guarantee is not informative yet" : `${weak.length} guarantees are not informative yet`;
    fold.append(summary, ...weak);
    fold.open = open.has("weak");
    where.replaceChildren(...rest, fold);
  } else where.replaceChildren(...made);
}

function card(one, explain, open) {
  const made = document.createElement("div"), head = document.createElement("p"), badge = document.createElement("span"), name = document.createElement("span"), text = document.createElement("p");
  made.className = `card ${one.status}`;
  badge.className = "badge"; badge.textContent = BADGES[one.status];
  name.className = "faint"; name.textContent = one.theorem;
  text.textContent = one.sentence;
  head.append(badge, " ", name);
  made.append(head, text);
  if (explain) {
    const more = document.createElement("details"), summary = document.createElement("summary"), body = document.createElement("pre");
    summary.textContent = "Theorem and proof";
    more.append(summary, body);
    more.dataset.theorem = one.theorem;
    more.open = open.has(one.theorem);
    more.addEventListener("toggle", async () => { if (more.open && !body.textContent) body.textContent = await explain(one.theorem); });
    made.append(more);
  }
  return made;
}
