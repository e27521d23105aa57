// The service as it is used: events of one model, drawn as the arena draws.
import { cards, curve } from "./draw.js";

const $ = (id) => document.getElementById(id);
const count = (n) => n.toLocaleString("en");
let events = null;

function show(told) {
  const points = told.curve.map(([t, paid]) => ({ t, paid }));
  $("title").textContent = `${told.name}: ${told.model ? told.model.learner : told.state}`;
  document.title = `${told.name}: novikoff`;
  curve($("curve"), points, points.length - 1, told.bounds, null);
  const served = (one) => one.theorem.startsWith("delayed_");
  cards($("promises"), told.certificates.filter(served), null);
  $("none").textContent = told.certificates.some(served) || !told.certificates.length ? "" : "No guarantee for the served answers; see the game below.";
  cards($("others"), told.certificates.filter((one) => !served(one)), null);
  $("state").textContent = told.state === "ready" ? "Ready." : `${told.state}: ${told.reason || "please wait"}`;
  if (told.labelled === undefined) return;
  $("lead").textContent = `${paid(told, told.mistakes, told.loss)} in ${count(told.labelled)} labelled rounds${told.mistakes === null ? ", in the order of arrival" : ""}; ${count(told.predicted)} were served.`;
  $("lately").textContent = lately(told, points);
  $("baselines").textContent = baselines(told);
  $("drift").textContent = told.drift ? told.drift.sentence : "";
  $("drift").className = told.drift && told.drift.alarm ? "alarm" : "";
  $("waits").textContent = `${count(told.pending)} waiting for labels; ${count(told.expired)} expired.`;
  $("as-of").textContent = told.as_of && told.as_of < told.labelled ? `Certificates as of ${count(told.as_of)} labels.` : "";
  $("changed").textContent = `${count(told.changed)} answers ${told.labelled ? `(${share(told.changed, told)}) ` : ""}changed before their labels came.`;
}

const share = (some, told) => `${(100 * some / told.labelled).toFixed(1)}\u00a0%`;

// what was paid, of mistakes or of another loss
function paid(told, mistakes, loss) {
  if (mistakes !== null && mistakes !== undefined) return `${count(mistakes)} mistakes` + (told.labelled ? ` (${share(mistakes, told)})` : "");
  return `${told.loss_name} loss ${loss.toPrecision(5)}` + (told.labelled ? ` (${(loss / told.labelled).toPrecision(4)} per round)` : "");
}

// the last fifth or so of the labels, by the points of the curve
function lately(told, points) {
  const from = points.filter((one) => one.t > 0 && one.t <= 0.8 * told.labelled).pop();
  if (!from) return "";
  const some = points[points.length - 1].paid - from.paid, last = { ...told, labelled: told.labelled - from.t };
  return `Last ${count(last.labelled)}: ${told.mistakes === null ? paid(last, null, some) : paid(last, some)}.`;
}

function baselines(told) {
  const { best_constant: constant, last_label: last } = told.baselines;
  if (!constant || !told.labelled) return "";
  const says = typeof constant.says === "number" && !Number.isInteger(constant.says) ? constant.says.toPrecision(4) : constant.says;
  return `Baselines: always ${says}: ${paid(told, constant.mistakes, constant.loss)}` + (last ? `; repeating the previous label: ${paid(told, last.mistakes)}.` : ".");
}

let heard = "";

function listen(name) {
  heard = name;
  if (events) events.close();
  for (const button of $("models").children) button.setAttribute("aria-current", button.textContent === name ? "page" : "false");
  events = new EventSource(`v1/models/${encodeURIComponent(name)}/events`);
  events.onmessage = (event) => show(JSON.parse(event.data));
}

const chosen = () => decodeURIComponent(location.hash.slice(1)) || ($("models").firstChild || {}).textContent || "";

// The models there are, asked for again and again: some are made and some removed while the page is open.
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
      button.setAttribute("aria-current", name === heard ? "page" : "false");
      return button;
    }));
  const name = chosen();
  if (!names.includes(name)) {
    if (events) events.close();
    heard = "";
    $("state").textContent = name ? `${name} was removed.` : "No models yet: create one with PUT /v1/models/NAME.";
  } else if (name !== heard || events.readyState === EventSource.CLOSED) listen(name);
}

addEventListener("hashchange", () => listen(chosen()));
models();
