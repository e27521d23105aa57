// The player of a saved game: `game` and the functions that draw are above it in the file.

const $ = (id) => document.getElementById(id), last = game.frames.length - 1, kind = SCENES[game.game];
const still = matchMedia("(prefers-reduced-motion: reduce)");
let running = 0, at = -1;

function show(t) {
  const moved = at >= 0 && Math.abs(t - at) === 1 && kind.smooth.length && !still.matches;
  $("round").value = at = t;
  const field = game.frames.slice(0, t + 1).map((one) => one.field).filter(Boolean).pop(), more = { field, best: t === last ? game.best : null };
  if (moved && t > 0) animate((part) => scene($("scene"), game.game, between(game.game, game.frames, t, part), t, more, null), () => at === t);
  else scene($("scene"), game.game, game.frames, t, more, null);
  curve($("curve"), game.frames, t, game.curve, game.apriori, kind);
  $("said").textContent = describe(game.game, game.frames, t);
  $("back").disabled = t === 0; $("forward").disabled = t === last;
}

function stop() {
  clearInterval(running);
  running = 0;
  $("run").textContent = "Run";
}

const now = () => Number($("round").value);
$("round").max = last;
$("back").addEventListener("click", () => { stop(); show(now() - 1); });
$("forward").addEventListener("click", () => { stop(); show(now() + 1); });
$("round").addEventListener("input", () => { stop(); show(now()); });
$("run").addEventListener("click", () => {
  if (running) return stop();
  if (now() === last) show(0);
  $("run").textContent = "Stop";
  running = setInterval(() => { show(Math.min(now() + 1, last)); if (now() === last) stop(); }, 400);
});
legend($("legend"), kind.legend);
show(Math.min(game.t, last));
if (game.proof && game.proof.points.length > 1) {
  $("proof").hidden = false;
  chain($("chain"), game.proof);
  $("chain-text").textContent = proved(game.proof);
}
cards($("promises"), game.certificates, null);
