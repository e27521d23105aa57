// A run in progress: events of the process that plays, drawn as in the arena.
import { cards, curve, rates } from "./charts.js";

const $ = (id) => document.getElementById(id);
const events = new EventSource("events");

events.onmessage = (event) => {
  const run = JSON.parse(event.data);
  const points = run.curve.map(([t, paid]) => ({ t, paid }));
  $("title").textContent = `${run.learner} on ${run.source}`;
  document.title = `${run.learner} on ${run.source}`;
  $("lead").textContent = run.lead;
  curve($("curve"), points, points.length - 1, run.bounds, null, { counted: run.counted });
  const whole = points.length > 1 && points[points.length - 1].t > 0;
  if (whole) rates($("rate"), points, run.counts ? "error rate" : "mean", run.counts);
  cards($("promises"), run.certificates, null);
  if (run.ended) {
    events.close();
    $("state").textContent = "Finished.";
    document.body.dataset.ended = "yes";
  }
};
events.onerror = () => { if (!document.body.dataset.ended) $("state").textContent = "Connection to the run lost."; };
