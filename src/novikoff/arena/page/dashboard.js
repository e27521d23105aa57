// Dashboard of the service: a table of all models, and the page of one, whose events are drawn as in the arena.
import { cards, curve } from "./charts.js";

const $ = (id) => document.getElementById(id);
const count = (n) => n.toLocaleString("en");
const percent = (part) => `${(100 * part).toFixed(part < 0.0995 ? 2 : 1)}\u00a0%`;
const made = (tag, text, name) => Object.assign(document.createElement(tag), { textContent: text, className: name || "" });

// Figures of a model, and the rows per second since an earlier reading, half a minute old at most.
const readings = new Map();
function rate(model, at) {
  const known = (readings.get(model.name) || []).filter((one) => at - one.at < 30);
  if (model.predicted !== undefined) readings.set(model.name, [...known, { at, rows: model.predicted }]);
  const first = known[0];
  return first && model.predicted !== undefined ? Math.max(0, (model.predicted - first.rows) / (at - first.at)) : null;
}

const bytes = (n) => (n === null || n === undefined ? "" : n < 1e6 ? `${Math.ceil(n / 1e3)}\u00a0kB` : n < 1e9 ? `${(n / 1e6).toFixed(1)}\u00a0MB` : `${(n / 1e9).toFixed(1)}\u00a0GB`);
const figure = (value, model) => (value === null || value === undefined ? "" : model.counts ? percent(value) : value.toPrecision(3));
const per = (value) => (value === null ? "" : value >= 10 || value === 0 ? count(Math.round(value)) : value.toFixed(1));
const seconds = (value) => (value === null || value === undefined ? "" : value < 1 ? `${Math.round(1000 * value)}\u00a0ms` : `${value}\u00a0s`);
const state = (model) => (model.state === "ready" ? (model.frozen ? "frozen" : "ready") : model.state.replace("_", " "));

// Columns: title, text, value to sort by, class.
const COLUMNS = [
  ["Model", null, (m) => m.name, "text"],
  ["Learner", (m) => m.learner || "", (m) => m.learner || "", "text learner wide"],
  ["State", state, state, "text"],
  ["Rows", (m) => (m.labelled === undefined ? "" : count(m.labelled)), (m) => m.labelled ?? -1, ""],
  ["Per second", (m) => per(m.rate), (m) => m.rate ?? -1, "wide"],
  ["Error", (m) => figure(m.error, m), (m) => m.error ?? -1, ""],
  ["Baseline", (m) => figure(m.baseline, m), (m) => m.baseline ?? -1, "wide"],
  ["Drift", (m) => (m.drift_alarm ? "alarm" : m.drift_alarm === false ? "none" : ""), (m) => Number(m.drift_alarm ?? -1), ""],
  ["Pending", (m) => (m.pending === undefined ? "" : count(m.pending)), (m) => m.pending ?? -1, "wide"],
  ["p95 commit", (m) => seconds(m.latency), (m) => m.latency ?? -1, "wide"],
  ["Disk", (m) => bytes(m.disk), (m) => m.disk ?? -1, "wide"],
];
let sorted = [0, 1], fleet = [];

function heads() {
  $("columns").replaceChildren(...COLUMNS.map(([title, , , name], k) => {
    const head = made("th", "", name), button = made("button", title);
    head.scope = "col";
    if (title.startsWith("p95")) button.title = "Time within which 95 % of the groups of requests were answered, since the start";
    button.addEventListener("click", () => {
      sorted = [k, sorted[0] === k ? -sorted[1] : k < 3 ? 1 : -1];
      table();
    });
    head.append(button);
    return head;
  }));
}

function cell(model, [title, text, , name]) {
  const found = made("td", text ? text(model) : "", name);
  if (!text) {
    const link = made("a", model.name);
    link.href = `#${encodeURIComponent(model.name)}`;
    found.append(link);
  }
  if (title === "Error" && model.baseline !== null && model.error !== null && model.error !== undefined) found.classList.add(model.error > model.baseline ? "bad" : model.error < model.baseline ? "good" : "even");
  if ((title === "Drift" && model.drift_alarm) || (title === "State" && model.advice)) found.classList.add("bad");
  if (title === "Learner") found.title = model.learner || "";
  return found;
}

function table() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (m) => `${m.name} ${m.learner || ""} ${state(m)} ${m.drift_alarm ? "alarm" : ""}`.toLowerCase();
  const [column, way] = sorted, key = COLUMNS[column][2];
  const shown = fleet.filter((m) => words.every((word) => text(m).includes(word))).sort((a, b) => {
    const [x, y] = [key(a), key(b)], bad = Number(!!b.advice) - Number(!!a.advice);
    return bad || way * (x < y ? -1 : x > y ? 1 : 0) || (a.name < b.name ? -1 : 1);
  });
  [...$("columns").children].forEach((head, k) => head.setAttribute("aria-sort", k !== column ? "none" : way > 0 ? "ascending" : "descending"));
  $("rows").replaceChildren(...shown.map((model) => {
    const row = document.createElement("tr");
    row.append(...COLUMNS.map((one) => cell(model, one)));
    return row;
  }));
  const failed = fleet.filter((m) => m.advice);
  $("trouble").replaceChildren(...failed.slice(0, 5).map((model) => {
    const box = made("div", "", "trouble"), head = document.createElement("p");
    head.append(made("strong", `${model.name}: ${state(model)}. `), model.reason || "");
    box.append(head, made("p", model.advice));
    return box;
  }), ...(failed.length > 5 ? [made("p", `${failed.length - 5} more models need attention: they are first in the table.`)] : []));
  const rows = fleet.reduce((sum, m) => sum + (m.labelled || 0), 0), alarms = fleet.filter((m) => m.drift_alarm).length;
  $("sum").textContent = fleet.length ? `${shown.length < fleet.length ? `${shown.length} of ` : ""}${count(fleet.length)} model${fleet.length === 1 ? "" : "s"}, ${count(rows)} labelled rows` + (alarms ? `, ${alarms} drift alarm${alarms === 1 ? "" : "s"}` : "") : "";
}

let events = null, current = "", extra = 0;

function show(model) {
  const points = model.curve.map(([t, paid]) => ({ t, paid }));
  $("title").textContent = `${model.name}: ${model.model ? model.model.learner : model.state}`;
  document.title = `${model.name}: novikoff`;
  curve($("curve"), points, points.length - 1, model.bounds, null);
  const served = (one) => one.theorem.startsWith("delayed_");
  cards($("promises"), model.certificates.filter(served), null);
  $("none").textContent = model.certificates.some(served) || !model.certificates.length ? "" : "No guarantee for the served answers; see the game below.";
  cards($("others"), model.certificates.filter((one) => !served(one)), null);
  $("state").textContent = model.state === "ready" ? (model.frozen ? "Frozen: labels are refused." : "Ready.") : `${model.state}: ${model.reason || "please wait"}`;
  if (model.labelled === undefined) return;
  $("lead").textContent = `${paid(model, model.mistakes, model.loss)} in ${count(model.labelled)} labelled rounds${model.mistakes === null ? ", in the order of arrival" : ""}; ${count(model.predicted)} were served.`;
  $("lately").textContent = lately(model, points);
  $("baselines").textContent = baselines(model);
  $("drift").textContent = model.drift ? model.drift.sentence : "";
  $("drift").className = model.drift && model.drift.alarm ? "alarm" : "";
  $("waits").textContent = `${count(model.pending)} waiting for labels; ${count(model.expired)} expired.`;
  $("as-of").textContent = model.as_of && model.as_of < model.labelled ? `Certificates as of ${count(model.as_of)} labels.` : "";
  $("changed").textContent = `${count(model.changed)} answers ${model.labelled ? `(${share(model.changed, model)}) ` : ""}changed before their labels came.`;
  $("followed").textContent = model.team ? `Team: ${model.team.map((one) => `${one.model} ${percent(one.weight)} (${count(one.followed)} answers)`).join(", ")}.` : "";
}

const share = (some, model) => `${(100 * some / model.labelled).toFixed(1)}\u00a0%`;

// Mistakes, or the loss if the learner does not count mistakes.
function paid(model, mistakes, loss) {
  if (mistakes !== null && mistakes !== undefined) return `${count(mistakes)} mistakes` + (model.labelled ? ` (${share(mistakes, model)})` : "");
  return `${model.loss_name} loss ${loss.toPrecision(5)}` + (model.labelled ? ` (${(loss / model.labelled).toPrecision(4)} per round)` : "");
}

// About the last fifth of the labels, by the points of the curve.
function lately(model, points) {
  const from = points.filter((one) => one.t > 0 && one.t <= 0.8 * model.labelled).pop();
  if (!from) return "";
  const some = points[points.length - 1].paid - from.paid, last = { ...model, labelled: model.labelled - from.t };
  return `Last ${count(last.labelled)}: ${model.mistakes === null ? paid(last, null, some) : paid(last, some)}.`;
}

function baselines(model) {
  const { best_constant: constant, last_label: last } = model.baselines;
  if (!constant || !model.labelled) return "";
  const says = typeof constant.says === "number" && !Number.isInteger(constant.says) ? constant.says.toPrecision(4) : constant.says;
  return `Baselines: always ${says}: ${paid(model, constant.mistakes, constant.loss)}` + (last ? `; repeating the previous label: ${paid(model, last.mistakes)}.` : ".");
}

const get = async (path) => {
  const reply = await fetch(path);
  return reply.ok ? reply.json() : null;
};

const rows = (cells, tags) => cells.map((row) => {
  const found = document.createElement("tr");
  found.append(...row.map((one, k) => (one instanceof Node ? one : made(tags || "td", String(one), k < 3 ? "text" : k > 3 ? "wide" : ""))));
  return found;
});

// On request only: some learners are measured for it, while requests wait.
async function features() {
  const name = current, found = await get(`v1/models/${encodeURIComponent(name)}/importance`).catch(() => null);
  if (name !== current) return;
  $("kind").textContent = found ? `${found.columns.length > 15 ? "The first 15 of " + count(found.columns.length) + ", by " : "By "}${found.unit}.` : "This learner does not rank its features.";
  const listed = found ? found.columns.slice(0, 15).map((column, k) => [column, found.values[k]]) : [];
  const most = Math.max(...listed.map(([, value]) => Math.abs(value)), 1e-300);
  $("features").replaceChildren(...rows(listed.map(([column, value]) => {
    const bar = made("td", ""), meter = document.createElement("meter");
    Object.assign(meter, { min: 0, max: 1, value: Math.abs(value) / most });
    meter.setAttribute("aria-label", `importance of ${column}`);
    bar.append(meter);
    return [column, value.toPrecision(3), bar];
  })));
}

// Recent mistakes and shadows, which change slowly.
async function more(name) {
  extra = Date.now();
  const path = `v1/models/${encodeURIComponent(name)}`;
  const [wrong, shadows] = await Promise.all(["mistakes", "shadows"].map((one) => get(`${path}/${one}`).catch(() => null)));
  if (name !== current) return;
  const found = (wrong && wrong.mistakes) || [], value = (one) => (typeof one === "number" && !Number.isInteger(one) ? one.toPrecision(4) : one);
  const when = (at) => new Date(1000 * at).toLocaleString("en-GB", { dateStyle: "short", timeStyle: "medium" });
  $("mistakes").replaceChildren(...(found.length ? rows([["Id", "Predicted", "Label", "Arrival", "Predicted at"]], "th") : rows([["None among the last labels."]])),
    ...rows(found.map((one) => [one.id, value(one.prediction ?? "nothing"), value(one.label), count(one.arrival), when(one.at)])));
  $("shadows").textContent = ((shadows && shadows.shadows) || []).map((one) => {
    const [ours, theirs] = one.mistakes ? [one.mistakes.served, one.mistakes.shadow] : [one.loss.arrival.toPrecision(4), one.loss.shadow.toPrecision(4)];
    return `Shadow ${one.name} (${one.learner}): ${theirs} ${one.mistakes ? "mistakes" : "loss"} in ${count(one.labels)} labels, served ${ours}.`;
  }).join(" ");
}

function listen(name) {
  current = name;
  extra = 0;
  if (events) events.close();
  for (const id of ["lead", "lately", "baselines", "drift", "waits", "changed", "followed", "shadows", "as-of", "none", "kind"]) $(id).textContent = "";
  for (const id of ["promises", "others", "mistakes", "features"]) $(id).replaceChildren();
  events = new EventSource(`v1/models/${encodeURIComponent(name)}/events`);
  events.onmessage = (event) => { if (name === current) show(JSON.parse(event.data)); };
}

function view() {
  const name = decodeURIComponent(location.hash.slice(1)), known = fleet.some((one) => one.name === name);
  $("fleet").hidden = !!name;
  $("one").hidden = !name || !known;
  $("back").hidden = !name;
  if (!name || !known) {
    if (events) events.close();
    events = null;
    current = "";
    $("title").textContent = name || "The service";
    document.title = "novikoff: the service";
    $("state").textContent = name ? `${name} was removed.` : fleet.length ? "" : "No models yet: create one with PUT /v1/models/NAME.";
    table();
  } else if (name !== current || !events || events.readyState === EventSource.CLOSED) listen(name);
}

// Polled, because models are created and removed while the page is open.
async function poll() {
  setTimeout(poll, 2000);
  try {
    const found = await get("v1/fleet"), at = performance.now() / 1000;
    fleet = found.models.map((model) => ({ ...model, rate: rate(model, at) }));
  } catch {
    $("state").textContent = "The service does not answer; retrying.";
    return;
  }
  view();
  if (current && Date.now() - extra > 5000) more(current);
}

heads();
$("rank").addEventListener("click", features);
$("search").addEventListener("input", table);
addEventListener("hashchange", view);
poll();
