/* One case: why, both rankings, both answers, every repeat, the scores of judges and the labels of people. */
const caseView = async (query) => {
  const data = await runOf(query);
  if (!data.known.has(query.case)) await casesOf(data, query);
  const row = data.known.get(query.case);
  if (!row) throw new Failed(`There is no case ${query.case} in this run.`);
  const one = await detailsOf(query, row);
  const before = one.earlier || "";
  return [
    compareBar(data, query),
    stepsOf(data, query),
    make("section", { class: "card case-head", "aria-labelledby": "case-title" },
      make("h1", { id: "case-title", tabindex: "-1", "data-first": true }, row.id), make("p", null, states(row)),
      lead(row, one),
      conversation(data, row),
      one.turns ? folded(`${one.turns.length} ${one.turns.length === 1 ? "turn" : "turns"} before the question`, "turns", false, one.turns.map(([who, text]) => [subtitle(who), prose(text)])) : null,
      make("p", { class: "asked", dir: "auto" }, row.query || "(empty)"),
      one.error ? make("div", { class: "trace" }, make("h2", null, row.kind === "skipped" ? "Skipped" : "Error"), make("pre", { tabindex: "0" }, one.error)) : null),
    rankings(row, one, before),
    answers(one, before),
    (one.judges || []).length ? card("What the judge says, and you", "judges", one.judges.map((judge) => judgement(data, row, one, judge))) : judged(one),
    repeats(one, before),
    scores(one, data.against ? "Earlier" : "Baseline"),
    facts(row, one),
  ];
};

/* To the cases beside this one in the table; they follow where the rows of all cases are still to come. */
const stepsOf = (data, query) => {
  const steps = make("nav", { class: "steps", "aria-label": "Cases" }, link({ case: "" }, { class: "quiet button" }, "↑ All cases"));
  const fill = () => {
    const rows = listed(data, query);
    const place = rows.findIndex((row) => row.id === query.case);
    if (place < 0) return;
    const [previous, next] = [rows[place - 1], rows[place + 1]];
    if (previous) steps.append(link({ case: previous.id }, { class: "quiet button", rel: "prev" }, "← Previous"));
    if (next) steps.append(link({ case: next.id }, { class: "quiet button", rel: "next" }, "Next →"));
    steps.append(make("span", { class: "muted" }, `${(place + 1).toLocaleString("en")} of ${rows.length.toLocaleString("en")}`));
  };
  if (data.cases) fill();
  else casesOf(data, query).then(fill, () => {});
  return steps;
};

const lead = (row, one) => [
  row.why ? make("p", { class: "diagnosis", dir: "auto" }, row.why) : null,
  one.cause ? make("div", { class: "cause" }, make("p", { dir: "auto" }, make("strong", null, "Why: "), one.cause[0]),
    one.cause.length > 1 ? make("dl", { class: "before-now" }, make("dt", null, "with the accepted documents"), make("dd", { dir: "auto" }, one.cause[1] || "(empty)")) : null) : null,
  one.problems ? make("ul", { class: "problems" }, one.problems.map((text) => make("li", null, mark(false, "failed: "), " ", text))) : null,
  one.evidence ? make("ul", { class: "muted" }, one.evidence.map((text) => make("li", null, text))) : null,
  one.still ? make("ul", { class: "muted" }, one.still.map((text) => make("li", null, "still failing: ", text))) : null,
  row.said ? make("ul", null, row.said.map((text) => make("li", null, text))) : null,
  one.advice ? make("ul", { class: "muted" }, one.advice.map((text) => make("li", null, text))) : null,
  row.notComparable ? make("p", { class: "muted" }, `Not comparable: ${row.notComparable}`) : null,
];
/* The other turns of its conversation, in the order of the golden file. */
const conversation = (data, row) => {
  const name = (row.labels || {}).conversation;
  const turns = name ? data.cases.filter((other) => (other.labels || {}).conversation === name) : [];
  return turns.length < 2 ? null : make("nav", { class: "conversation", "aria-label": "Conversation" }, subtitle(`Conversation ${name}`),
    make("ol", null, turns.map((turn) => make("li", null,
      turn === row ? make("b", { "aria-current": "page" }, turn.id) : link({ case: turn.id }, {}, turn.id), " ", states(turn)))));
};
const subtitle = (title) => make("h3", { class: "subtitle" }, title);
const prose = (text, kind) => make("p", { class: `prose ${kind || ""}`, dir: "auto" }, text);
const sides = (...both) => {
  const there = both.filter(Boolean);
  return make("div", { class: there.length > 1 ? "sides" : null }, there);
};
const side = (title, kind, ...inside) => make("div", { class: `side ${kind}` }, make("h3", null, title), ...inside);

/* Both rankings side by side, each document with how far it moved; then those that were not returned. */
const rankings = (row, one, before) => {
  const docs = one.docs || [];
  const nothing = (ranking) => !ranking || !(ranking.hits || []).length;
  const forbidden = (one.expected || {}).forbidden_docs || [];
  if (!docs.length && !forbidden.length && nothing(one.now) && nothing(one.then)) return null;
  const missing = docs.filter((doc) => doc[2] === null && one.now.state !== "error");
  const ofBaseline = docs.some((doc) => doc[4]);
  const list = (ranking, old) => [
    ranking.hits.length ? make("ol", { class: "hits" }, ranking.hits.map((hit, i) => [
      one.cut && i && ranking.hits[i - 1].rank <= one.cut[0] && hit.rank > one.cut[0] ? make("li", { class: "border" }, `${one.cut[1]} looks no further than ${one.cut[0]}`) : null,
      hitItem(hit, docs, old)])) : make("p", { class: "worse" }, ranking.state === "error" ? "Nothing came back." : "Nothing was returned."),
    ranking.returned > ranking.hits.length ? make("p", { class: "muted" }, `… ${ranking.returned - ranking.hits.length} more, none of them relevant`) : null,
  ];
  return card("Ranked documents", "rankings",
    sides(one.then ? side(`Before: ${before}`, "old", list(one.then, true)) : null,
      side("This run", "new", list(one.now, false), missing.length ? make("ul", { class: "hits" }, missing.map(missedItem)) : null)),
    ofBaseline && one.now.hits.length ? make("p", { class: "muted note" }, "Relevant documents move from their rank in what they are compared with.") : null,
    forbidden.length ? [subtitle("Forbidden documents"), one.leaks
      ? make("ul", { class: "problems" }, one.leaks.map((name) => make("li", null, mark(false, "returned: "), " ", make("bdi", null, name), " was returned")))
      : one.now.state === "error" ? null : make("p", null, mark(true, "holds: "), " none was returned"),
    make("p", { class: "muted" }, `not to be returned: ${forbidden.join(", ")}`)] : null,
    one.now.state === "error" && docs.length ? make("p", { class: "muted" }, `expected: ${docs.map((doc) => doc[0]).join(", ")}`) : null);
};
const missedItem = ([label, grade, , was, known]) => make("li", { class: "missed" }, make("span", { class: "rank" }, "–"),
  make("div", null, mark(false, "not returned: "), " ", make("bdi", { class: "id" }, label),
    make("span", { class: "chip" }, was ? `not returned, was at rank ${was}` : known ? "not returned, nor before" : "relevant, not returned"),
    grade > 1 ? make("span", { class: "chip" }, `grade ${grade}`) : null));
const hitItem = (hit, docs, old) => {
  const known = old ? [] : docs.filter((doc) => doc[2] === hit.rank && doc[4]);
  const relevant = hit.grade > 0 || known.length > 0;
  return make("li", { class: relevant ? "hit" : null },
    make("span", { class: "rank" }, hit.rank),
    make("div", null,
      make("p", null, relevant ? [mark(true, "relevant: "), " "] : null, make("bdi", { class: "id" }, hit.source || hit.id),
        hit.source ? make("span", { class: "chip" }, hit.id) : null,
        hit.grade > 1 ? make("span", { class: "chip" }, `grade ${hit.grade}`) : null,
        moveOf(known.length ? { ...hit, was: known[0][3] } : hit, relevant, old),
        hit.score ? make("span", { class: "muted score" }, hit.score) : null),
      hit.text.some(([text]) => text) ? make("p", { class: relevant ? "passage" : "passage short", dir: "auto", tabindex: relevant ? "0" : null },
        hit.text.map(([text, quoted]) => (quoted ? make("mark", null, text) : text))) : null));
};
const moveOf = (hit, relevant, old) => {
  if (hit.was === 0) return null;
  const tone = relevant ? (better) => turn(better ? 1 : -1) : () => "muted";
  if (hit.was === null) return make("span", { class: `move ${tone(!old)}` }, old ? "gone now" : "new");
  const rise = old ? hit.rank - hit.was : hit.was - hit.rank;
  if (!rise) return make("span", { class: "move muted" }, "=", unseen(" same rank"));
  return make("span", { class: `move ${tone(rise > 0)}` }, make("span", { "aria-hidden": "true" }, rise > 0 ? `↑${rise}` : `↓${-rise}`),
    unseen(`${rise > 0 ? "up" : "down"} ${Math.abs(rise)}, to ${old ? hit.was : hit.rank}`));
};

/* The answer, the one before, what it should have been, and the difference to the one before, or to the reference. */
const LEAST_ALIKE = 0.4; // below it a difference is harder to read than both texts
const answers = (one, before) => {
  const expected = one.expected || {};
  const references = expected.references || [];
  const given = (of) => (of && of.answer !== null && of.answer !== undefined ? of.answer : null);
  const [now, then] = [given(one.now), given(one.then)];
  if (now === null && then === null && !references.length && !expected.expect) return null;
  const same = now !== null && then === now;
  const text = (answer) => (answer === null ? make("p", { class: "muted" }, "no answer is stored") : prose(answer.trim() ? answer : "(empty)", answer.trim() ? "given" : "given worse"));
  return card("Answer", "answers",
    sides(then !== null && !same ? side(`Before: ${before}`, "old", text(then)) : null, side("This run", "new", text(now))),
    same ? make("p", { class: "muted" }, `The same answer as in ${before}.`) : null,
    now && now.trim() && then && !same ? changes("Difference to the answer before", then, now)
      : now && now.trim() && references.length ? changes("Difference to the reference", references[0], now) : null,
    expected.expect ? make("p", null, `Expected: a ${{ refuse: "refusal", clarify: "question back" }[expected.expect] || expected.expect}`) : null,
    references.map((reference, i) => [subtitle(i ? "or" : "Reference"), prose(reference, "reference")]),
    phrases("Must contain", expected.must_contain, "found: ", "missing: "), phrases("Forbidden", expected.forbidden, "absent: ", "present: "));
};
const phrases = (title, all, good, bad) => all
  ? [subtitle(title), make("ul", { class: "phrases" }, all.map(([text, holds]) => make("li", null, mark(holds, holds ? good : bad), " ", make("bdi", null, text))))]
  : null;
const changes = (title, before, now) => {
  if (!before.trim() || before === now) return null;
  const pieces = difference(before, now);
  if (!pieces || alike(pieces) < LEAST_ALIKE) return null;
  return [subtitle(title), make("p", { class: "prose diff", dir: "auto" }, pieces.map(([sign, words]) =>
    (sign === "-" ? [make("del", null, words), " "] : sign === "+" ? [make("ins", null, words), " "] : [words, " "])))];
};

const judged = (one) => (one.judged ? card("What the judge says", "judged", make("dl", null, one.judged.map(([metric, part, text]) =>
  [make("dt", null, part ? `${metric}: ${part}` : metric), make("dd", { class: "prose", dir: "auto" }, text)]))) : null);

const repeats = (one, before) => {
  const values = one.repeats || [];
  const texts = one.answers || [];
  if (!values.length && texts.length < 2) return null;
  const line = (title, cells) => ((cells || []).length ? make("tr", null, make("th", { scope: "row" }, breaks(title)), cells.map((text) => make("td", { class: "number" }, text))) : null);
  const most = Math.max(1, ...values.flatMap((value) => [value.now.length, (value.then || []).length]));
  return card("Every answer", "repeats",
    values.length ? make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Values of each answer" }, make("table", null,
      make("caption", { class: "unseen" }, "The value of each metric at each answer"),
      make("thead", null, make("tr", null, make("th", { scope: "col" }, "Metric"), Array.from({ length: most }, (_, i) => make("th", { scope: "col", class: "number" }, i + 1)))),
      make("tbody", null, values.flatMap((value) => [line(value.metric, value.now), line(`${value.metric}, before`, value.then)])))) : null,
    texts.length > 1 ? make("ol", { class: "answers-list" }, texts.map((answer, i) => make("li", null, make("h3", null, `Answer ${i + 1}`),
      sides(answer.then === null ? null : make("div", { class: "side old" }, make("h4", null, before), prose(answer.then || "(empty)")),
        answer.now === null ? null : make("div", { class: "side new" }, make("h4", null, "This run"), prose(answer.now || "(empty)")))))) : null);
};

const scores = (one, earlier) => {
  if (!one.scores) return null;
  const bounded = one.scores.some((score) => score[5]);
  const compares = one.scores.some((score) => score[2]);
  return card("Scores", "scores", make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of scores" }, make("table", null,
    make("caption", { class: "unseen" }, "Scores of this case with its own thresholds"),
    make("thead", null, make("tr", null,
      make("th", { scope: "col" }, "Metric"), make("th", { scope: "col", class: "number" }, "Value"),
      compares ? [make("th", { scope: "col", class: "number" }, earlier), make("th", { scope: "col", class: "number" }, "Change")] : null,
      bounded ? make("th", { scope: "col" }, "Threshold") : null, make("th", { scope: "col" }, "Note"))),
    make("tbody", null, one.scores.map(([name, value, before, change, sign, bounds, holds, note]) => make("tr", null,
      make("th", { scope: "row" }, breaks(name)), make("td", { class: "number" }, value),
      compares ? [make("td", { class: "number muted" }, before), make("td", { class: `number ${turn(sign) || ""}` }, change)] : null,
      bounded ? make("td", { class: "bound" }, bounds ? [holds === null ? null : mark(holds, holds ? "holds: " : "does not hold: "), " ", bounds] : null) : null,
      make("td", { class: "muted", dir: "auto" }, note)))))));
};

const facts = (row, one) => {
  const said = [["place", one.where], ["owner", one.owner], ["tags", (row.tags || []).join(", ")],
    ...Object.entries(row.labels || {}), ...(one.facts || [])].filter(([, text]) => text);
  return said.length ? make("section", { class: "card", "aria-label": "Facts" }, make("dl", { class: "facts" },
    said.map(([name, text]) => make("div", null, make("dt", null, name), make("dd", null, text))))) : null;
};
