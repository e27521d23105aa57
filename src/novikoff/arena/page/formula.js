// Formulas of theorems in MathML, once with letters and once with the numbers of the game.

const MATH = "http://www.w3.org/1998/Math/MathML";
const NAMES = { alpha: "\u03b1", beta: "\u03b2", gamma: "\u03b3", delta: "\u03b4", eta: "\u03b7", kappa: "\u03ba", pi: "\u03c0" };
const FUNCTIONS = ["ln", "log2"];
const HINGE = { text: "D + a^2/2 + a sqrt(D + a^2/4)", values: ({ hinge, R, norm }) => ({ D: hinge, a: R * norm }), where: "D: hinge loss of u, a = R \u2016u\u2016" };
const SQUARED = { text: "(a + sqrt(S))^2", values: ({ squared_hinge, R, norm }) => ({ S: squared_hinge, a: R * norm }), where: "S: squared hinge loss of u, a = R \u2016u\u2016" };
const MARGIN = { text: "(R/gamma)^2", values: ({ R, margin }) => ({ R, gamma: margin }), where: "R: longest x, \u03b3: margin of the best separator" };
const LENGTHS = { text: "L + s^2/(4 kappa)", values: ({ hinge, norm, kappa }) => ({ L: hinge, s: norm, kappa }), where: "L: hinge loss of u with targets 1 + \u03ba\u2016x\u2016\u00b2, s = \u2016u\u2016" };

// By theorem: the right side of its inequality, its letters from the quantities of the certificate, and what they mean.
// `left` is what is bounded; `also` names a sharper number of the certificate, where the bound is not the formula's value.
const FORMULAS = {
  perceptron_hinge: HINGE, kernel_hinge: HINGE, rbp_no_eviction: HINGE, perceptron_squared_hinge: SQUARED, kernel_squared_hinge: SQUARED,
  perceptron_margin: MARGIN, kernel_margin: MARGIN, perceptron_lengths: LENGTHS, kernel_lengths: LENGTHS,
  halving_mistakes: { text: "log2(H/V)", values: ({ hypotheses, survivors }) => ({ H: hypotheses, V: survivors }), where: "H hypotheses at first, V left now" },
  consistent_mistakes: { text: "H - V", values: ({ hypotheses, survivors }) => ({ H: hypotheses, V: survivors }), where: "H hypotheses at first, V left now" },
  weighted_majority_mistakes: { text: "(m ln(1/beta) + ln N)/ln(2/(1 + beta))", values: ({ best_mistakes, beta, hypotheses }) => ({ m: best_mistakes, beta, N: hypotheses }), where: "m: mistakes of the best expert", also: "with the weights of this game" },
  anytime_regret: { left: "regret", text: "sqrt(T ln N)", values: ({ experts, default_rate }) => ({ N: experts, T: default_rate ** 2 / Math.log(experts) }), where: "T rounds, N experts", also: "with the rates of this game" },
  tsallis_pathwise: { left: "loss", text: "E + S", values: ({ least_estimate, spent }) => ({ E: least_estimate, S: spent }), where: "E: smallest estimated loss of an arm, S: what exploring cost" },
  ix_pathwise: { left: "loss", text: "E + (ln K)/eta + S", values: ({ least_estimate, spent, arms, eta }) => ({ E: least_estimate, K: arms, eta, S: spent }), where: "E: smallest estimated loss of an arm, S: what exploring cost" },
  specialists_regret: { left: "loss", text: "F + ln 2", values: ({ steady_loss }) => ({ F: steady_loss }), where: "F: log loss of the copy that plays from the first round" },
  tree_pruning: { left: "loss", text: "C + r + P", values: ({ constants, regret, price }) => ({ C: constants, r: regret, P: price }), where: "C: constants in the leaves of the best pruning, r: learning them, P = ln 2 for each of its nodes that was split" },
  coverage_deviation: { left: "deviation", text: "(1 + s)/(s T)", values: ({ step, rounds_counted }) => ({ s: step, T: rounds_counted }), where: "s: step of the threshold, T rounds" },
};

const tokens = (text) => text.match(/\d+(?:\.\d+)?|[A-Za-z]\w*|[-+*/^(),]/g);

// Parse once: a tree of { kind, parts }, which is both shown and evaluated.
export function parse(text) {
  const left = tokens(text), next = () => left[0], take = () => left.shift();
  const sum = () => {
    const parts = [product()];
    while (next() === "+" || next() === "-") parts.push(take(), product());
    return { kind: "sum", parts };
  };
  const product = () => { // neighbours are multiplied; a fraction has one factor above and one below
    let found = power();
    for (;;) {
      if (next() === "/") { take(); found = { kind: "fraction", parts: [found, power()] }; }
      else if (next() !== undefined && !"+-),".includes(next())) found = { kind: "product", parts: [found, fraction(power())] };
      else return found;
    }
  };
  const fraction = (found) => { if (next() !== "/") return found; take(); return { kind: "fraction", parts: [found, power()] }; };
  const power = () => { const base = atom(); if (next() !== "^") return base; take(); return { kind: "power", parts: [base, atom()] }; };
  const atom = () => {
    const one = take();
    if (one === "(") { const inner = sum(); take(); return { kind: "group", parts: [inner] }; }
    if (one === "sqrt") { take(); const inner = sum(); take(); return { kind: "root", parts: [inner] }; }
    if (FUNCTIONS.includes(one)) return { kind: "call", name: one, parts: [atom()] };
    return /\d/.test(one[0]) ? { kind: "number", value: Number(one) } : { kind: "letter", name: one };
  };
  return sum();
}

export function evaluate(tree, values) {
  const at = (k) => evaluate(tree.parts[k], values);
  switch (tree.kind) {
    case "sum": return tree.parts.reduce((total, part, k) => (k % 2 ? total : k === 0 ? at(0) : total + (tree.parts[k - 1] === "-" ? -1 : 1) * at(k)), 0);
    case "product": return at(0) * at(1);
    case "fraction": return at(0) / at(1);
    case "power": return at(0) ** at(1);
    case "group": return at(0);
    case "root": return Math.sqrt(at(0));
    case "call": return tree.name === "ln" ? Math.log(at(0)) : Math.log2(at(0));
    case "number": return tree.value;
    default: return values[tree.name];
  }
}

function element(name, ...inner) {
  const made = document.createElementNS(MATH, name);
  made.append(...inner);
  return made;
}

const brief = (value) => (Number.isInteger(value) ? value.toLocaleString("en") : Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en") : Number(value.toPrecision(3)).toString());

function shown(tree, values) { // with letters if there are no values
  const at = (k) => shown(tree.parts[k], values), bare = (k) => (tree.parts[k].kind === "group" ? shown(tree.parts[k].parts[0], values) : at(k));
  switch (tree.kind) {
    case "sum": return element("mrow", ...tree.parts.map((part, k) => (k % 2 ? element("mo", part === "-" ? "\u2212" : "+") : at(k))));
    case "product": return element("mrow", at(0), ...(values && tree.parts[1].kind !== "root" && tree.parts[1].kind !== "call" ? [element("mo", "\u00b7")] : []), at(1));
    case "fraction": return element("mfrac", bare(0), bare(1));
    case "power": return element("msup", at(0), at(1));
    case "group": return element("mrow", element("mo", "("), at(0), element("mo", ")"));
    case "root": return element("msqrt", at(0));
    case "call": return element("mrow", tree.name === "ln" ? element("mi", "ln") : element("msub", element("mi", "log"), element("mn", "2")), element("mo", "\u2061"), at(0));
    case "number": return element("mn", String(tree.value));
    default: return values ? element("mn", brief(values[tree.name])) : element("mi", NAMES[tree.name] || tree.name);
  }
}

// The formula of a certificate as a paragraph; null where the theorem has none here, or a number is missing.
export function formula(one) {
  const found = Object.hasOwn(FORMULAS, one.theorem) ? FORMULAS[one.theorem] : null;
  if (!found) return null;
  const values = found.values(one.quantities), tree = parse(found.text);
  if (Object.values(values).some((value) => typeof value !== "number" || !Number.isFinite(value))) return null;
  const value = evaluate(tree, values), made = document.createElement("p"), note = document.createElement("span");
  if (!Number.isFinite(value)) return null;
  const left = found.left ? element("mtext", found.left) : element("mi", "M");
  const letters = element("math", element("mrow", left, element("mo", "\u2264"), shown(tree, null))); // two: a phone puts one below the other
  const numbers = element("math", element("mrow", element("mo", "="), shown(tree, values), element("mo", "="), element("mn", brief(Math.round(value * 100) / 100))));
  numbers.setAttribute("data-value", String(value));
  note.className = "faint"; note.textContent = found.where + (found.also ? `; ${found.also}: ${brief(Math.round(one.bound * 100) / 100)}` : "");
  made.className = "formula";
  made.append(letters, numbers, note);
  return made;
}
