/* What opening a case shows; its headings are below that of its table. */
let level = 2;
const block = (title, kind, ...inside) =>
  make("div", { class: `block ${kind}` }, make("p", { class: "title", role: "heading", "aria-level": level + 1 }, title), ...inside);
const subtitle = (title) => make("p", { class: "subtitle", role: "heading", "aria-level": level + 2 }, title);
const prose = (text, kind) => make("p", { class: `prose ${kind || ""}`, dir: "auto" }, text);

const details = (one, above) => {
  level = above;
  return make("div", { class: "details" },
    lead(one),
    block("Query", "query", prose(one.query || "(empty)")),
    one.error ? block(one.kind === "skipped" ? "Skipped" : "Error", "trace", make("pre", { tabindex: "0" }, one.error)) : null,
    make("div", { class: "two" }, ranking(one), answer(one)),
    rationale(one),
    scores(one),
    facts(one));
};

const lead = (one) => [
  one.why ? make("p", { class: "diagnosis" }, one.why) : null,
  one.problems ? make("ul", { class: "problems" }, one.problems.map((p) => make("li", null, mark(false, "failed: "), " ", p))) : null,
  one.advice ? make("ul", { class: "muted" }, one.advice.map((p) => make("li", null, `advisory, does not count: ${p}`))) : null,
];

/* Ranked documents, each relevant one with its rank in the baseline, then those that were not returned. */
const ranking = (one) => {
  const docs = one.docs || [];
  const hits = one.hits || [];
  if (!docs.length && !hits.length && !one.returned) return null;
  const before = new Map(((one.before || {}).ids || []).map((id, i) => [id, i + 1]));
  const body = make("tbody");
  const limit = Object.entries(one.cuts || {})[0];
  let last = 0;
  for (const hit of hits) {
    if (limit && last && last <= +limit[0] && hit[0] > +limit[0]) body.append(border(limit));
    if (hit[0] > last + 1) body.append(make("tr", { class: "gap" }, make("td", { colspan: 4 }, "…")));
    body.append(hitRow(hit, docs.filter((doc) => doc[2] === hit[0]), before));
    last = hit[0];
  }
  for (const doc of docs.filter((doc) => doc[2] === null && one.kind !== "errored")) body.append(missedRow(doc));
  const left = one.returned - last;
  return block("Ranked documents", "ranking",
    hits.length ? null : make("p", { class: "worse" }, one.kind === "errored" ? "Nothing came back." : "Nothing was returned."),
    body.children.length
      ? make("table", null,
        make("caption", { class: "unseen" }, "Documents in the order they were returned; relevant ones are marked"),
        make("thead", null, make("tr", null, ["Rank", "Document", "Score", "Before"].map((t) =>
          make("th", { scope: "col", class: t === "Document" ? null : "number" }, t)))),
        body)
      : null,
    before.size && hits.length ? make("p", { class: "muted note" }, "Before: the rank in the baseline of what is relevant, in the previous run of the rest") : null,
    left > 0 && hits.length ? make("p", { class: "muted" }, `… ${left} more, none of them relevant`) : null,
    one.kind === "errored" && docs.length ? prose(`expected: ${docs.map((d) => d[0]).join(", ")}`, "muted") : null);
};
const border = ([k, name]) => make("tr", { class: "gap" }, make("td", { colspan: 4 }, `${name} looks no further than ${k}`));
const hitRow = ([rank, id, score, grade, text, source], docs, before) => {
  const relevant = grade > 0 || docs.length > 0;
  return make("tr", { class: relevant ? "hit" : null },
    make("td", { class: "number" }, rank),
    make("td", null,
      relevant ? [mark(true, "relevant: "), " "] : null,
      make("bdi", { class: "id" }, id),
      source ? make("span", { class: "chip" }, source) : null,
      grade > 1 ? make("span", { class: "chip" }, `grade ${grade}`) : null,
      text ? make("span", { class: "snippet", dir: "auto" }, text) : null),
    make("td", { class: "number muted" }, score),
    make("td", { class: "number" }, moved(rank, docs, before.size ? before.get(id) || null : undefined)));
};
/* Where a document was: by the baseline for what is relevant, by the previous run for the others. */
const moved = (rank, docs, earlier) => {
  const known = docs.filter((doc) => doc[4]);
  const was = known.length ? known[0][3] : earlier;
  if (was === undefined) return "";
  if (was === null) return make("span", { class: known.length ? "better" : "muted" }, "new");
  if (was === rank) return make("span", { class: "muted" }, `${was}`, unseen(", the same"));
  const better = was > rank;
  return make("span", { class: known.length ? turn(better ? 1 : -1) : "muted" },
    make("span", { "aria-hidden": "true" }, better ? "↑ " : "↓ "), unseen(better ? "up from " : "down from "), `${was}`);
};
const missedRow = ([label, grade, , was, known]) =>
  make("tr", { class: "missed" },
    make("td", { class: "number" }, "–"),
    make("td", null, mark(false, "not returned: "), " ", make("bdi", { class: "id" }, label),
      grade > 1 ? make("span", { class: "chip" }, `grade ${grade}`) : null,
      make("span", { class: "snippet" }, "relevant, not returned")),
    make("td"),
    make("td", { class: "number worse" }, was ? `was ${was}` : known ? "again" : ""));

/* The answer, what it should have been, and the difference to the answer of the run before, or else to the reference. */
const answer = (one) => {
  const wanted = one.expected || {};
  const references = wanted.references || [];
  if (one.answer === undefined && !references.length && !wanted.expect) return null;
  const earlier = (one.before || {}).answer;
  const against = earlier !== undefined && earlier !== one.answer ? [PREVIOUS, earlier]
    : references.length ? ["the reference", references[0]] : null;
  const given = one.answer || "";
  return block("Answer", "answer",
    one.answer === undefined ? null : prose(given.trim() ? given : "(empty)", given.trim() ? "given" : "given worse"),
    wanted.expect ? make("p", null, `Expected: a ${wanted.expect === "refuse" ? "refusal" : wanted.expect === "clarify" ? "question back" : wanted.expect}`) : null,
    references.map((text, i) => [subtitle(i ? "or" : "Reference"), prose(text, "reference")]).flat(),
    phrases("Must contain", wanted.must_contain, "found: ", "missing: "),
    phrases("Forbidden", wanted.forbidden, "absent: ", "present: "),
    given.trim() && against ? changes(...against, given) : null,
    earlier !== undefined && earlier === one.answer ? make("p", { class: "muted" }, "The same answer as in the previous run.") : null);
};
const PREVIOUS = "the previous run";
const LEAST_ALIKE = 0.4; // below it a difference is harder to read than both texts
const phrases = (title, listed, good, bad) => listed
  ? [subtitle(title), make("ul", { class: "phrases" }, listed.map(([text, holds]) =>
    make("li", null, mark(holds, holds ? good : bad), " ", make("bdi", null, text))))]
  : [];
const changes = (name, before, now) => {
  if (!before.trim() || before === now) return [];
  const pieces = difference(before, now);
  if (!pieces || alike(pieces) < LEAST_ALIKE)
    return name === PREVIOUS ? [subtitle(`Answer of ${name}`), prose(before, "earlier")] : [];
  return [subtitle(`Difference to ${name}`),
    make("p", { class: "prose diff", dir: "auto" }, pieces.map(([sign, words]) =>
      sign === "-" ? [make("del", null, words), " "] : sign === "+" ? [make("ins", null, words), " "] : [words, " "]).flat())];
};

const rationale = (one) => one.judged
  ? block("What the judge says", "judged", make("dl", null, one.judged.map(([metric, part, text]) =>
    [make("dt", null, part ? `${metric}: ${part}` : metric), make("dd", { class: "prose", dir: "auto" }, text)]).flat()))
  : null;

const scores = (one) => {
  if (!one.scores) return null;
  const bounded = one.scores.some((score) => score[5]);
  const compares = one.scores.some((score) => score[2]);
  return block("Scores", "scores", make("table", null,
    make("caption", { class: "unseen" }, "Scores of this case with its own thresholds"),
    make("thead", null, make("tr", null,
      make("th", { scope: "col" }, "Metric"), make("th", { scope: "col", class: "number" }, "Value"),
      compares ? [make("th", { scope: "col", class: "number" }, "Baseline"), make("th", { scope: "col", class: "number" }, "Change")] : null,
      bounded ? make("th", { scope: "col" }, "Threshold") : null, make("th", { scope: "col", class: "wide" }, "Note"))),
    make("tbody", null, one.scores.map(([name, value, before, change, sign, bounds, holds, note]) =>
      make("tr", null,
        make("th", { scope: "row" }, breaks(name)), make("td", { class: "number" }, value),
        compares ? [make("td", { class: "number muted" }, before), make("td", { class: `number ${turn(sign) || ""}` }, change)] : null,
        bounded ? make("td", { class: "bound" }, bounds ? [holds === null ? null : mark(holds, holds ? "holds: " : "does not hold: "), " ", bounds] : null) : null,
        make("td", { class: "wide muted", dir: "auto" }, note))))));
};
/* Where the name of a metric may break. */
const breaks = (name) => name.split(/(?<=[_,=])|(?=[{@])/).map((piece, i) => [i ? make("wbr") : null, piece]);

const facts = (one) => {
  const said = [
    ["place", one.where], ["owner", one.owner], ["tags", (one.tags || []).join(", ")],
    ...Object.entries(one.labels || {}), ...(one.facts || []),
  ].filter(([, text]) => text);
  return said.length
    ? make("dl", { class: "facts" }, said.map(([name, text]) => make("div", null, make("dt", null, name), make("dd", null, text))))
    : null;
};
