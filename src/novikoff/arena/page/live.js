// A run while it plays: events of the process that plays, drawn as the arena draws.
import { cards, curve } from "./draw.js";

const $ = (id) => document.getElementById(id);
const events = new EventSource("events");

events.onmessage = (event) => {
  const told = JSON.parse(event.data);
  const points = told.curve.map(([t, paid]) => ({ t, paid }));
  $("title").textContent = `${told.learner} on ${told.source}`;
  document.title = `${told.learner} on ${told.source}`;
  $("lead").textContent = told.lead;
  curve($("curve"), points, points.length - 1, told.bounds, null);
  cards($("promises"), told.certificates, null);
  if (told.ended) {
    events.close();
    $("state").textContent = "Finished.";
    document.body.dataset.ended = "yes";
  }
};
events.onerror = () => { if (!document.body.dataset.ended) $("state").textContent = "Connection to the run lost."; };
