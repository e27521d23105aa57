// The arena: requests to the server, state of the page, keys and buttons.
import { cards, chain, curve, proved } from "./charts.js";
import { legend, limit, shape } from "./draw.js";
import { LESSONS } from "./lessons.js";
import { link, movesOf, unlink } from "./link.js";
import { animate, between, describe, scene, SCENES } from "./scenes.js";

const $ = (id) => document.getElementById(id);
const HALF = { thresholds: ["me", "1dp0kp2bp"], race: ["me", "1dp0kp0am05m"], boxes: ["me", "0a0ap0e07p050ep0g0gm0c04m080bp"], halfspaces: ["me", "4g3mp1y0um"], sphere: ["me", "463wp143cm2i0um"], ellipsoid: ["me", "3w4gp0u1ym4q32p280km1446p3m14m1o4vp501jp0f37m3255p4g4qp1y1jm553wp190pm"], experts: ["me", "01p02p01p04p01p08p02p01p04p02p"], budgets: ["target", 60], coins: ["target", 30], hinge: ["target", 24], bandits: ["target", 60], drift: ["target", 100], tree: ["target", 90], risk: ["target", 50], spam: ["data", 10], intervals: ["target", 30], kernel: ["target", 40] }; // games begin half played: rival, and moves as in a link or the number of rounds it plays
const RIVALS = { me: "me", builtin: "an adversary of the library", target: "a hidden target", data: "real flowers" };
const OWN_RIVALS = { coins: { target: "a fair coin", builtin: "an enemy" }, spam: { data: "mails in order", builtin: "a spammer" }, bandits: { target: "chance", builtin: "an enemy" }, experts: { target: "chance", builtin: "an enemy" }, drift: { target: "a line that turns" }, risk: { target: "a line with noise" } };
const OPTIONS = { bias: "constant feature", n: "largest threshold", m: "cells per side", gamma: "gamma (larger is narrower)", budget: "memory, in examples (0: all)", experts: "experts", cover: "coverage wanted, in %", u: "100 u\u2081", v: "100 u\u2082", noise: "labels flipped, in %", threshold: "least gain of a cut, in nats", block: "rounds until another copy starts", turn: "rounds until the target turns", arms: "arms", rule: "learner", draws: "prediction" };
const CHOICES = { rule: ["Tsallis-INF", "EXP3-IX", "UCB1"], draws: ["the heavier expert", "drawn by weight"], bias: ["without", "with"] }; // names of the values of an option
const OPENING = { // without a link: a half-played game that invites a click
  made: { v: 1, game: "perceptron", options: { bias: 0 }, seed: 0, rival: "me" },
  moves: [[40, 60], [-70, -30], [70, 10], [-20, -80], [-60, 50], [30, -60], [-40, 75], [80, -45], [-85, 15], [10, 85], [60, 70], [-30, -45], [85, 40], [-55, -75]]
    .map(([x, y]) => [[x, y], 2 * x + 3 * y > 0 ? "p" : "m"]),
};
// The state: the script and its frames; `certified`, `best`, `proof` and `spot` (the bound) belong to the round `certified`.
let games = [], script = null, frames = [], bounds = [], field = null, certificates = [], certified = 0, limits = [], apriori = null;
let best = null, proof = null, spot = null, hidden = null, revealed = false, lesson = "";
let drawn = { era: -1, t: -1 }; // what the picture shows, so that the next one can begin there
let shown = 0, open = Infinity, era = 0, cursor = null, asking = null, note = "", running = false, waiting = false, queue = Promise.resolve();

// The server

async function post(path, body) {
  return heard(fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }));
}

async function heard(request) {
  const answer = await request.catch(() => { throw new Error("the arena does not answer: start novikoff arena again."); });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error || answer.statusText);
  return found;
}

function fail(error) {
  $("error").textContent = error ? error.message : "";
  $("error").hidden = !error;
}

const kind = () => SCENES[script.game];
const still = matchMedia("(prefers-reduced-motion: reduce)");

// Answers of rounds after `open` are hidden: the page shows the game before them.
const seen = () => Math.min(shown, open);

// Moves are queued, so that quick clicks are all played; answers for an abandoned game are dropped. The picture of a
// round is painted before its certificates are computed, which takes longer.
function play(move) {
  const mine = era;
  queue = queue.then(async () => {
    if (mine !== era) return;
    if (shown < frames.length - 1) { script.moves.length = shown; frames.length = shown + 1; bounds = bounds.filter(([round]) => round <= shown); }
    if (open < frames.length - 1) open = frames.length - 1;
    script.moves.push(move);
    let answered = false;
    try {
      const found = await post("api/play", { ...script, from: script.moves.length, field: kind().pictured, certify: false });
      if (mine !== era) return;
      frames.push(...found.frames);
      answered = true;
      if (found.field) field = { ...found.field, t: frames.length - 1 };
      const last = frames[frames.length - 1];
      if (move !== "a" && kind().labels) script.moves[script.moves.length - 1] = [move[0], last.y > 0 ? "p" : "m"];
      note = move[1] === "o" && last.y === last.said ? `No ${kind().noun} allows the opposite, so the answer is the learner's prediction.` : "";
      shown = frames.length - 1;
      if (open < shown) open = shown;
      fail(null);
      waiting = true;
      draw();
      take(await post("api/play", { ...script, from: script.moves.length + 1, reveal: revealed }), mine);
    } catch (error) { if (mine === era) { if (!answered) script.moves.pop(); fail(error); running = false; } }
    if (mine !== era) return;
    waiting = false;
    draw();
  });
  return queue;
}

function take(found, mine = era) {
  if (mine !== era) return;
  frames.push(...found.frames);
  if (bounds.length && !bounds[bounds.length - 1][2]) bounds.pop(); // so that the opened link shows the same curve
  bounds.push(...found.curve);
  ({ limits, apriori } = found);
  known(found, frames.length - 1);
}

function known(found, t) { // what belongs to a round
  ({ certificates, best, proof } = found);
  hidden = found.hidden || null;
  spot = found.curve.find(([round]) => round === t) || null;
  certified = t;
  if (found.field) field = { ...found.field, t };
}

async function begin(made, text, t, hide, again = true) {
  const mine = ++era;
  running = waiting = false; asking = null; frames = []; bounds = []; field = null; cursor = null; note = ""; open = Infinity; revealed = false;
  script = { ...made, honest: $("honest").checked };
  try {
    const empty = await post("api/play", { ...script, moves: [], field: kind().pictured });
    if (mine !== era) return;
    ({ limits } = empty);
    script.moves = typeof text === "string" ? movesOf(text, limits) : [...text];
    const found = script.moves.length ? await post("api/play", { ...script, field: kind().pictured, curve: true }) : empty;
    if (mine !== era) return;
    take(found);
    shown = Number.isInteger(t) && t >= 0 && t < frames.length ? t : frames.length - 1;
    if (hide) open = shown;
    $("hide").checked = Boolean(hide);
    fail(null);
  } catch (error) { // a broken link: start a new game, and show the error
    if (mine !== era) return;
    if (again) await begin(fresh(made.game), "", 0, false, false);
    fail(error);
    return;
  }
  controls();
  teach();
  draw();
}

const fresh = (game) => ({ v: 1, game, options: {}, seed: 0, rival: "me", moves: [] });

// Drawing

const say = (id, text) => { if ($(id).textContent !== text) $(id).textContent = text; }; // screen readers read a change only

// The picture moves from one round to the next, unless motion is unwanted or rounds run fast. Whatever is drawn again
// meanwhile (certificates arrive, the cursor moves) enters the running transition.
let latest = null, motion = 0;

function paint(t, next, more, cross) {
  const step = drawn.era === era && Math.abs(drawn.t - t) === 1, same = drawn.era === era && drawn.t === t;
  latest = { more, cross, next };
  if (!same) motion = 0;
  drawn = { era, t };
  if (motion) return;
  if (t === 0 || !step || next || still.matches || !kind().smooth.length || (running && $("speed").value < 300)) return scene($("scene"), script.game, frames, t, more, cross, next);
  const mine = motion = performance.now();
  animate((part) => {
    scene($("scene"), script.game, between(script.game, frames, t, part), t, latest.more, latest.cross, latest.next);
    if (part === 1) motion = 0;
  }, () => mine === motion);
}

function draw() {
  if (!frames.length) return;
  const t = seen(), next = shown > t ? frames[shown] : null, fits = certified === t;
  const cross = asking ? asking.pixel : document.activeElement === $("scene") ? pixel() : null;
  const more = { field: field && (field.t === t || !fits) ? field : null, best: (fits || waiting) && !next ? best : null, hidden: revealed ? hidden : null };
  paint(t, next, more, cross);
  if (waiting && !fits) return say("said", describe(script.game, frames, t, next)); // numbers follow with the certificates
  if (!fits) look();
  const entries = bounds.filter(([round]) => round <= open && round !== t);
  if (fits && spot) entries.push(spot);
  curve($("curve"), open < frames.length ? frames.slice(0, t + 1) : frames, t, entries.sort(([one], [two]) => one - two), apriori, kind());
  const closing = fits && proof && proof.points.length > 1;
  $("proof").hidden = !closing;
  if (closing) { chain($("chain"), proof); say("chain-text", proved(proof)); }
  if (fits) score(t);
  say("said", asking ? asking.text : describe(script.game, frames, t, next));
  say("note", note);
  say("promised", `Guarantees after ${certified} round${certified === 1 ? "" : "s"}`);
  const round = $("round");
  round.max = frames.length - 1; round.value = shown;
  round.setAttribute("aria-valuetext", `round ${shown} of ${frames.length - 1}`);
  $("back").disabled = shown === 0; $("forward").disabled = shown === frames.length - 1 && !next;
  $("undo").disabled = shown === 0 || Boolean(next);
  $("run").textContent = running ? "Stop" : "Run";
  $("run").disabled = script.rival === "me" && $("forward").disabled;
  $("next").hidden = $("ten").hidden = script.rival === "me";
  $("ask").hidden = !asking;
  $("reveal").hidden = script.rival !== "target" || !canReveal() || open < Infinity;
  $("reveal").setAttribute("aria-pressed", String(revealed));
  $("turns").hidden = $("next").hidden && $("reveal").hidden;
  $("guess").hidden = !next; $("signs").hidden = !kind().labels;
  cards($("promises"), certificates, explain);
  if (!running) written();
}

const canReveal = () => !["experts", "intervals", "coins"].includes(script.game); // there is a target to draw

// The score: what the chart and the certificates have for the round shown.
function score(t) {
  const now = frames[t], { counted, of, percent, after } = kind();
  say("paid-name", of ? `${counted} of ${of}` : counted);
  say("paid", frames.every(({ paid }) => Number.isInteger(paid)) || after && Number.isInteger(now.paid) ? String(now.paid) : now.paid.toFixed(2));
  const inAdvance = !spot && apriori !== null, text = spot ? limit(spot[1], percent) : inAdvance ? String(apriori) : "\u2013";
  say("allowed-name", spot || inAdvance ? kind().promise : "no guarantee");
  say("allowed", text);
  $("allowed").classList.toggle("weak", counted === "mistakes" ? !spot || spot[1] >= t : !spot || (after && spot[1] >= 100));
  say("rounds", String(t));
}

const here = () => link({ ...script, moves: script.moves.slice(0, frames.length - 1) }, limits, shown,
  { hide: open < Infinity, plain: $("plain").checked, lesson }); // answered moves only

function written() { // the link in the address bar; browsers limit the calls per minute
  try { if (here() !== location.hash) history.replaceState(null, "", here()); } catch { setTimeout(written, 2000); }
}

let looking = 0;
async function look() { // the picture and the certificates of an earlier round
  const mine = ++looking, at = seen(), now = era;
  try {
    const found = await post("api/play", { ...script, moves: script.moves.slice(0, at), from: at, field: kind().pictured, reveal: revealed });
    if (mine !== looking || now !== era || at !== seen()) return;
    known(found, at);
    draw();
  } catch (error) { if (mine === looking && now === era) fail(error); }
}

const explain = (name) => heard(fetch(`api/explain/${encodeURIComponent(name)}`)).then((found) => found.text, (error) => error.message);

function controls() {
  const game = games.find((one) => one.name === script.game);
  for (const button of $("games").children) button.name === script.game ? button.setAttribute("aria-current", "page") : button.removeAttribute("aria-current");
  $("games").querySelector("[aria-current]").scrollIntoView({ block: "nearest", inline: "nearest" });
  $("scene-about").textContent = `${game.title}: ${game.about}`;
  invite(game);
  $("scene").setAttribute("aria-label", `${game.title}: arrows move, Enter plays`);
  $("rival").replaceChildren(...game.rivals.map((name) => new Option((OWN_RIVALS[game.name] || {})[name] || RIVALS[name], name, false, name === script.rival)));
  $("answers").hidden = !kind().labels || script.rival !== "me";
  legend($("legend"), kind().legend);
  say("value", "");
  $("options").replaceChildren(...Object.entries(game.options).map(([name, [least, most, usual]]) => {
    const label = document.createElement("label"), input = document.createElement(CHOICES[name] ? "select" : "input"), value = script.options[name] ?? usual;
    if (CHOICES[name]) input.append(...CHOICES[name].map((text, k) => new Option(text, k, false, k === value)));
    else Object.assign(input, { type: "number", min: least, max: most, value });
    input.name = name;
    input.addEventListener("change", () => { if (input.reportValidity() && input.value) begin({ ...script, options: { ...script.options, [name]: Number(input.value) }, moves: [] }, "", 0); });
    label.append(`${OPTIONS[name]} `, input);
    return label;
  }));
}

function invite(game) {
  const act = kind().acts[script.rival], me = script.rival === "me" ? `: can you ${kind().goal(apriori)}?` : act.endsWith("?") ? "" : ".";
  $("invitation").hidden = Boolean(lesson);
  say("invitation-title", `${game.title}.`);
  say("invitation-text", `${game.about} ${act}${me}`);
}

// Lessons

function step() { // of the lesson in the link: its name and the number of the step, from 1
  const [name, number] = lesson.split("."), found = Object.hasOwn(LESSONS, name) ? LESSONS[name] : null;
  const at = found ? Math.min(Math.max(Number(number) || 1, 1), found.steps.length) : 0;
  return found && { name, ...found, at, now: found.steps[at - 1] };
}

function teach() {
  const found = step();
  if (!found) lesson = "";
  $("lesson").hidden = !found;
  document.body.classList.toggle("touring", Boolean(found));
  $("lessons").value = found ? found.name : "";
  if (!found) return;
  say("lesson-title", found.title);
  say("lesson-step", `step ${found.at} of ${found.steps.length}`);
  say("lesson-text", found.now.text);
  $("lesson-back").disabled = found.at === 1;
  $("lesson-next").disabled = found.at === found.steps.length;
}

async function turn(name, at) {
  lesson = name ? `${name}.${at}` : "";
  const found = step();
  if (!found) { teach(); controls(); draw(); return; }
  const given = unlink(found.now.link, games);
  await begin(given.made, given.text, given.t, given.hide);
}

// Places

const view = () => frames[seen()].view;

function pixel() {
  if (!cursor) cursor = limits.map(([least, most]) => Math.round((least + most) / 2));
  return kind().put(cursor, limits, seen(), view());
}

const answer = () => document.querySelector("input[name=answer]:checked").value;

async function choose(place, px) {
  if (seen() < shown) { note = "The answer is hidden: guess it, or show it."; return draw(); }
  if (["builtin", "data"].includes(script.rival)) return play("a");
  if (!kind().labels) return script.rival === "me" ? play([place, "p"]) : play("a");
  if (script.rival === "target" && script.game === "coins") return play("a");
  if (script.rival === "target") return play([place, "t"]);
  if (!$("slow").checked) return play([place, answer()]);
  const mine = era;
  try {
    const found = await post("api/probe", { ...script, moves: script.moves.slice(0, shown), x: place });
    if (mine !== era) return;
    const vote = found.votes ? ` ${found.votes["+"].toLocaleString("en")} vote +1, ${found.votes["-"].toLocaleString("en")} vote \u22121.` : "";
    const other = found.said > 0 ? "-" : "+";
    const free = found.free[other] ? "" : " No target allows the opposite: if you answer it, the theorem no longer applies.";
    asking = { place, pixel: px, text: `The learner predicts ${found.said > 0 ? "+1" : "\u22121"}.${vote} Your answer?${free}` };
  } catch (error) { fail(error); }
  draw();
}

async function reply(letter) {
  if (!asking) return;
  const { place } = asking;
  asking = null;
  const honest = script.honest;
  if (letter === "o") script.honest = false; // the player was warned that no target fits, and answers anyway
  await play([place, letter]);
  script.honest = honest;
}

// Time

function show(t) { // at most one round past the last answer shown
  asking = null; note = "";
  shown = Math.max(0, Math.min(frames.length - 1, t, open + 1));
  draw();
}

async function undo() { // the last round that is shown, and those after it
  if (shown === 0 || seen() < shown) return;
  await begin(script, script.moves.slice(0, shown - 1), shown - 1, open < Infinity);
}

const forward = () => (seen() < shown ? guess(0) : show(shown + 1));

function guess(label) {
  if (seen() === shown) return;
  open = shown;
  note = label === 0 ? "" : label === frames[shown].y ? "You were right." : "You were wrong.";
  draw();
}

async function run() {
  running = !running;
  draw();
  while (running && era) {
    const before = era;
    if (!$("forward").disabled) forward();
    else if (script.rival !== "me" && script.moves.length < 1000) await play("a");
    else break;
    await new Promise((done) => setTimeout(done, Number($("speed").value)));
    if (before !== era) return;
  }
  running = false;
  draw();
}

async function save() {
  const { html } = await post("api/save", { link: link(script, limits, frames.length - 1, {}) });
  const place = document.createElement("a");
  place.href = URL.createObjectURL(new Blob([html], { type: "text/html" }));
  place.download = `novikoff-${script.game}.html`;
  place.click();
  URL.revokeObjectURL(place.href);
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.activeElement.matches("select, input[type=number]")) return;
  const inside = document.activeElement === $("scene"), step = event.shiftKey ? 10 : kind().step;
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  if (inside && moves[event.key]) {
    pixel();
    const [dx, dy] = moves[event.key];
    cursor = kind().turn(kind().settle(cursor, view()), dx, dy, limits, step, view());
    note = kind().where(cursor);
    draw();
  } else if (inside && event.key === "Enter") { pixel(); choose([...kind().settle(cursor, view())], pixel()); }
  else if (["+", "-", "!"].includes(event.key)) {
    const letter = { "+": "p", "-": "m", "!": "o" }[event.key];
    if (seen() < shown) guess({ "+": 1, "-": -1, "!": 0 }[event.key]);
    else if (asking) reply(letter);
    else if (inside && script.rival === "me" && kind().labels) { pixel(); play([[...kind().settle(cursor, view())], letter]); }
    else return;
  } else if (event.key === "u") undo();
  else if (event.key === ",") show(shown - 1);
  else if (event.key === ".") forward();
  else if (event.key === " " && (inside || document.activeElement === document.body)) run();
  else return;
  event.preventDefault();
}

// The mouse: a click plays, a point can be dragged, and the place under the pointer is described.

function mouse() {
  const svg = $("scene");
  let dragged = null, from = null, early = null; // dragged: number of a move, "handle", or -1 for nothing
  const at = (event) => {
    const box = svg.getBoundingClientRect();
    return [400 * (event.clientX - box.left) / box.width, 400 * (event.clientY - box.top) / box.height];
  };
  svg.addEventListener("pointerdown", (event) => { from = at(event); dragged = null; });
  svg.addEventListener("pointermove", (event) => {
    if (!frames.length) return;
    const [px, py] = at(event);
    if (from && event.buttons && dragged === null && Math.hypot(px - from[0], py - from[1]) > 5) dragged = grabbed(from);
    if (dragged !== null && dragged !== -1) {
      svg.classList.add("dragging");
      motion = 0;
      if (dragged !== "handle") return scene(svg, script.game, frames, seen(), { field: null, best: null, hidden: null }, [px, py], null);
      if (!early) early = setTimeout(() => { early = null; pull(px, py); }, 60);
    } else say("value", kind().tell(view(), field && field.t === seen() ? field : null, px, py, frames, seen()));
  });
  svg.addEventListener("pointerleave", () => say("value", ""));
  svg.addEventListener("click", (event) => {
    const [px, py] = at(event), moved = dragged;
    from = dragged = null;
    svg.classList.remove("dragging");
    clearTimeout(early); early = null;
    if (moved === "handle") return pull(px, py);
    const place = kind().at(px, py, limits, view());
    if (moved !== null && moved >= 0) return move(moved, place);
    cursor = place;
    choose(place, [px, py]);
  });
}

function grabbed([px, py]) { // what is there to drag: the number of a move, "handle" or -1
  if (kind().handle && Math.hypot(px - kind().handle(view())[0], py - kind().handle(view())[1]) < 16) return "handle";
  if (!kind().drags) return -1;
  const far = (move) => { const [x, y] = kind().put(move[0], limits, seen(), view()); return Math.hypot(x - px, y - py); };
  let found = -1;
  script.moves.slice(0, seen()).forEach((move, k) => { if (move !== "a" && far(move) < 12 && (found < 0 || far(move) <= far(script.moves[found]))) found = k; });
  return found;
}

async function pull(px, py) { // the handle of the scene has been dragged there: it is among the options
  await begin({ ...script, options: { ...script.options, ...kind().pulled(px, py) } }, script.moves, shown, open < Infinity);
}

async function move(k, place) { // the game is played again with the point elsewhere and the same answers
  const moves = script.moves.map((one, i) => (i === k ? [place, one[1]] : one));
  await begin(script, moves, shown, open < Infinity);
}

function thumbnail(game) {
  const svg = shape("svg", { viewBox: "0 0 44 32", "aria-hidden": "true" });
  svg.append(shape("path", { d: SCENES[game].sketch, class: "ink", "stroke-width": 1.8 }));
  return svg;
}

async function start() {
  games = await (await fetch("api/games")).json();
  $("games").replaceChildren(...games.map((game) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", name: game.name });
    button.append(thumbnail(game.name), game.title);
    button.addEventListener("click", () => { lesson = ""; const half = HALF[game.name]; half ? begin({ ...fresh(game.name), rival: half[0] }, typeof half[1] === "string" ? half[1] : "A".repeat(half[1])) : begin(OPENING.made, OPENING.moves); });
    return button;
  }));
  $("lessons").replaceChildren(new Option("choose a lesson \u2026", ""), ...Object.entries(LESSONS).map(([name, { title }]) => new Option(title, name)));
  $("lessons").addEventListener("change", () => turn($("lessons").value, 1));
  $("lesson-back").addEventListener("click", () => turn(step().name, step().at - 1));
  $("lesson-next").addEventListener("click", () => turn(step().name, step().at + 1));
  $("lesson-end").addEventListener("click", () => turn("", 0));
  mouse();
  warming();
  $("scene").addEventListener("focus", draw);
  $("scene").addEventListener("blur", draw);
  document.addEventListener("keydown", keys);
  $("back").addEventListener("click", () => show(shown - 1));
  $("forward").addEventListener("click", forward);
  $("round").addEventListener("input", () => show(Number($("round").value)));
  $("run").addEventListener("click", run);
  $("undo").addEventListener("click", undo);
  $("reveal").addEventListener("click", () => { revealed = !revealed; looking++; if (revealed) look(); else draw(); });
  $("next").addEventListener("click", () => play("a"));
  $("ten").addEventListener("click", () => { for (let k = 0; k < 10; k++) play("a"); });
  $("guess").addEventListener("click", (event) => event.target.dataset.guess && guess(Number(event.target.dataset.guess)));
  $("plain").addEventListener("change", () => { written(); note = $("plain").checked ? "A reader of the link sees no options; you still do." : ""; draw(); });
  $("hide").addEventListener("change", () => { const hide = $("hide").checked; open = hide ? 0 : Infinity; show(hide ? 0 : shown); });
  $("ask").addEventListener("click", (event) => event.target.dataset.answer && reply(event.target.dataset.answer));
  $("honest").addEventListener("change", () => { script.honest = $("honest").checked; });
  $("rival").addEventListener("change", () => begin({ ...script, rival: $("rival").value, moves: [] }, "", 0));
  $("new").addEventListener("click", () => begin({ ...script, moves: [], seed: (script.seed + 1) % 1000 }, "", 0));
  $("copy").addEventListener("click", async () => {
    const whole = location.href.replace(/#.*$/, "") + here();
    try { await navigator.clipboard.writeText(whole); $("copy").textContent = "Copied"; } catch { prompt("The link:", whole); }
    setTimeout(() => { $("copy").textContent = "Copy link"; }, 1500);
  });
  $("save").addEventListener("click", () => save().catch(fail));
  $("help").addEventListener("click", () => { $("about").hidden = !$("about").hidden; $("help").setAttribute("aria-expanded", String(!$("about").hidden)); });
  window.addEventListener("hashchange", () => { if (location.hash !== here()) opened(); });
  await opened();
  document.body.dataset.ready = "yes";
}

// While learners are still being compiled, once per machine, a line says how far it is.
async function warming() {
  for (;;) {
    const { done, of } = await heard(fetch("api/ready")).catch(() => ({ done: 1, of: 1 }));
    $("warming").hidden = done >= of;
    if (done >= of) return;
    $("warmed").max = of; $("warmed").value = done;
    say("warming-text", `Preparing the scenes: ${done} of ${of}. This one can be played already.`);
    await new Promise((wait) => setTimeout(wait, 500));
  }
}

async function opened() { // the game of the link; one that is half played if there is no link, or a broken one
  try {
    const given = unlink(location.hash, games);
    lesson = given ? given.lesson : "";
    document.body.classList.toggle("plain", Boolean(given && given.plain));
    $("plain").checked = Boolean(given && given.plain);
    if (given && given.made) await begin(given.made, given.text, given.t, given.hide);
    else if (step()) await turn(step().name, step().at);
    else await begin(OPENING.made, OPENING.moves);
  } catch (error) { lesson = ""; await begin(fresh("perceptron"), "", 0); fail(error); }
}

start().catch(fail);
