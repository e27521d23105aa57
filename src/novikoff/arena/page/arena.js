// The arena: requests to the server, state of the page, keys and buttons.
import { cards, curve, scene, describe } from "./draw.js";
import { link, movesOf, unlink } from "./link.js";
import { saved } from "./saved.js";

const $ = (id) => document.getElementById(id);
const RIVALS = { me: "me", builtin: "an adversary of the library", target: "a hidden target", data: "real flowers" };
const OPTIONS = { bias: "constant feature (0 or 1)", n: "largest threshold", m: "cells per side", gamma: "gamma (larger is narrower)", budget: "budget (0: none)", experts: "experts" };
let games = [], script = null, frames = [], bounds = [], field = null, certificates = [], certified = 0, limits = [], apriori = null;
let shown = 0, open = Infinity, era = 0, cursor = null, asking = null, note = "", running = false, queue = Promise.resolve();

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

const pictured = () => ["kernel", "boxes"].includes(script.game);

// Answers of rounds after `open` are hidden: the page shows the game before them.
const seen = () => Math.min(shown, open);

// Moves are queued, so that quick clicks are all played; answers for an abandoned game are dropped.
function play(move) {
  const mine = era;
  queue = queue.then(async () => {
    if (mine !== era) return;
    if (shown < frames.length - 1) { script.moves.length = shown; frames.length = shown + 1; bounds = bounds.filter(([round]) => round <= shown); }
    if (open < frames.length - 1) open = frames.length - 1;
    script.moves.push(move);
    try {
      const found = await post("api/play", { ...script, from: script.moves.length, field: pictured() });
      if (mine !== era) return;
      take(found);
      const last = frames[frames.length - 1];
      if (move !== "a" && script.game !== "experts") script.moves[script.moves.length - 1] = [move[0], last.y > 0 ? "p" : "m"];
      note = move[1] === "o" && last.y === last.said ? "No target allows the opposite, so the answer is the learner's prediction." : "";
      shown = frames.length - 1;
      if (open < shown) open = shown;
      fail(null);
    } catch (error) { if (mine === era) { script.moves.pop(); fail(error); running = false; } }
    draw();
  });
  return queue;
}

function take(found) {
  frames.push(...found.frames);
  if (bounds.length && !bounds[bounds.length - 1][2]) bounds.pop(); // so that the opened link shows the same curve
  bounds.push(...found.curve);
  ({ certificates, limits, apriori } = found);
  certified = frames.length - 1;
  if (found.field) field = { ...found.field, t: frames.length - 1 };
}

async function begin(made, text, t, hide, again = true) {
  const mine = ++era;
  running = false; asking = null; frames = []; bounds = []; field = null; cursor = null; note = ""; open = Infinity;
  script = { ...made, honest: $("honest").checked };
  try {
    const empty = await post("api/play", { ...script, moves: [], field: pictured() });
    if (mine !== era) return;
    ({ limits } = empty);
    script.moves = text ? movesOf(text, limits) : [];
    const found = script.moves.length ? await post("api/play", { ...script, field: pictured(), curve: true }) : empty;
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
  draw();
}

const fresh = (game) => ({ v: 1, game, options: {}, seed: 0, rival: "me", moves: [] });

// Drawing

const say = (id, text) => { if ($(id).textContent !== text) $(id).textContent = text; }; // screen readers read a change only

function draw() {
  if (!frames.length) return;
  const t = seen(), hidden = shown > t ? frames[shown] : null, stale = field && field.t !== t;
  scene($("scene"), script.game, frames, t, stale ? null : field, asking ? asking.pixel : document.activeElement === $("scene") ? pixel() : null, hidden);
  if (stale || certified !== t) look();
  curve($("curve"), open < frames.length ? frames.slice(0, t + 1) : frames, t, bounds.filter(([round]) => round <= open), apriori);
  say("said", asking ? asking.text : describe(script.game, frames, t, hidden));
  say("note", note);
  say("promised", `Guarantees after ${certified} round${certified === 1 ? "" : "s"}`);
  const round = $("round");
  round.max = frames.length - 1; round.value = shown;
  round.setAttribute("aria-valuetext", `round ${shown} of ${frames.length - 1}`);
  $("back").disabled = shown === 0; $("forward").disabled = shown === frames.length - 1 && !hidden;
  $("run").textContent = running ? "Stop" : "Run";
  $("run").disabled = script.rival === "me" && $("forward").disabled;
  $("next").hidden = $("ten").hidden = script.rival === "me";
  $("ask").hidden = !asking;
  $("guess").hidden = !hidden; $("signs").hidden = script.game === "experts";
  cards($("promises"), certificates, explain);
  if (!running) written();
}

const here = () => link({ ...script, moves: script.moves.slice(0, frames.length - 1) }, limits, shown, open < Infinity); // answered moves only

function written() { // the link in the address bar; browsers limit the calls per minute
  try { if (here() !== location.hash) history.replaceState(null, "", here()); } catch { setTimeout(written, 2000); }
}

let looking = 0;
async function look() { // the picture and the certificates of an earlier round
  const mine = ++looking, at = seen(), now = era;
  try {
    const found = await post("api/play", { ...script, moves: script.moves.slice(0, at), from: at, field: pictured() });
    if (mine !== looking || now !== era || at !== seen()) return;
    ({ certificates } = found);
    certified = at;
    if (found.field) field = { ...found.field, t: at };
    draw();
  } catch (error) { if (mine === looking && now === era) fail(error); }
}

const explain = (name) => heard(fetch(`api/explain/${encodeURIComponent(name)}`)).then((found) => found.text, (error) => error.message);

function controls() {
  const game = games.find((one) => one.name === script.game);
  for (const button of $("games").children) button.name === script.game ? button.setAttribute("aria-current", "page") : button.removeAttribute("aria-current");
  $("scene-about").textContent = `${game.title}: ${game.about}`;
  $("scene").setAttribute("aria-label", `${game.title}: arrows move, Enter plays`);
  $("rival").replaceChildren(...game.rivals.map((name) => new Option(RIVALS[name], name, false, name === script.rival)));
  $("answers").hidden = script.game === "experts" || ["builtin", "data"].includes(script.rival);
  $("options").replaceChildren(...Object.entries(game.options).map(([name, [least, most, usual]]) => {
    const label = document.createElement("label"), input = document.createElement("input");
    Object.assign(input, { type: "number", min: least, max: most, value: script.options[name] ?? usual, name });
    input.addEventListener("change", () => { if (input.reportValidity() && input.value) begin({ ...script, options: { ...script.options, [name]: Number(input.value) }, moves: [] }, "", 0); });
    label.append(`${OPTIONS[name]} `, input);
    return label;
  }));
}

// Places

function placeAt(px, py) {
  if (script.game === "experts") {
    const count = limits[0][1].toString(2).length;
    return [1 << Math.min(count - 1, Math.max(0, Math.floor((px - 20) / (360 / count))))];
  }
  if (script.game === "thresholds") { const n = limits[0][1]; return [Math.min(n, Math.max(0, Math.floor((px - 20) / 360 * (n + 1))))]; }
  if (script.game === "boxes") { const m = limits[0][1] + 1; return [px, 400 - py].map((p) => Math.min(m - 1, Math.max(0, Math.floor(p / 400 * m)))); }
  return [px - 200, 200 - py].map((p) => Math.min(100, Math.max(-100, Math.round(p / 2))));
}

function pixel() {
  if (!cursor) cursor = limits.map(([least, most]) => Math.round((least + most) / 2));
  if (script.game === "experts") { const count = limits[0][1].toString(2).length; return [20 + (Math.log2(cursor[0] || 1) + 0.5) * 360 / count, 40]; }
  if (script.game === "thresholds") return [20 + 360 * (cursor[0] + 0.5) / (limits[0][1] + 1), 24];
  if (script.game === "boxes") { const m = limits[0][1] + 1; return [(cursor[0] + 0.5) * 400 / m, 400 - (cursor[1] + 0.5) * 400 / m]; }
  return [200 + 2 * cursor[0], 200 - 2 * cursor[1]];
}

const answer = () => document.querySelector("input[name=answer]:checked").value;

function where() { // for screen readers
  if (script.game === "experts") return `expert ${Math.log2(cursor[0] || 1) + 1}`;
  if (script.game === "thresholds") return `x = ${cursor[0]}`;
  return script.game === "boxes" ? `cell ${cursor[0]}, ${cursor[1]}` : `point ${(cursor[0] / 100).toFixed(2)}, ${(cursor[1] / 100).toFixed(2)}`;
}

async function choose(place, px) {
  if (seen() < shown) { note = "The answer is hidden: guess it, or show it."; return draw(); }
  if (["builtin", "data"].includes(script.rival)) return play("a");
  if (script.game === "experts") return play([place, "p"]);
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
  const whole = await post("api/play", { ...script, fields: pictured(), curve: true });
  const page = await saved(games.find((one) => one.name === script.game).title, { game: script.game, ...whole }, link(script, limits, frames.length - 1, false));
  const place = document.createElement("a");
  place.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  place.download = `novikoff-${script.game}.html`;
  place.click();
  URL.revokeObjectURL(place.href);
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.activeElement.matches("select, input[type=number]")) return;
  const inside = document.activeElement === $("scene"), step = event.shiftKey ? 10 : script.game === "thresholds" || script.game === "boxes" || script.game === "experts" ? 1 : 5;
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  if (inside && moves[event.key]) {
    pixel();
    const [dx, dy] = moves[event.key];
    if (script.game === "experts") { const count = limits[0][1].toString(2).length; cursor = [1 << Math.min(count - 1, Math.max(0, Math.log2(cursor[0] || 1) + dx))]; }
    else cursor = cursor.map((value, i) => Math.max(limits[i][0], Math.min(limits[i][1], value + step * (i ? dy : dx + (cursor.length === 1 ? dy : 0)))));
    note = where();
    draw();
  } else if (inside && event.key === "Enter") { pixel(); choose([...(script.game === "experts" ? [1 << Math.floor(Math.log2(cursor[0] || 1))] : cursor)], pixel()); }
  else if (["+", "-", "!"].includes(event.key)) {
    const letter = { "+": "p", "-": "m", "!": "o" }[event.key];
    if (seen() < shown) guess({ "+": 1, "-": -1, "!": 0 }[event.key]);
    else if (asking) reply(letter);
    else if (inside && script.rival === "me" && script.game !== "experts") { pixel(); play([[...cursor], letter]); }
    else return;
  } else if (event.key === ",") show(shown - 1);
  else if (event.key === ".") forward();
  else if (event.key === " " && (inside || document.activeElement === document.body)) run();
  else return;
  event.preventDefault();
}

async function start() {
  games = await (await fetch("api/games")).json();
  $("games").replaceChildren(...games.map((game) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", name: game.name, textContent: game.title });
    button.addEventListener("click", () => begin(fresh(game.name), "", 0));
    return button;
  }));
  $("scene").addEventListener("click", (event) => {
    const box = $("scene").getBoundingClientRect(), px = 400 * (event.clientX - box.left) / box.width, py = 400 * (event.clientY - box.top) / box.height;
    const place = placeAt(px, py);
    if (script.game !== "experts") cursor = place;
    choose(place, [px, py]);
  });
  $("scene").addEventListener("focus", draw);
  $("scene").addEventListener("blur", draw);
  document.addEventListener("keydown", keys);
  $("back").addEventListener("click", () => show(shown - 1));
  $("forward").addEventListener("click", forward);
  $("round").addEventListener("input", () => show(Number($("round").value)));
  $("run").addEventListener("click", run);
  $("next").addEventListener("click", () => play("a"));
  $("ten").addEventListener("click", () => { for (let k = 0; k < 10; k++) play("a"); });
  $("guess").addEventListener("click", (event) => event.target.dataset.guess && guess(Number(event.target.dataset.guess)));
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

async function opened() { // the game of the link; a new one if there is no link, or a broken one
  try {
    const given = unlink(location.hash, games);
    await (given ? begin(given.made, given.text, given.t, given.hide) : begin(fresh("perceptron"), "", 0));
  } catch (error) { await begin(fresh("perceptron"), "", 0); fail(error); }
}

start().catch(fail);
