// The arena: what is asked of the server, what is kept in the link, and what the keys and buttons do.
import { cards, curve, scene, told } from "./draw.js";

const $ = (id) => document.getElementById(id);
const RIVALS = { me: "me", builtin: "an adversary of the library", target: "a hidden target", data: "real flowers" };
let games = [], script = null, frames = [], bounds = [], field = null, certificates = [], limits = [], apriori = null;
let shown = 0, era = 0, cursor = null, asking = null, running = false, queue = Promise.resolve();

// The link is the whole state

const two = (value) => value.toString(36).padStart(2, "0");

function link() {
  const options = Object.entries(script.options).map(([name, value]) => `${name}:${value}`).join(",");
  const moves = script.moves.map((move) => (move === "a" ? "A" : move[0].map((value, i) => two(value - limits[i][0])).join("") + move[1])).join("");
  return `#v=1&g=${script.game}&o=${options}&s=${script.seed}&r=${script.rival}&m=${moves}&t=${shown}`;
}

function unlink(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const game = games.find((one) => one.name === given.get("g"));
  if (!game) return null;
  const options = {};
  for (const part of (given.get("o") || "").split(",").filter(Boolean)) {
    const [name, value] = part.split(":");
    options[name] = Number(value);
  }
  return { game, text: given.get("m") || "", t: Number(given.get("t") || 0), made: { v: Number(given.get("v")), game: game.name, options, seed: Number(given.get("s") || 0), rival: given.get("r") || "me", honest: true, moves: [] } };
}

function movesOf(text) {
  const moves = [], width = 2 * limits.length;
  for (let at = 0; at < text.length;) {
    if (text[at] === "A") { moves.push("a"); at += 1; continue; }
    const place = limits.map(([least], i) => parseInt(text.slice(at + 2 * i, at + 2 * i + 2), 36) + least);
    moves.push([place, text[at + width]]);
    at += width + 1;
  }
  return moves;
}

// The server

async function post(path, body) {
  const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error || answer.statusText);
  return found;
}

function fail(error) {
  $("error").textContent = error ? error.message : "";
  $("error").hidden = !error;
}

const pictured = () => ["kernel", "boxes"].includes(script.game);

// one after the other, so that quick clicks are all played; answers for a game that was left are dropped
function play(move) {
  const mine = era;
  queue = queue.then(async () => {
    if (mine !== era) return;
    if (shown < frames.length - 1) { script.moves.length = shown; frames.length = shown + 1; bounds = bounds.filter(([round]) => round <= shown); }
    script.moves.push(move);
    try {
      const found = await post("api/play", { ...script, from: script.moves.length, field: pictured() });
      if (mine !== era) return;
      take(found);
      const last = frames[frames.length - 1];
      if (move !== "a" && script.game !== "experts") script.moves[script.moves.length - 1] = [move[0], last.y > 0 ? "p" : "m"];
      shown = frames.length - 1;
      fail(null);
    } catch (error) { if (mine === era) { script.moves.pop(); fail(error); running = false; } }
    draw();
  });
  return queue;
}

function take(found) {
  frames.push(...found.frames);
  bounds.push(...found.curve);
  ({ certificates, limits, apriori } = found);
  if (found.field) field = { ...found.field, t: frames.length - 1 };
}

async function begin(made, text, t) {
  const mine = ++era;
  running = false; asking = null; frames = []; bounds = []; field = null; cursor = null;
  script = made;
  try {
    const empty = await post("api/play", { ...script, moves: [], field: pictured() });
    if (mine !== era) return;
    ({ limits } = empty);
    script.moves = text ? movesOf(text) : [];
    const found = script.moves.length ? await post("api/play", { ...script, field: pictured(), curve: true }) : empty;
    if (mine !== era) return;
    take(found);
    shown = Number.isInteger(t) && t >= 0 && t < frames.length ? t : frames.length - 1;
    fail(null);
  } catch (error) { if (mine === era) { script.moves = []; fail(error); if (text) await begin({ ...made, moves: [], options: {}, rival: "me", v: 1, seed: 0 }, "", 0).then(() => fail(error)); } return; }
  controls();
  draw();
}

// What is seen

function draw() {
  if (!frames.length) return;
  const stale = field && field.t !== shown;
  scene($("scene"), script.game, frames, shown, stale ? null : field, asking ? asking.pixel : document.activeElement === $("scene") ? pixel() : null);
  if (stale && pictured()) look();
  curve($("curve"), frames, shown, bounds, apriori);
  $("said").textContent = asking ? asking.text : told(script.game, frames, shown);
  const round = $("round");
  round.max = frames.length - 1; round.value = shown;
  $("back").disabled = shown === 0; $("forward").disabled = shown === frames.length - 1;
  $("run").textContent = running ? "Stop" : "Run";
  $("run").disabled = script.rival === "me" && shown === frames.length - 1;
  $("next").disabled = $("ten").disabled = script.rival === "me";
  $("ask").hidden = !asking;
  cards($("promises"), certificates, explain);
  history.replaceState(null, "", link());
}

let looking = 0;
async function look() { // the picture of an earlier round
  const mine = ++looking, at = shown, now = era;
  const found = await post("api/play", { ...script, moves: script.moves.slice(0, at), from: at, field: true });
  if (mine === looking && now === era && at === shown) { field = { ...found.field, t: at }; draw(); }
}

async function explain(name) {
  const answer = await fetch(`api/explain/${encodeURIComponent(name)}`);
  return (await answer.json()).text;
}

function controls() {
  const game = games.find((one) => one.name === script.game);
  for (const button of $("games").children) button.name === script.game ? button.setAttribute("aria-current", "page") : button.removeAttribute("aria-current");
  $("scene-about").textContent = `${game.title}: ${game.about}`;
  $("rival").replaceChildren(...game.rivals.map((name) => new Option(RIVALS[name], name, false, name === script.rival)));
  $("answers").hidden = script.game === "experts" || ["builtin", "data"].includes(script.rival);
  $("options").replaceChildren(...Object.entries(game.options).map(([name, [least, most, usual]]) => {
    const label = document.createElement("label"), input = document.createElement("input");
    Object.assign(input, { type: "number", min: least, max: most, value: script.options[name] ?? usual, name });
    input.addEventListener("change", () => { if (input.reportValidity() && input.value) begin({ ...script, options: { ...script.options, [name]: Number(input.value) }, moves: [] }, "", 0); });
    label.append(`${name} `, input);
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

async function choose(place, px) {
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
    const free = found.free[other] ? "" : " No target could still say the opposite: answer so, and the theorem no longer applies.";
    asking = { place, pixel: px, text: `The learner says ${found.said > 0 ? "+1" : "\u22121"}.${vote} What is it?${free}` };
  } catch (error) { fail(error); }
  draw();
}

async function reply(letter) {
  if (!asking) return;
  const { place } = asking;
  asking = null;
  const honest = script.honest;
  if (letter === "o") script.honest = false; // it was told that nothing fits, and answers all the same
  await play([place, letter]);
  script.honest = honest;
}

// Time

function show(t) { asking = null; shown = Math.max(0, Math.min(frames.length - 1, t)); draw(); }

async function run() {
  running = !running;
  draw();
  while (running && era) {
    const before = era;
    if (shown < frames.length - 1) show(shown + 1);
    else if (script.rival !== "me" && script.moves.length < 1000) await play("a");
    else break;
    await new Promise((done) => setTimeout(done, 120));
    if (before !== era) return;
  }
  running = false;
  draw();
}

async function save() {
  const whole = await post("api/play", { ...script, field: false, curve: true });
  const [code, style] = await Promise.all(["draw.js", "arena.css"].map(async (name) => (await fetch(name)).text()));
  const data = JSON.stringify({ game: script.game, ...whole }).replace(/</g, "\\u003c");
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>novikoff: ${script.game}, ${script.moves.length} rounds</title><style>${style}</style></head><body><h1>${script.game}, ${script.moves.length} rounds</h1>
<main><div><svg id="scene" viewBox="0 0 400 400" role="img" aria-label="The game"></svg><p id="said" role="status"></p></div><div>
<svg id="curve" viewBox="0 0 400 190" role="img" aria-label="Mistakes and their bound against rounds"></svg>
<input id="round" type="range" min="0" aria-label="Round shown" style="width:100%"></div></main><section id="promises"></section>
<script>${code.replace(/^export /gm, "")}
const game = ${data};
const round = document.getElementById("round");
round.max = round.value = game.frames.length - 1;
function draw() { const t = Number(round.value); scene(document.getElementById("scene"), game.game, game.frames, t, null, null);
curve(document.getElementById("curve"), game.frames, t, game.curve, game.apriori); document.getElementById("said").textContent = told(game.game, game.frames, t); }
round.addEventListener("input", draw); draw(); cards(document.getElementById("promises"), game.certificates, null);
</script></body></html>`;
  const place = document.createElement("a");
  place.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  place.download = `novikoff-${script.game}.html`;
  place.click();
  URL.revokeObjectURL(place.href);
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const inside = document.activeElement === $("scene"), step = event.shiftKey ? 10 : script.game === "thresholds" || script.game === "boxes" || script.game === "experts" ? 1 : 5;
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  if (inside && moves[event.key]) {
    pixel();
    const [dx, dy] = moves[event.key];
    if (script.game === "experts") { const count = limits[0][1].toString(2).length; cursor = [1 << Math.min(count - 1, Math.max(0, Math.log2(cursor[0] || 1) + dx))]; }
    else cursor = cursor.map((value, i) => Math.max(limits[i][0], Math.min(limits[i][1], value + step * (i ? dy : dx + (cursor.length === 1 ? dy : 0)))));
    draw();
  } else if (inside && event.key === "Enter") { pixel(); choose([...(script.game === "experts" ? [1 << Math.floor(Math.log2(cursor[0] || 1))] : cursor)], pixel()); }
  else if (["+", "-", "!"].includes(event.key) && !/^(INPUT|SELECT)$/.test(document.activeElement.tagName)) {
    const letter = { "+": "p", "-": "m", "!": "o" }[event.key];
    if (asking) reply(letter);
    else if (inside && script.rival === "me" && script.game !== "experts") { pixel(); play([[...cursor], letter]); }
    else return;
  } else if (event.key === "," || event.key === ".") show(shown + (event.key === "," ? -1 : 1));
  else if (event.key === " " && (inside || document.activeElement === document.body)) run();
  else return;
  event.preventDefault();
}

async function start() {
  games = await (await fetch("api/games")).json();
  $("games").replaceChildren(...games.map((game) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", name: game.name, textContent: game.title });
    button.addEventListener("click", () => begin({ v: 1, game: game.name, options: {}, seed: 0, rival: "me", honest: $("honest").checked, moves: [] }, "", 0));
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
  $("forward").addEventListener("click", () => show(shown + 1));
  $("round").addEventListener("input", () => show(Number($("round").value)));
  $("run").addEventListener("click", run);
  $("next").addEventListener("click", () => play("a"));
  $("ten").addEventListener("click", () => { for (let k = 0; k < 10; k++) play("a"); });
  $("ask").addEventListener("click", (event) => event.target.dataset.answer && reply(event.target.dataset.answer));
  $("honest").addEventListener("change", () => { script.honest = $("honest").checked; });
  $("rival").addEventListener("change", () => begin({ ...script, rival: $("rival").value, moves: [] }, "", 0));
  $("new").addEventListener("click", () => begin({ ...script, moves: [], seed: (script.seed + 1) % 1000 }, "", 0));
  $("copy").addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(location.href); $("copy").textContent = "Copied"; } catch { prompt("The link:", location.href); }
    setTimeout(() => { $("copy").textContent = "Copy link"; }, 1500);
  });
  $("save").addEventListener("click", () => save().catch(fail));
  $("help").addEventListener("click", () => { $("about").hidden = !$("about").hidden; $("help").setAttribute("aria-expanded", String(!$("about").hidden)); });
  window.addEventListener("hashchange", () => { const given = unlink(location.hash); if (given && location.hash !== link()) begin(given.made, given.text, given.t); });
  const given = unlink(location.hash);
  await (given ? begin(given.made, given.text, given.t) : begin({ v: 1, game: "perceptron", options: {}, seed: 0, rival: "me", honest: true, moves: [] }, "", 0));
  document.body.dataset.ready = "yes";
}

start().catch(fail);
