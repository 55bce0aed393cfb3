/* One case: why, both rankings, both answers, every repeat, the scores of judges and the labels of people. */
const caseView = async (query) => {
  const [overview, caseData] = await Promise.all([overviewOf(query), ask("/api/case", { ...compared(query), ...listed(query), case: query.case })]);
  level = 2;
  const before = overview.other ? `the run of ${day(overview.other.started)}` : "";
  return [
    compareBar(overview, query),
    make("nav", { class: "steps", "aria-label": "Cases" },
      link({ case: "" }, { class: "quiet button" }, "↑ All cases"),
      caseData.previous ? link({ case: caseData.previous }, { class: "quiet button", rel: "prev" }, "← Previous") : null,
      caseData.next ? link({ case: caseData.next }, { class: "quiet button", rel: "next" }, "Next →") : null,
      caseData.place ? make("span", { class: "muted" }, `${caseData.place.toLocaleString("en")} of ${caseData.of.toLocaleString("en")}`) : null),
    make("section", { class: "card case-head", "aria-labelledby": "case-title" },
      make("h1", { id: "case-title", tabindex: "-1", "data-first": true }, caseData.id), make("p", null, stateOf(caseData)),
      make("p", { class: "asked", dir: "auto" }, caseData.query || "(empty)"),
      lead(caseData), caseData.not_comparable ? make("p", { class: "muted" }, `Not comparable: ${caseData.not_comparable}`) : null,
      caseData.error ? block(caseData.kind === "skipped" ? "Skipped" : "Error", "trace", make("pre", { tabindex: "0" }, caseData.error)) : null),
    card("Ranked documents", "rankings", rankings(caseData, overview, before)),
    card("Answer", "answers", answers(caseData, before)),
    caseData.judges.length ? card("What the judge says, and you", "judges", caseData.judges.map((judge) => judgement(caseData, judge, overview))) : null,
    caseData.repeats ? card("Every repeat", "repeats", repeats(caseData, before)) : null,
    make("section", { class: "card details", "aria-label": "Scores and facts" }, scores(caseData), facts(caseData)),
  ];
};

/* Both rankings side by side, each document with how far it moved. */
const rankings = (caseData, overview, before) => {
  const missing = (caseData.docs || []).filter((doc) => doc[2] === null && caseData.kind !== "errored");
  const sides = [caseData.then ? [`Before: ${before}`, caseData.then, true] : null, ["This run", caseData.now, false]].filter(Boolean);
  return [
    overview.byBaseline && caseData.then ? make("p", { class: "muted" }, "A baseline keeps ranks and no texts: beside this run stands the run before it.") : null,
    make("div", { class: sides.length > 1 ? "sides" : null }, sides.map(([title, side, old]) => make("div", { class: `side ${old ? "old" : "new"}` },
      make("h3", null, title),
      side.hits.length ? make("ol", { class: "hits" }, side.hits.map((hit) => hitItem(hit, caseData, old)))
        : make("p", { class: "worse" }, side.state === "error" ? "Nothing came back." : "Nothing was returned."),
      side.returned > side.hits.length ? make("p", { class: "muted" }, `… ${side.returned - side.hits.length} more, none of them relevant`) : null,
      old || !missing.length ? null : make("ul", { class: "hits" }, missing.map(([label, grade, , was]) =>
        make("li", { class: "missed" }, make("span", { class: "rank" }, "–"), make("div", null, mark(false, "not returned: "), " ", make("bdi", { class: "id" }, label),
          make("span", { class: "chip" }, was ? `was at rank ${was}` : "relevant, not returned"), grade > 1 ? make("span", { class: "chip" }, `grade ${grade}`) : null))))))),
    Object.entries(caseData.cuts || {}).map(([k, name]) => make("p", { class: "muted note" }, `${name} looks no further than ${k}.`)),
  ];
};
const hitItem = (hit, caseData, old) => make("li", { class: hit.grade > 0 ? "hit" : null },
  make("span", { class: "rank" }, hit.rank),
  make("div", null,
    make("p", null, hit.grade > 0 ? [mark(true, "relevant: "), " "] : null, make("bdi", { class: "id" }, hit.source || hit.id),
      hit.source ? make("span", { class: "chip" }, hit.id) : null,
      hit.grade > 1 ? make("span", { class: "chip" }, `grade ${hit.grade}`) : null, moveOf(hit, old),
      hit.score ? make("span", { class: "muted score" }, hit.score) : null),
    hit.text.some(([text]) => text) ? make("p", { class: hit.grade > 0 ? "passage" : "passage short", dir: "auto" },
      hit.text.map(([text, quoted]) => (quoted ? make("mark", null, text) : text))) : null));
const moveOf = (hit, old) => {
  if (hit.was === 0) return null;
  const tone = hit.grade > 0 ? (better) => turn(better ? 1 : -1) : () => "muted";
  if (hit.was === null) return make("span", { class: `move ${tone(!old)}` }, old ? "gone now" : "new");
  const rise = old ? hit.rank - hit.was : hit.was - hit.rank;
  if (!rise) return make("span", { class: "move muted" }, "=", unseen(" same rank"));
  return make("span", { class: `move ${tone(rise > 0)}` }, make("span", { "aria-hidden": "true" }, rise > 0 ? `↑${rise}` : `↓${-rise}`),
    unseen(`${rise > 0 ? "up" : "down"} ${Math.abs(rise)}, to ${old ? hit.was : hit.rank}`));
};

const answers = (caseData, before) => {
  const expected = caseData.expected || {};
  const text = (side) => (side.answer === null ? make("p", { class: "muted" }, "no answer is stored") : prose(side.answer.trim() ? side.answer : "(empty)", side.answer.trim() ? "given" : "given worse"));
  const same = caseData.then && caseData.then.answer !== null && caseData.then.answer === caseData.now.answer;
  return [
    same ? make("p", { class: "muted" }, `The same answer as in ${before}.`) : null,
    make("div", { class: caseData.then && !same ? "sides" : null },
      caseData.then && !same ? make("div", { class: "side old" }, make("h3", null, `Before: ${before}`), text(caseData.then)) : null,
      make("div", { class: "side new" }, make("h3", null, "This run"), text(caseData.now))),
    caseData.then && !same && caseData.then.answer && caseData.now.answer ? changes("the answer before", caseData.then.answer, caseData.now.answer) : null,
    expected.expect ? make("p", null, `Expected: a ${{ refuse: "refusal", clarify: "question back" }[expected.expect] || expected.expect}`) : null,
    (expected.references || []).map((reference, i) => [subtitle(i ? "or" : "Reference"), prose(reference, "reference")]).flat(),
    phrases("Must contain", expected.must_contain, "found: ", "missing: "), phrases("Forbidden", expected.forbidden, "absent: ", "present: "),
  ];
};

const repeats = (caseData, before) => {
  const repeated = caseData.repeats;
  const row = (title, values) => (values.length ? make("tr", null, make("th", { scope: "row" }, title), values.map((v) => make("td", { class: "number" }, v))) : null);
  const most = Math.max(1, ...repeated.values.flatMap((v) => [v.now.length, v.then.length]));
  return [
    repeated.varies ? make("p", null, repeated.varies) : null,
    repeated.values.length ? make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Values of each repeat" }, make("table", null,
      make("caption", { class: "unseen" }, "The value of each metric at each repeat"),
      make("thead", null, make("tr", null, make("th", { scope: "col" }, "Metric"), Array.from({ length: most }, (_, i) => make("th", { scope: "col", class: "number" }, i + 1)))),
      make("tbody", null, repeated.values.flatMap((v) => [row(v.metric, v.now), row(`${v.metric}, before`, v.then)])))) : null,
    repeated.answers.length > 1 ? make("ol", { class: "answers-list" }, repeated.answers.map((answer, i) => make("li", null,
      make("h3", null, `Answer ${i + 1}`), make("div", { class: "sides" },
        answer.then === null ? null : make("div", { class: "side old" }, make("h4", null, before), prose(answer.then || "(empty)")),
        answer.now === null ? null : make("div", { class: "side new" }, make("h4", null, "This run"), prose(answer.now || "(empty)")))))) : null,
  ];
};

/* What a person says goes to the file that `auepora calibrate` reads. */
const judgement = (caseData, judge, overview) => {
  const judgedParts = (caseData.judged || []).filter(([metric]) => metric === judge.metric);
  const list = make("p", { class: "people" });
  const showLabels = (labels) => list.replaceChildren(...(Object.keys(labels).length
    ? Object.entries(labels).map(([person, label]) => make("span", { class: "chip" }, mark(label, label ? "good: " : "not good: "), ` ${person}`))
    : [make("span", { class: "muted" }, "Nobody has said anything yet.")]));
  showLabels(judge.labels);
  const person = make("input", { id: `person-${judge.metric}`, value: remember("auepora-person") || "", autocomplete: "name", class: "person" });
  const putLabel = async (label) => {
    if (!person.value.trim()) { person.focus(); return announce("Type your name first: a label needs one."); }
    remember("auepora-person", person.value.trim());
    try {
      showLabels(await write({ run: overview.run.id, case: caseData.id, metric: judge.metric, person: person.value, label }));
      announce(label === null ? "Taken back." : `Written to ${judge.file}.`);
      failure.textContent = "";
      verdict.hidden = false;
    } catch (error) {
      failure.textContent = error.message;
    }
  };
  const verdict = make("div", { class: "side" }, make("h3", null, `${judge.metric}: `, judge.value),
    judgedParts.length ? make("dl", { class: "judged" }, judgedParts.map(([, part, text]) => [make("dt", { class: part ? null : "unseen" }, part || "Reason"), make("dd", { class: "prose", dir: "auto" }, text)]))
      : make("p", { class: "muted" }, "No reason is stored."));
  const hideVerdict = () => { verdict.hidden = remember("auepora-blind") === "yes" && !(person.value.trim() in judge.labels); };
  hideVerdict();
  const failure = make("p", { class: "worse", role: "alert" });
  const button = (label, text) => make("button", { type: "button", class: "quiet", "data-label": String(label), on: { click: () => putLabel(label) } }, text);
  return make("div", { class: "sides judgement" },
    verdict,
    make("div", { class: "side" }, make("h3", null, "People"), list,
      caseData.now.answer ? [
        make("p", { class: "field" }, make("label", { for: person.id }, "Your name"), person),
        make("p", { class: "say" }, button(true, "✓ Good"), " ", button(false, "✗ Not good"), " ", button(null, "Take back")),
        make("p", null, make("label", null, make("input", { type: "checkbox", checked: remember("auepora-blind") === "yes",
          on: { change: (event) => { remember("auepora-blind", event.target.checked ? "yes" : "no"); hideVerdict(); } } }), " Hide the judge until I have said something")),
        make("p", { class: "muted note" }, `Is this answer good, by what ${judge.metric} stands for? Labels go to ${judge.file}, for `, make("code", null, `auepora calibrate ${judge.file} --metric ${judge.metric}`), "."),
      ] : make("p", { class: "muted" }, "There is no answer to label."),
      failure));
};
const write = async (label) => {
  const { token } = await ask("/api/start");
  const reply = await fetch("/api/label", { method: "POST", headers: { "content-type": "application/json", "x-auepora-token": token }, body: JSON.stringify(label) });
  const data = (reply.headers.get("content-type") || "").includes("json") ? await reply.json() : { error: await reply.text() };
  if (!reply.ok) throw new Failed(data.error);
  return data.labels;
};
