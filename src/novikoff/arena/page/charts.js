// Charts and cards beside a game: mistakes and their bound, the two sides of a proof, certificates.
import { limit, shape } from "./draw.js";
import { formula } from "./formula.js";

const shownNumber = (value) => (Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(2));

// Round numbers from 0 to `high`, about `wanted` of them; steps of at least `least`.
export function ticks(high, wanted = 5, least = 0) {
  const size = 10 ** Math.floor(Math.log10(high / wanted)), step = Math.max(least, size * [1, 2, 5, 10].find((one) => high / (one * size) <= wanted));
  return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, k) => Number((k * step).toPrecision(12)));
}

// The round numbers of both axes; the last round is written at the end of its axis.
function scales(parts, { x, y, high, last, left, right, bottom }, text, least) {
  for (const value of ticks(high, 5, least)) {
    parts.push(shape("path", { d: `M${left} ${y(value).toFixed(1)}H${right}`, class: "axis", "stroke-opacity": value ? 0.35 : 1 }));
    parts.push(shape("text", { x: left - 5, y: (y(value) + 4).toFixed(1), "text-anchor": "end", class: "faint" }, text(value)));
  }
  const end = `${last.toLocaleString("en")} round${last === 1 ? "" : "s"}`;
  for (const value of ticks(last, 4, 1)) {
    const label = value.toLocaleString("en");
    if (value && x(value) + 3.5 * label.length < right - 7 * end.length - 6) parts.push(shape("text", { x: x(value).toFixed(1), y: bottom + 16, "text-anchor": "middle", class: "faint" }, label));
  }
  parts.push(shape("text", { x: right, y: bottom + 16, "text-anchor": "end", class: "faint" }, end));
}

// The mean so far and that of the last twentieth of the rounds; the first fiftieth, whose mean is noise, is left out.
export function rates(svg, points, name, percent) {
  const last = points[points.length - 1].t, window = Math.max(last / 20, 1), times = percent ? 100 : 1, left = 52, right = 340, top = 12, bottom = 168;
  const mean = points.filter(({ t }) => t > last / 50).map(({ t, paid }) => [t, times * paid / t]), recent = [];
  let from = 0;
  points.forEach(({ t, paid }, k) => {
    while (from + 1 < k && points[from + 1].t <= t - window) from++;
    if (t >= window && t > points[from].t && t > last / 50) recent.push([t, times * (paid - points[from].paid) / (t - points[from].t)]);
  });
  const high = 1.05 * Math.max(...mean.map(([, rate]) => rate), ...recent.map(([, rate]) => rate), 1e-9);
  const x = (round) => left + (right - left) * round / last, y = (value) => bottom - (bottom - top) * value / high, parts = [], ends = [];
  const brief = (value) => `${Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 })}${percent ? " %" : ""}`;
  scales(parts, { x, y, high, last, left, right, bottom }, brief, 0);
  for (const [line, text, kind, width] of [[recent, "lately", "good", 1.5], [mean, name, "plus", 2.5]]) {
    if (!line.length) continue;
    parts.push(shape("path", { d: "M" + line.map(([t, rate]) => `${x(t).toFixed(1)} ${y(rate).toFixed(1)}`).join("L"), class: `${kind}-line`, "stroke-width": width }));
    const [, now] = line[line.length - 1];
    ends.push({ y: y(now), text: `${text} ${brief(now)}`, name: kind === "plus" ? "plus strong" : kind });
  }
  labelled(parts, ends, right + 10, top, bottom);
  svg.replaceChildren(...parts);
}

// Labels at the right end of their lines, moved apart where they would overlap.
function labelled(parts, ends, x, low, high) {
  ends.sort((one, two) => one.y - two.y);
  ends.forEach((one, k) => { one.at = Math.max(one.y, k ? ends[k - 1].at + 15 : low); });
  for (let k = ends.length - 1, most = high; k >= 0; k--, most = ends[k + 1].at - 15) ends[k].at = Math.min(ends[k].at, most);
  for (const { y, at, text, name } of ends) {
    if (Math.abs(at - y) > 4) parts.push(shape("path", { d: `M${x - 6} ${y.toFixed(1)}L${x - 2} ${at.toFixed(1)}`, class: "axis" }));
    parts.push(shape("text", { x, y: (at + 4).toFixed(1), class: name }, text));
  }
}

// `bounds` has (round, bound, whether it stays in the curve, text). A sum of losses never falls, so its bound at a round
// covers every round before: the curve is a staircase, each stair ends at its round. With `after`, a bound is about what
// is kept from its round on, and each stair begins there. `counted` names what the solid line counts.
export function curve(svg, frames, t, bounds, apriori, { counted, short, after, percent } = {}) {
  const last = Math.max(frames[frames.length - 1].t, 1), right = 340, top = 12, bottom = 168;
  const most = Math.max(...frames.map((frame) => frame.paid), ...frames.flatMap((frame) => Object.values(frame.others || {})), 4);
  const near = (bound) => bound <= Math.max(10 * most, 2.5 * last, 40);
  const high = 1.05 * Math.max(most, apriori && apriori <= 40 ? apriori : 0, ...bounds.map(([, bound]) => bound).filter(near));
  const text = (value) => value.toLocaleString("en"), left = Math.max(38, 12 + 7 * text(Math.floor(high)).length);
  const x = (round) => left + (right - left) * round / last, y = (value) => bottom - (bottom - top) * value / high;
  const parts = [], ends = [];
  scales(parts, { x, y, high, last, left, right, bottom }, text, 1);
  if (apriori && apriori <= high) {
    parts.push(shape("line", { x1: left, x2: right, y1: y(apriori), y2: y(apriori), class: "ink", "stroke-dasharray": "1 4", "stroke-width": 2 }));
    ends.push({ y: y(apriori), text: `in advance ${apriori}`, name: "" });
  }
  const now = frames[t], known = bounds.filter(([round]) => (after ? round <= t : true)), spot = bounds.find(([round]) => round === t) || known[known.length - 1];
  if (bounds.length) {
    const frame = shape("clipPath", { id: "frame" }); // cut off at the frame, never moved into it
    frame.append(shape("rect", { x: left, y: top - 2, width: right - left, height: bottom - top + 2 }));
    const d = after ? "M" + bounds.map(([round, level], k) => `${x(round).toFixed(1)} ${y(level).toFixed(1)}H${x(k + 1 < bounds.length ? bounds[k + 1][0] : last).toFixed(1)}`).join("L")
      : `M${left} ` + bounds.map(([round, level]) => `${y(level).toFixed(1)}H${x(round).toFixed(1)}`).join("V");
    parts.push(frame, shape("path", { d, class: "minus-line", "stroke-dasharray": "6 3", "stroke-width": 2, "clip-path": "url(#frame)" }));
    if (spot) {
      const [end, bound] = spot, allowed = limit(bound, percent), inside = bound <= high;
      if (inside) parts.push(shape("circle", { cx: x(end).toFixed(1), cy: y(bound).toFixed(1), r: 3.5, class: "minus" }));
      ends.push({ y: inside ? y(bound) : top, text: `at most ${allowed}${inside ? "" : " \u2191"}`, name: "minus bound strong" });
    }
  }
  for (const name of Object.keys(frames[frames.length - 1].others || {})) { // a second learner, or the best in hindsight
    const others = frames.filter((frame) => frame.others && frame.others[name] !== undefined);
    parts.push(shape("path", { d: "M" + others.map((frame) => `${x(frame.t).toFixed(1)} ${y(frame.others[name]).toFixed(1)}`).join("L"), class: "good-line", "stroke-width": 1.8 }));
    if (now.others && now.others[name] !== undefined) ends.push({ y: y(now.others[name]), text: `${name} ${shownNumber(now.others[name])}`, name: "good" });
  }
  const line = (some) => "M" + some.map((frame) => `${x(frame.t).toFixed(1)} ${y(frame.paid).toFixed(1)}`).join("L");
  parts.push(shape("path", { d: line(frames), class: "plus-line", "stroke-width": 2, "stroke-opacity": 0.3 }), shape("path", { d: line(frames.slice(0, t + 1)), class: "plus-line", "stroke-width": 2.5 }));
  parts.push(shape("circle", { cx: x(now.t).toFixed(1), cy: y(now.paid).toFixed(1), r: 4.5, class: "plus" }));
  ends.push({ y: y(now.paid), text: `${short || counted || (Number.isInteger(now.paid) ? "mistakes" : "loss")} ${shownNumber(now.paid)}`, name: "plus strong" });
  labelled(parts, ends, right + 10, top, bottom);
  svg.replaceChildren(...parts);
}

const SIGNS = [["||", "\u2016"], ["sqrt", "\u221a"], ["^2", "\u00b2"], ["<", "\u27e8"], [">", "\u27e9"], ["log2", "log\u2082"], ["kappa", "\u03ba"], ["eta", "\u03b7"], ["sum ", "\u03a3 "], [" - ", " \u2212 "], ["_1", "\u2081"]];
const typeset = (text) => SIGNS.reduce((found, [plain, sign]) => found.split(plain).join(sign), text.replace(/^-/, "\u2212"));

// The chain of inequalities of the proof after each mistake: its members may not cross.
export function chain(svg, proof) {
  const { points, chain: names } = proof, left = 52, right = 470 - 7.2 * Math.max(...names.map((name) => typeset(name).length)), top = 16, bottom = 160;
  const most = Math.max(points[points.length - 1][0], 1), values = points.flatMap(([, ...members]) => members);
  const low = Math.min(...values), high = Math.max(...values, low + 1e-9);
  const x = (m) => left + (right - left) * m / most, y = (value) => bottom - (bottom - top) * (value - low) / (high - low);
  const parts = [shape("path", { d: `M${left} ${top}V${bottom}H${right}`, class: "axis" })];
  for (const value of [low, high]) parts.push(shape("text", { x: left - 5, y: y(value) + 4, "text-anchor": "end", class: "faint" }, String(Number(value.toPrecision(3))).replace("-", "\u2212")));
  parts.push(shape("text", { x: right, y: bottom + 16, "text-anchor": "end", class: "faint" }, `${most} ${proof.each}${most === 1 ? "" : "s"}`));
  const at = (k) => points.map(([m, ...members]) => `${x(m).toFixed(1)} ${y(members[k]).toFixed(1)}`), end = names.length - 1;
  parts.push(shape("path", { d: `M${at(0).join("L")}L${at(end).reverse().join("L")}z`, class: "good", "fill-opacity": 0.12 }));
  const kinds = names.map((_, k) => (k === 0 ? "plus" : k === end ? "minus" : "good"));
  names.forEach((_, k) => parts.push(shape("path", { d: `M${at(k).join("L")}`, class: `${kinds[k]}-line`, "stroke-width": k % end ? 1.5 : 2.5 })));
  labelled(parts, names.map((name, k) => ({ y: y(points[points.length - 1][k + 1]), text: typeset(name), name: kinds[k] })), right + 10, top, bottom);
  svg.replaceChildren(...parts);
}

export const proved = (proof) => `Proof of ${proof.theorem}, on this game: after every ${proof.each} ${proof.chain.map(typeset).join(" \u2264 ")}${proof.failed ? " FAILED" : ""}. No more mistakes fit between the two outer lines once they meet.`;

const BADGES = { valid: "\u2713 Valid", conditional: "\u2713 Holds if the assumptions hold", vacuous: "\u2013 Not informative", void: "\u2013 No guarantee", violated: "\u2717 VIOLATED" };

export function cards(where, certificates, explain) {
  if (where.shown === certificates) return;
  where.shown = certificates;
  const open = new Set([...where.querySelectorAll("details[open]")].map((one) => one.dataset.theorem || "weak"));
  const rank = (one) => (one.main ? 0 : { void: 2, vacuous: 3 }[one.status] || 1); // first the guarantee of the score and the chart
  const ranked = [...certificates].sort((one, two) => rank(one) - rank(two)), made = ranked.map((one) => card(one, explain, open));
  const weak = made.filter((_, i) => i > 0 && rank(ranked[i]) === 3), rest = made.filter((one) => !weak.includes(one));
  if (weak.length) { // folded to one line
    const fold = document.createElement("details"), summary = document.createElement("summary");
    summary.textContent = weak.length === 1 ? "1 more guarantee is not informative yet" : `${weak.length} more guarantees are not informative yet`;
    fold.append(summary, ...weak);
    fold.open = open.has("weak");
    rest.push(fold);
  }
  where.replaceChildren(...rest);
}

function card(one, explain, open) {
  const made = document.createElement("div"), head = document.createElement("p"), badge = document.createElement("span"), name = document.createElement("span"), text = document.createElement("p");
  made.className = `card ${one.status}`;
  badge.className = "badge"; badge.textContent = BADGES[one.status];
  name.className = "faint"; name.textContent = one.of ? `${one.theorem}, for ${one.of}` : one.theorem;
  text.textContent = one.sentence;
  head.append(badge, " ", name);
  made.append(head, text);
  const written = one.bound === null ? null : formula(one);
  if (written) made.append(written);
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
