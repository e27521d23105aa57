// A game as one file that replays without a server: the frames, and the code that draws them.

const safe = (text) => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);

export async function saved(title, game, link) {
  const [drawing, charts, style] = await Promise.all(["draw.js", "charts.js", "arena.css"].map(async (name) => (await fetch(name)).text()));
  const code = (drawing + charts).replace(/^import .*$/gm, "").replace(/^export /gm, "");
  const data = JSON.stringify(game).replace(/</g, "\\u003c");
  const name = safe(`${title}, ${game.frames.length - 1} rounds`);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>novikoff: ${name}</title><style>${style}</style></head><body><header><h1>${name}</h1></header>
<main><div><svg id="scene" viewBox="0 0 400 400" role="img" aria-label="The game"></svg><p id="said" role="status"></p></div><div>
<svg id="curve" viewBox="0 0 400 190" role="img" aria-label="Mistakes and their bound against rounds"></svg>
${game.proof && game.proof.points.length > 1 ? '<svg id="chain" viewBox="0 0 400 190" role="img" aria-label="The two sides of the proof"></svg>' : ""}
<div class="row"><button id="back" type="button" aria-label="One round back">&#8249;</button>
<input id="round" type="range" min="0" aria-label="Round shown"><button id="forward" type="button" aria-label="One round forward">&#8250;</button></div>
<p class="faint">Continue this game: <code>novikoff arena '${safe(link)}'</code></p></div></main>
<section aria-label="Guarantees"><h2>Guarantees after the last round</h2><div id="promises"></div></section>
<script>${code}
const game = ${data};
const $ = (id) => document.getElementById(id), last = game.frames.length - 1;
$("round").max = $("round").value = last;
function show() {
  const t = Number($("round").value), field = game.frames.slice(0, t + 1).map((one) => one.field).filter(Boolean).pop();
  scene($("scene"), game.game, game.frames, t, { field, best: t === last ? game.best : null }, null);
  curve($("curve"), game.frames, t, game.curve, game.apriori);
  $("said").textContent = describe(game.game, game.frames, t);
  $("back").disabled = t === 0; $("forward").disabled = t === last;
}
for (const [id, step] of [["back", -1], ["forward", 1]]) $(id).addEventListener("click", () => { $("round").value = Number($("round").value) + step; show(); });
$("round").addEventListener("input", show);
show();
if ($("chain")) chain($("chain"), game.proof);
cards($("promises"), game.certificates, null);
</script></body></html>`;
}
