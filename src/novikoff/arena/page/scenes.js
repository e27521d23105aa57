// The scenes by name, and what the page does with any of them.
import { ADVICE } from "./advice.js";
import { across, shape, up } from "./draw.js";
import { FINITE } from "./finite.js";
import { PLANE } from "./plane.js";

export const SCENES = { ...PLANE, ...FINITE, ...ADVICE };

// `more` has field, best and hidden; `open` is a round whose answer is still hidden: only its point is drawn.
export function scene(svg, game, frames, t, more, cursor, open) {
  const parts = [], kind = SCENES[game], view = frames[t].view;
  kind.draw(parts, frames, t, view, more);
  if (open && kind.labels) {
    const [x, y] = kind.pending ? kind.pending(open, view) : [across(open.x[0]), up(open.x[1])];
    parts.push(shape("circle", { cx: x, cy: y, r: 13, class: "page" }), shape("circle", { cx: x, cy: y, r: 13, class: "ink", "stroke-width": 2.4 }));
    parts.push(shape("text", { x, y: y + 5, "text-anchor": "middle" }, "?"));
  }
  if (cursor) parts.push(shape("path", { d: `M${cursor[0] - 9} ${cursor[1]}h18M${cursor[0]} ${cursor[1] - 9}v18`, class: "ink", "stroke-dasharray": "2 2" }));
  svg.replaceChildren(...parts);
}

export function describe(game, frames, t, open) {
  if (open) return `Round ${open.t}: ${SCENES[game].asks(open)}`;
  return t === 0 ? "No rounds yet." : SCENES[game].describe(frames, t);
}

const blend = (from, to, part) => (Array.isArray(to) ? to.map((one, i) => blend(from[i], one, part)) : from + (to - from) * part);

// The frames up to t, the last one `part` of the way from the round before: only numbers of `smooth` move.
export function between(game, frames, t, part) {
  const from = frames[t - 1].view, to = frames[t].view, view = { ...to };
  for (const name of SCENES[game].smooth) view[name] = blend(from[name], to[name], part);
  return [...frames.slice(0, t), { ...frames[t], view }, ...frames.slice(t + 1)];
}

// Draw a transition of a quarter of a second, as long as `wanted`.
export function animate(draw, wanted) {
  const begin = performance.now();
  const next = (now) => {
    if (!wanted()) return;
    const part = Math.min(1, Math.max(0, (now - begin) / 250));
    draw(1 - (1 - part) ** 3);
    if (part < 1) requestAnimationFrame(next);
  };
  draw(0);
  requestAnimationFrame(next);
}
