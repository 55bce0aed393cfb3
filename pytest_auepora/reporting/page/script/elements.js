/* Elements are made of names and texts alone: what a user or a system wrote never meets a parser of markup. */
const make = (tag, given, ...inside) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const part of inside.flat(Infinity)) if (part !== null && part !== undefined && part !== "") element.append(part);
  return element;
};
/* A sentence comes in parts; one that is code, as a list of it alone. */
const sentence = (parts) => parts.map((part) => (Array.isArray(part) ? make("code", null, part[0]) : part));
const unseen = (text) => make("span", { class: "unseen" }, text);
const mark = (good, word) =>
  make("span", { class: good ? "mark is-passed" : "mark is-failed" },
    make("span", { "aria-hidden": "true" }, good ? "✓" : "✗"), unseen(word));
const plural = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
const turn = (sign) => (sign < 0 ? "worse" : sign > 0 ? "better" : null);

/* Drawn by attributes: no style is ever written into an element. */
const draw = (tag, attributes, ...inside) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) if (value !== null && value !== undefined) element.setAttribute(name, value);
  for (const part of inside.flat(Infinity)) if (part !== null && part !== undefined) element.append(part);
  return element;
};

/* What became of a case; one that passes with the worst score there is does not look well. */
const GOOD = new Set(["fixed", "unchanged", "passed", "new"]);
const QUIET = new Set(["skipped", "edited", "expected to fail", "still failing"]);
const BESIDE = ["lost", "varies", "suspect", "flaky"];
const states = (one) => {
  const words = one.is || [];
  const lowest = GOOD.has(one.kind) && (one.cells || []).some((cell) => cell[3]);
  const tone = GOOD.has(one.kind) ? (lowest || words.includes("lost") ? "" : "good") : QUIET.has(one.kind) && !words.includes("failed") ? "" : "bad";
  return [make("span", { class: `state ${tone}` }, one.kind),
    lowest ? make("span", { class: "state bad" }, "worst score") : null,
    BESIDE.filter((word) => words.includes(word)).map((word) => make("span", { class: `state ${word === "lost" ? "bad" : ""}` }, word)),
    words.includes("incomparable") && one.kind !== "edited" ? make("span", { class: "state" }, "not comparable") : null];
};
/* Where the name of a metric may break, and nowhere else. */
const breaks = (name) => name.split(/(?<=[_,=])|(?=[{@])/).map((piece, i) => [i ? make("wbr") : null, piece]);

/* The words of two texts as [sign, words]: "-" only before, "+" only after, "" in both.  Longest common subsequence. */
const MOST_WORDS = 1500;
const difference = (before, after) => {
  const old = before.split(/\s+/).filter(Boolean);
  const now = after.split(/\s+/).filter(Boolean);
  if (old.length > MOST_WORDS || now.length > MOST_WORDS) return null;
  const wide = now.length + 1;
  const length = new Uint16Array((old.length + 1) * wide);
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      length[i * wide + j] = old[i] === now[j]
        ? length[(i + 1) * wide + j + 1] + 1
        : Math.max(length[(i + 1) * wide + j], length[i * wide + j + 1]);
  const out = [];
  const add = (sign, word) => {
    const last = out[out.length - 1];
    if (last && last[0] === sign) last[1] += ` ${word}`;
    else out.push([sign, word]);
  };
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) { add("", old[i]); i++; j++; }
    else if (j === now.length || (i < old.length && length[(i + 1) * wide + j] >= length[i * wide + j + 1])) add("-", old[i++]);
    else add("+", now[j++]);
  }
  return out;
};
const alike = (pieces) => {
  const count = (sign) => pieces.filter((piece) => piece[0] === sign).reduce((n, piece) => n + piece[1].split(" ").length, 0);
  const both = 2 * count("");
  return both / (both + count("-") + count("+") || 1);
};
