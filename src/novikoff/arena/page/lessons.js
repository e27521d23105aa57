// Lessons, one for each lecture of `novikoff notes`: steps of a text and the link of a game.

const A = (rounds) => "A".repeat(rounds);

export const LESSONS = {
  "mistake-bounds": { title: "Mistake bounds", steps: [
    { link: "#v=1&g=thresholds&o=n:100&s=0&r=me&m=&t=0", text: "A round: the learner sees x, predicts a label, sees the true label y, and learns. Click anywhere on the line. Your answer is the opposite of the prediction, as long as some threshold agrees with all of your answers." },
    { link: `#v=1&g=thresholds&o=n:100&s=0&r=builtin&m=${A(7)}&t=0`, text: "This rival asks in the middle of the thresholds that are left. Press \u203a: Halving predicts with the majority, so a mistake removes at least half of them. From 102 thresholds that happens at most 6 times." },
    { link: `#v=1&g=thresholds&o=n:100&s=0&r=builtin&m=${A(7)}&t=7`, text: "Seven rounds, six mistakes: the guarantee and the rival meet. No learner could do better against this rival, and Halving never does worse." },
    { link: `#v=1&g=race&o=n:100&s=0&r=builtin&m=${A(40)}&t=40`, text: "Consistent follows the first threshold that is left, and may be wrong each time: here 40 mistakes. Halving sees the same rounds and asks all thresholds that are left." },
    { link: `#v=1&g=perceptron&o=bias:0&s=0&r=builtin&m=${A(12)}&t=12`, text: "With real numbers there is always room between two points. This rival forces a mistake in every round, yet all its answers agree with one line: without an assumption, no learner can promise anything." },
    { link: `#v=1&g=perceptron&o=bias:0&s=10&r=target&m=${A(40)}&t=40`, text: "A margin helps. If a line separates the labels, with every point at a distance of at least \u03b3 from it and of at most R from the origin, the Perceptron makes at most (R/\u03b3)\u00b2 mistakes. The picture of the proof has the two sides of Novikoff's argument, on this very game." },
    { link: "#v=1&g=thresholds&o=n:30&s=1&r=target&m=AAAAAAAAAA&t=0&hide=answers", text: "Your turn to guess. A hidden threshold gives the labels: press \u203a, read the prediction, and say whether the answer is +1 or \u22121 before you look." },
  ] },
  "finite-classes": { title: "Finite classes: papayas, thresholds, ellipsoids", steps: [
    { link: "#v=1&g=boxes&o=m:21&s=0&r=me&m=&t=0", text: "A papaya is tasty if its colour and its softness lie in a box. All boxes of the grid vote, and a box that errs is removed. Click a cell: blue is the share of the vote for +1." },
    { link: `#v=1&g=boxes&o=m:21&s=23&r=target&m=${A(20)}&t=20`, text: "Twenty papayas of a hidden box. Only boxes around all tasty ones and without the others are left; the guarantee, log\u2082 of the number of all boxes, was known before the first round." },
    { link: `#v=1&g=halfspaces&o=&s=9&r=target&m=${A(20)}&t=20`, text: "A line through the origin has one of infinitely many directions, but finitely many cover the circle. Halving over such a cover needs a margin: a direction of the cover must be close enough to the target." },
    { link: `#v=1&g=ellipsoid&o=&s=0&r=builtin&m=${A(12)}&t=12`, text: "The Ellipsoid learner keeps an ellipse that contains every possible target (the inset, enlarged). Each mistake cuts it through its centre, and the new ellipse is smaller by a fixed factor: few cuts fit above the volume of the targets." },
  ] },
  "perceptron": { title: "Perceptron, kernels and memory budgets", steps: [
    { link: "#v=1&g=perceptron&o=bias:0&s=0&r=me&m=&t=0", text: "The Perceptron adds yx to its weights at each mistake and does nothing otherwise. Click a point and watch the line turn." },
    { link: `#v=1&g=perceptron&o=bias:1&s=0&r=data&m=${A(40)}&t=40`, text: "Two species of iris that no line separates. The guarantee compares with every line u: it is small for a short u with few rows wrong or nearly wrong (its hinge loss). The green line is the best u that was found." },
    { link: `#v=1&g=kernel&o=gamma:6,budget:0&s=0&r=target&m=${A(60)}&t=60`, text: "A ring is no half-plane. With a kernel the Perceptron stores the examples it got wrong (squares) and predicts with a bump around each." },
    { link: `#v=1&g=kernel&o=gamma:6,budget:10&s=0&r=target&m=${A(60)}&t=60`, text: "The same stream with memory for ten examples: the Forgetron shrinks all bumps, then forgets the oldest. Its guarantee needs a target that small bumps can follow." },
  ] },
  "covers": { title: "Margins and covers", steps: [
    { link: `#v=1&g=perceptron&o=bias:0&s=10&r=target&m=${A(40)}&t=40`, text: "The margin of a line that separates the labels is the smallest distance of a point to it. The dotted green lines bound the strip without points around the best separator." },
    { link: `#v=1&g=halfspaces&o=&s=5&r=target&m=${A(20)}&t=20`, text: "With margin \u03b3, every direction close to the target is right on all points. So a cover of the circle contains a perfect hypothesis, and Halving over the cover makes at most log\u2082 of its size mistakes." },
    { link: `#v=1&g=ellipsoid&o=&s=10&r=target&m=${A(40)}&t=40`, text: "The Ellipsoid uses the margin too, and needs no list of directions: it is efficient in many dimensions. Compare the numbers of mistakes." },
  ] },
  "experts": { title: "Expert advice and regret", steps: [
    { link: "#v=1&g=experts&o=experts:4&s=0&r=me&m=&t=0", text: "Four experts; click the one that loses in this round. The learner follows each with its weight, and a loss makes a weight smaller." },
    { link: `#v=1&g=experts&o=experts:4&s=0&r=target&m=${A(60)}&t=60`, text: "Each expert loses with a probability of its own. The weights move to the best one; regret is the learner's loss minus the best expert's." },
    { link: `#v=1&g=experts&o=experts:4&s=0&r=builtin&m=${A(60)}&t=60`, text: "This rival always makes the heaviest expert lose. The learner's loss grows like a quarter of the rounds, but so does that of the best expert: the regret stays below \u221a(T ln N)." },
    { link: `#v=1&g=intervals&o=cover:80&s=0&r=target&m=${A(90)}&t=90`, text: "The same spirit for prediction intervals: a threshold that rises after each miss and falls after each hit has the wanted coverage in the long run, on every series, even one that changes its shape." },
    { link: `#v=1&g=intervals&o=cover:80&s=0&r=builtin&m=${A(60)}&t=60`, text: "This rival goes just outside of each interval. The intervals grow until it cannot, so that no more than the guaranteed number of values escape." },
  ] },
};
