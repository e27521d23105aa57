// Scenes of experts, bandits, series and texts: a round is not a point of the plane.
import { background, caption, clamp, label, mark, mistakes, percent, SCENE, shape, SIDE, sign, signed, up } from "./draw.js";

const count = (limits) => limits[0][1].toString(2).length; // of experts or arms: a place has a bit for each

const COLUMNS = { ...SCENE, labels: false, counted: "loss", noun: "expert",
  at: (px, py, limits) => [1 << clamp(Math.floor((px - 20) / (360 / count(limits))), 0, count(limits) - 1)],
  put: (place, limits) => [20 + (Math.log2(place[0] || 1) + 0.5) * 360 / count(limits), 40],
  settle: (place) => [1 << Math.floor(Math.log2(place[0] || 1))],
  turn: (place, dx, dy, limits) => [1 << clamp(Math.floor(Math.log2(place[0] || 1)) + dx, 0, count(limits) - 1)],
};

const named = (x, name) => x.map((v, i) => (v ? `${name} ${i + 1}` : "")).filter(Boolean).join(", ");
const ROW = 14; // mails and words: height of a line of text
const LETTER = 7; // width of a letter of the fixed-width font

export const ADVICE = {
  coins: { ...SCENE, sketch: "M4 16L10 10L16 16L22 8L28 14L34 6L40 12M4 24h36", noun: "expert", smooth: ["plus_share"],
    acts: { me: "Click to answer the opposite of the prediction, or choose an answer", target: "Click to flip a fair coin", builtin: "Click, and the enemy answers the opposite of the likelier prediction" },
    goal: () => "make it err in every round, twice as often as the better constant",
    legend: [["line", "heads minus tails"], ["margin", "\u221aT and \u2212\u221aT"], ["blue_bar", "weight of \u201calways +1\u201d"], ["orange_bar", "of \u201calways \u22121\u201d"]],
    draw(parts, frames, t, view) {
      const last = Math.max(frames.length - 1, 20), walk = [0];
      frames.slice(1).forEach((frame) => walk.push(walk[walk.length - 1] + frame.y));
      const high = Math.max(...walk.map(Math.abs), Math.sqrt(last), 3) * 1.15, x = (k) => 26 + 364 * k / last, y = (value) => 150 - 118 * value / high;
      parts.push(background(), shape("path", { d: `M${x(0)} 20V280M${x(0)} ${y(0)}H390`, class: "axis" }));
      for (const side of [1, -1]) {
        let d = `M${x(0)} ${y(0)}`;
        for (let k = 1; k <= 60; k++) d += `L${x(last * k / 60).toFixed(1)} ${y(side * Math.sqrt(last * k / 60)).toFixed(1)}`;
        parts.push(shape("path", { d, class: "good-line", "stroke-width": 1.4, "stroke-dasharray": "3 5" }));
        parts.push(label(390, y(side * Math.sqrt(last)) - (side > 0 ? 6 : -14), side > 0 ? "+\u221aT" : "\u2212\u221aT", "end", { class: "good" }));
      }
      parts.push(shape("path", { d: "M" + walk.slice(0, t + 1).map((value, k) => `${x(k).toFixed(1)} ${y(value).toFixed(1)}`).join("L"), class: "ink", "stroke-width": 2 }));
      frames.slice(1, t + 1).forEach((frame, k) => {
        if (frame.said !== frame.y) parts.push(shape("circle", { cx: x(k + 1).toFixed(1), cy: y(walk[k + 1]).toFixed(1), r: t > 120 ? 1.5 : 3, class: "minus" }));
      });
      parts.push(shape("circle", { cx: x(t), cy: y(walk[t]), r: 5, class: "fill-ink" }));
      parts.push(label(8, 18, "answers +1 minus answers \u22121; a dot is a mistake"), label(390, 294, `${last} rounds`, "end"));
      const p = view.plus_share; // of the weight, or of the draws
      parts.push(shape("rect", { x: 26, y: 318, width: (364 * p).toFixed(1), height: 26, class: "plus" }), shape("rect", { x: (26 + 364 * p).toFixed(1), y: 318, width: (364 * (1 - p)).toFixed(1), height: 26, class: "minus" }));
      parts.push(label(26, 362, view.draws ? `predicts +1 with probability ${percent(p)}` : `\u201calways +1\u201d has ${percent(p)} of the weight, so it predicts ${sign(p >= 0.5 ? 1 : -1)}`));
      const best = Math.min(view.plus, t - view.plus), paid = frames[t].paid;
      parts.push(label(26, 386, `regret ${(paid - best).toFixed(view.draws ? 2 : 0)}: ${view.draws ? paid.toFixed(2) : paid} mistakes, the better constant makes ${best}`));
    },
    tell: (view, field, px, py, frames, t) => { const k = clamp(Math.round((px - 26) / 364 * Math.max(frames.length - 1, 20)), 0, t); return k ? `round ${k}: predicted ${sign(frames[k].said)}, answer ${sign(frames[k].y)}` : ""; },
    where: () => "+ or \u2212 answers",
    describe: (frames, t) => `Round ${t}: the learner predicted ${sign(frames[t].said)}, the answer was ${sign(frames[t].y)}. ${frames[t].view.draws ? `${frames[t].paid.toFixed(2)} mistakes expected so far.` : `${mistakes(frames[t].paid)} so far.`}`,
    pending: () => [200, 331],
  },

  experts: { ...COLUMNS, sketch: "M8 28v-10h6v10M19 28v-22h6v22M30 28v-6h6v6M4 28h36", smooth: ["weights"],
    acts: { me: "Click the expert that loses", target: "Click, and each expert loses with a probability of its own", builtin: "Click, and the heaviest expert loses" },
    goal: () => "lose much more than the best expert",
    legend: [["blue_bar", "weight of an expert"], ["orange_bar", "lost in this round"]],
    draw(parts, frames, t, view) {
      const width = 360 / view.weights.length, now = frames[t].x, best = Math.min(...view.losses);
      parts.push(background());
      view.weights.forEach((weight, i) => {
        const x = 20 + i * width, tall = 260 * weight;
        parts.push(shape("rect", { x: x + 6, y: (300 - tall).toFixed(1), width: width - 12, height: tall.toFixed(1), rx: 2, class: now && now[i] ? "minus" : "plus" }));
        parts.push(label(x + width / 2, 292 - tall, percent(weight), "middle"), label(x + width / 2, 320, `expert ${i + 1}`, "middle"));
        parts.push(label(x + width / 2, 338, `lost ${view.losses[i]}`, "middle", view.losses[i] === best ? { class: "good strong" } : {}));
        if (now && now[i]) parts.push(label(x + width / 2, 356, "loses", "middle", { class: "minus" }));
      });
      parts.push(shape("line", { x1: 20, x2: 380, y1: 300, y2: 300, class: "axis" }));
      parts.push(label(20, 386, `loss: learner ${view.lost.toFixed(2)}, best expert ${view.best.toFixed(0)}, regret ${(view.lost - view.best).toFixed(2)}`));
    },
    tell(view, field, px) {
      const i = clamp(Math.floor((px - 20) / (360 / view.weights.length)), 0, view.weights.length - 1);
      return `expert ${i + 1}: weight ${percent(view.weights[i])}, lost ${view.losses[i]}`;
    },
    where: (place) => `expert ${Math.log2(place[0] || 1) + 1}`,
    describe: (frames, t) => `Round ${t}: ${named(frames[t].x, "expert") || "no expert"} lost. Total loss of the learner: ${frames[t].paid.toFixed(2)}.`,
    asks: () => "which experts lose?",
  },

  bandits: { ...COLUMNS, sketch: "M6 12h8v14h-8zM18 6h8v20h-8zM30 16h8v10h-8zM22 2v4", noun: "arm",
    acts: { me: "Click the arm that loses", target: "Click, and each arm loses with a hidden probability", builtin: "Click, and the arm most likely to be played loses" },
    goal: () => "make it lose much more than the best arm",
    legend: [["dot", "mean observed loss"], ["bar", "\u00b1 \u221a(2 ln t / plays)"], ["blue_bar", "probability of being played next"], ["orange_bar", "the loss that was seen"], ["hidden", "true mean"]],
    draw(parts, frames, t, view, { hidden }) {
      const width = 360 / view.plays.length, now = frames[t].x, y = (loss) => 236 - 196 * loss;
      parts.push(background());
      for (const [loss, text] of [[0, "0"], [0.5, "\u00bd"], [1, "1"]]) parts.push(shape("line", { x1: 26, x2: 380, y1: y(loss), y2: y(loss), class: "axis", "stroke-opacity": 0.6 }), label(20, y(loss) + 4, text, "end"));
      parts.push(label(8, 18, `observed losses of ${view.rule}`));
      view.plays.forEach((plays, i) => {
        const middle = 20 + (i + 0.5) * width, mean = plays ? view.losses[i] / plays : 0.5, [low, high] = [Math.max(0, mean - view.width[i]), Math.min(1, mean + view.width[i])];
        parts.push(shape("line", { x1: middle, x2: middle, y1: y(low), y2: y(high), class: "ink", "stroke-width": 6, "stroke-opacity": 0.25, "stroke-linecap": "round" }));
        if (plays) parts.push(shape("circle", { cx: middle, cy: y(mean), r: 6, class: view.arm === i ? (now && now[i] ? "minus" : "plus") : "fill-ink" }), label(middle + 11, y(mean) + 4, mean.toFixed(2)));
        if (hidden) parts.push(shape("line", { x1: middle - 20, x2: middle + 20, y1: y(hidden[i]), y2: y(hidden[i]), class: "good-line", "stroke-width": 3, "stroke-dasharray": "1 5" }));
        parts.push(shape("rect", { x: middle - 22, y: (300 - 44 * view.chances[i]).toFixed(1), width: 44, height: (44 * view.chances[i]).toFixed(1), rx: 2, class: "plus" }));
        parts.push(label(middle, 318, `arm ${i + 1}`, "middle", view.arm === i ? { class: "strong" } : {}), label(middle, 335, `${plays} play${plays === 1 ? "" : "s"}`, "middle"));
        if (view.arm === i) parts.push(label(middle, 352, now && now[i] ? "lost" : "no loss", "middle", { class: now && now[i] ? "minus" : "plus" }));
      });
      parts.push(shape("line", { x1: 20, x2: 380, y1: 300, y2: 300, class: "axis" }));
      const best = Math.min(...view.totals);
      parts.push(label(20, 386, `loss ${frames[t].paid.toFixed(0)}, best arm ${best.toFixed(0)}, regret ${(frames[t].paid - best).toFixed(0)}`));
    },
    tell(view, field, px) {
      const i = clamp(Math.floor((px - 20) / (360 / view.plays.length)), 0, view.plays.length - 1);
      return `arm ${i + 1}: played ${view.plays[i]} times, lost ${view.losses[i]} of them; next with probability ${percent(view.chances[i])}`;
    },
    where: (place) => `arm ${Math.log2(place[0] || 1) + 1}`,
    describe: (frames, t) => `Round ${t}: arm ${frames[t].view.arm + 1} was played and ${frames[t].x[frames[t].view.arm] ? "lost" : "did not lose"}. Total loss: ${frames[t].paid.toFixed(0)}.`,
    asks: () => "which arm is played?",
  },

  intervals: { ...SCENE, sketch: "M6 12v14M14 8v12M22 6v10M30 10v14M38 14v12M6 18l8-5l8-2l8 7l8 2", labels: false, counted: "outside", noun: "series", smooth: ["low", "high"],
    acts: { me: "Click the height of the next value", target: "Click, and a wave goes on", builtin: "Click, and the next value is just outside" },
    goal: () => "miss more often than guaranteed",
    legend: [["shade", "interval made before the value was known"], ["dot", "value"], ["ring", "outside"], ["dashed", "interval of the next value"]],
    at: (px, py) => [clamp(Math.round((200 - py) / 2), -100, 100)],
    put: (place, limits, t) => [10 + 380 / 41 * (Math.min(t, 39) + 0.5), 200 - 2 * place[0]],
    where: (place) => `value ${signed(place[0] / 100)}`,
    draw(parts, frames, t, view) {
      const shown = frames.slice(0, t + 1).slice(-40), size = 380 / 41, at = (k) => 10 + size * (k + 0.5);
      const bar = (k, { low, high }, more) => shape("rect", { x: (at(k) - size / 2 + 1).toFixed(1), y: up(Math.min(high, 1)).toFixed(1), width: (size - 2).toFixed(1), height: Math.max(up(Math.max(low, -1)) - up(Math.min(high, 1)), 0).toFixed(1), ...more });
      parts.push(background(), shape("path", { d: "M0 200H400", class: "axis" }));
      shown.slice(1).forEach((frame, k) => {
        const before = shown[k].view, outside = frame.x < before.low || frame.x > before.high;
        parts.push(bar(k, before, { class: outside ? "minus-area" : "plus-area" }));
        parts.push(shape("circle", { cx: at(k).toFixed(1), cy: up(frame.x).toFixed(1), r: frame.t === t ? 5 : 3, class: outside ? "minus" : "fill-ink" }));
        if (outside) parts.push(shape("circle", { cx: at(k).toFixed(1), cy: up(frame.x).toFixed(1), r: 8, class: "ink", "stroke-width": 1.2 }));
      });
      parts.push(bar(shown.length - 1, view, { class: "plus-area", "fill-opacity": 0.5 }), bar(shown.length - 1, view, { class: "ink", "stroke-dasharray": "3 3" }));
      caption(parts, 10, 19, `${view.missed} of ${t} values outside, ${(100 - view.cover)} % wanted`);
    },
    tell: (view, field, px, py) => { const y = (200 - py) / 200; return `${signed(y)}: ${y < view.low || y > view.high ? "outside" : "inside"} the next interval`; },
    describe(frames, t) {
      const { low, high } = frames[t - 1].view, now = frames[t], end = (value) => (Math.abs(value) > 8 ? "any value" : signed(value));
      const interval = Math.abs(low) > 8 || Math.abs(high) > 8 ? "the interval of all values" : low > high ? "an empty interval" : `the interval from ${end(low)} to ${end(high)}`;
      return `Round ${t}: ${signed(now.x)} was ${now.x < low || now.x > high ? "outside" : "inside"} ${interval}. ${now.paid} outside so far.`;
    },
    asks: () => "which value is next?",
  },

  spam: { ...SCENE, sketch: "M6 8h32v18h-32zM6 8l16 11l16-11", noun: "list of word weights",
    acts: { me: "Click a mail below: your answer is its label", data: "Click, and the next mail is read", builtin: "Click: the spammer sends the mail that the filter misjudges worst" },
    legend: [["orange_bar", "word that makes mail spam (+1)"], ["blue_bar", "word that makes it ham (\u22121)"]],
    at: (px, py, limits, view) => [view.next[clamp(Math.floor((py - 116) / 24), 0, view.next.length - 1)][0]],
    put: (place, limits, t, view) => { const k = view.next.findIndex(([mail]) => mail === place[0]); return [14, 127 + 24 * Math.max(k, 0)]; },
    turn: (place, dx, dy, limits, step, view) => { const k = view.next.findIndex(([mail]) => mail === place[0]); return [view.next[clamp(k + dx - dy, 0, view.next.length - 1)][0]]; },
    settle: (place, view) => [view.next.some(([mail]) => mail === place[0]) ? place[0] : view.next[0][0]],
    where: (place) => `mail ${place[0]}`,
    draw(parts, frames, t, view) {
      const now = frames[t], word = (score) => (score >= 0 ? "spam" : "ham");
      parts.push(background());
      if (view.mail) {
        const wrong = now.said !== now.y;
        parts.push(label(10, 20, `round ${t}: ${word(now.y)}, predicted ${word(now.said)}`, "start", { class: "strong" }));
        parts.push(label(390, 20, wrong ? "mistake" : "right", "end", { class: wrong ? "minus strong" : "good" }));
        let x = 14, y = 48;
        for (const one of view.mail[0].split(" ")) { // words wrap by their number of letters
          if (x + LETTER * 1.15 * one.length > 388) { x = 14; y += 24; }
          const weight = view.weights[one.toLowerCase().replace(/[^a-z]/g, "")] || 0, wide = LETTER * 1.15 * one.length;
          if (weight) parts.push(shape("rect", { x: x - 2, y: y - 14, width: wide + 4, height: 20, rx: 3, class: weight > 0 ? "minus-area" : "plus-area", "fill-opacity": clamp(0.35 + Math.abs(weight) / 5, 0.35, 1) }));
          parts.push(label(x, y, one, "start", { class: "mail", textLength: wide.toFixed(0), lengthAdjust: "spacingAndGlyphs" }));
          x += wide + LETTER + 2;
        }
      } else parts.push(label(14, 48, "No mail yet: the filter knows no word."));
      parts.push(label(10, 108, "next mails, and what the filter would say"), shape("path", { d: "M0 90H400M0 240H400", class: "axis" }));
      view.next.forEach(([, text, , score], k) => {
        parts.push(shape("rect", { x: 6, y: 117 + 24 * k, width: 388, height: 21, rx: 4, class: "card-area" }));
        parts.push(label(22, 132 + 24 * k, text, "start", { class: "mail small" }), label(388, 132 + 24 * k, word(score), "end", { class: score >= 0 ? "minus" : "plus" }));
      });
      const most = Math.max(1, ...[...view.spam, ...view.ham].map(([, weight]) => Math.abs(weight)));
      parts.push(label(10, 258, "heaviest words for spam"), label(210, 258, "and for ham"));
      for (const [list, left, name] of [[view.spam, 10, "minus"], [view.ham, 210, "plus"]]) list.forEach(([text, weight], k) => {
        const y = 265 + 19 * k, wide = 76 * Math.abs(weight) / most;
        parts.push(label(left, y + 11, text, "start", { class: "mail small" }), shape("rect", { x: left + 82, y, width: wide.toFixed(1), height: ROW, rx: 2, class: name }), label(left + 86 + wide, y + 11, String(weight).replace("-", "\u2212"), "start", { class: "small" }));
      });
      parts.push(label(390, 395, `${view.known} words have a weight`, "end", { class: "small" }));
    },
    tell(view, field, px, py) {
      const k = Math.floor((py - 116) / 24);
      return view.next[k] ? `\u201c${view.next[k][1]}\u201d: score ${view.next[k][3]}, so the filter says ${view.next[k][3] >= 0 ? "spam" : "ham"}; it is ${view.next[k][2] > 0 ? "spam" : "ham"}` : "";
    },
    describe: (frames, t) => `Round ${t}: the filter said ${frames[t].said > 0 ? "spam" : "ham"}, the mail is ${frames[t].y > 0 ? "spam" : "ham"}. ${mistakes(frames[t].paid)} so far.`,
    asks: (open) => `the filter says ${open.said > 0 ? "spam (+1)" : "ham (\u22121)"}. Your answer?`,
    pending: () => [376, 44],
  },
};
