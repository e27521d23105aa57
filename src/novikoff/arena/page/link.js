// A link has the whole state: game, moves, the round shown, what is hidden, and the step of a lesson. Numbers have two
// base-36 digits.

const two = (value) => value.toString(36).padStart(2, "0");

export function link(script, limits, shown, { hide, plain, lesson }) {
  const options = Object.entries(script.options).map(([name, value]) => `${name}:${value}`).join(",");
  const moves = script.moves.map((move) => (move === "a" ? "A" : move[0].map((value, i) => two(value - limits[i][0])).join("") + move[1])).join("");
  const more = (hide ? "&hide=answers" : "") + (plain ? "&plain=1" : "") + (lesson ? `&lesson=${lesson}` : "");
  return `#v=1&g=${script.game}&o=${options}&s=${script.seed}&r=${script.rival}&m=${moves}&t=${shown}${more}`;
}

export function unlink(hash, games) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const lesson = given.get("lesson") || "", plain = given.has("plain");
  if (!given.has("g")) return lesson ? { lesson, plain } : null;
  const game = games.find((one) => one.name === given.get("g"));
  if (!game) throw new Error(`a game must be one of ${games.map((one) => one.name).join(", ")}: the link has another.`);
  const options = {};
  for (const part of (given.get("o") || "").split(",").filter(Boolean)) {
    const [name, value] = part.split(":");
    options[name] = Number(value);
  }
  const made = { v: Number(given.get("v")), game: game.name, options, seed: Number(given.get("s") || 0), rival: given.get("r") || "me", moves: [] };
  return { made, text: given.get("m") || "", t: Number(given.get("t") || 0), hide: given.get("hide") === "answers", plain, lesson };
}

export function movesOf(text, limits) {
  const moves = [], width = 2 * limits.length;
  for (let at = 0; at < text.length;) {
    if (text[at] === "A") { moves.push("a"); at += 1; continue; }
    const place = limits.map(([least], i) => parseInt(text.slice(at + 2 * i, at + 2 * i + 2), 36) + least);
    moves.push([place, text[at + width]]);
    at += width + 1;
  }
  return moves;
}
