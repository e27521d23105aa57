// Dashboard of the service: events of one model, drawn as in the arena.
import { cards, curve } from "./charts.js";

const $ = (id) => document.getElementById(id);
const count = (n) => n.toLocaleString("en");
let events = null;

function show(model) {
  const points = model.curve.map(([t, paid]) => ({ t, paid }));
  $("title").textContent = `${model.name}: ${model.model ? model.model.learner : model.state}`;
  document.title = `${model.name}: novikoff`;
  curve($("curve"), points, points.length - 1, model.bounds, null);
  const served = (one) => one.theorem.startsWith("delayed_");
  cards($("promises"), model.certificates.filter(served), null);
  $("none").textContent = model.certificates.some(served) || !model.certificates.length ? "" : "No guarantee for the served answers; see the game below.";
  cards($("others"), model.certificates.filter((one) => !served(one)), null);
  $("state").textContent = model.state === "ready" ? "Ready." : `${model.state}: ${model.reason || "please wait"}`;
  if (model.labelled === undefined) return;
  $("lead").textContent = `${paid(model, model.mistakes, model.loss)} in ${count(model.labelled)} labelled rounds${model.mistakes === null ? ", in the order of arrival" : ""}; ${count(model.predicted)} were served.`;
  $("lately").textContent = lately(model, points);
  $("baselines").textContent = baselines(model);
  $("drift").textContent = model.drift ? model.drift.sentence : "";
  $("drift").className = model.drift && model.drift.alarm ? "alarm" : "";
  $("waits").textContent = `${count(model.pending)} waiting for labels; ${count(model.expired)} expired.`;
  $("as-of").textContent = model.as_of && model.as_of < model.labelled ? `Certificates as of ${count(model.as_of)} labels.` : "";
  $("changed").textContent = `${count(model.changed)} answers ${model.labelled ? `(${share(model.changed, model)}) ` : ""}changed before their labels came.`;
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

let current = "";

function listen(name) {
  current = name;
  if (events) events.close();
  for (const button of $("models").children) button.setAttribute("aria-current", button.textContent === name ? "page" : "false");
  events = new EventSource(`v1/models/${encodeURIComponent(name)}/events`);
  events.onmessage = (event) => show(JSON.parse(event.data));
}

const chosen = () => decodeURIComponent(location.hash.slice(1)) || ($("models").firstChild || {}).textContent || "";

// Polled, because models are created and removed while the page is open.
async function models() {
  setTimeout(models, 2000);
  let names;
  try {
    names = (await (await fetch("v1/models")).json()).models.map((one) => one.name);
  } catch {
    $("state").textContent = "The service does not answer; retrying.";
    return;
  }
  if (names.join() !== [...$("models").children].map((one) => one.textContent).join())
    $("models").replaceChildren(...names.map((name) => {
      const button = document.createElement("button");
      button.textContent = name;
      button.addEventListener("click", () => { location.hash = name; });
      button.setAttribute("aria-current", name === current ? "page" : "false");
      return button;
    }));
  const name = chosen();
  if (!names.includes(name)) {
    if (events) events.close();
    current = "";
    $("state").textContent = name ? `${name} was removed.` : "No models yet: create one with PUT /v1/models/NAME.";
  } else if (name !== current || events.readyState === EventSource.CLOSED) listen(name);
}

addEventListener("hashchange", () => listen(chosen()));
models();
