/* One case: why, both rankings, both answers, every repeat, the judge beside people. */
const caseView = async (from) => {
  const [told, one] = await Promise.all([overviewOf(from), ask("/api/case", { ...compared(from), ...listed(from), case: from.case })]);
  level = 2;
  const before = told.other ? `the run of ${day(told.other.started)}` : "";
  return [
    compareBar(told, from),
    make("nav", { class: "steps", "aria-label": "Cases" },
      link({ case: "" }, { class: "quiet button" }, "↑ All cases"),
      one.previous ? link({ case: one.previous }, { class: "quiet button", rel: "prev" }, "← Previous") : null,
      one.next ? link({ case: one.next }, { class: "quiet button", rel: "next" }, "Next →") : null,
      one.place ? make("span", { class: "muted" }, `${one.place.toLocaleString("en")} of ${one.of.toLocaleString("en")}`) : null),
    make("section", { class: "card case-head", "aria-labelledby": "case-title" },
      make("h1", { id: "case-title", tabindex: "-1", "data-first": true }, one.id), make("p", null, stateOf(one)),
      make("p", { class: "asked", dir: "auto" }, one.query || "(empty)"),
      lead(one), one.apart ? make("p", { class: "muted" }, `Not comparable: ${one.apart}`) : null,
      one.error ? block(one.kind === "skipped" ? "Skipped" : "Error", "trace", make("pre", { tabindex: "0" }, one.error)) : null),
    card("Ranked documents", "rankings", rankings(one, told, before)),
    card("Answer", "answers", answers(one, before)),
    one.judges.length ? card("What the judge says, and you", "judges", one.judges.map((judge) => judgement(one, judge, told))) : null,
    one.repeats ? card("Every repeat", "repeats", repeats(one, before)) : null,
    make("section", { class: "card details", "aria-label": "Scores and facts" }, scores(one), facts(one)),
  ];
};

/* Both rankings beside each other, each document with how far it moved. */
const rankings = (one, told, before) => {
  const missing = (one.docs || []).filter((doc) => doc[2] === null && one.kind !== "errored");
  const sides = [one.then ? [`Before: ${before}`, one.then, true] : null, ["This run", one.now, false]].filter(Boolean);
  return [
    told.byBaseline && one.then ? make("p", { class: "muted" }, "A baseline keeps ranks and no texts: beside this run stands the run before it.") : null,
    make("div", { class: sides.length > 1 ? "sides" : null }, sides.map(([title, side, old]) => make("div", { class: `side ${old ? "old" : "new"}` },
      make("h3", null, title),
      side.hits.length ? make("ol", { class: "hits" }, side.hits.map((hit) => hitItem(hit, one, old)))
        : make("p", { class: "worse" }, side.state === "error" ? "Nothing came back." : "Nothing was returned."),
      side.returned > side.hits.length ? make("p", { class: "muted" }, `… ${side.returned - side.hits.length} more, none of them relevant`) : null,
      old || !missing.length ? null : make("ul", { class: "hits" }, missing.map(([label, grade, , was]) =>
        make("li", { class: "missed" }, make("span", { class: "rank" }, "–"), make("div", null, mark(false, "not returned: "), " ", make("bdi", { class: "id" }, label),
          make("span", { class: "chip" }, was ? `was at rank ${was}` : "relevant, not returned"), grade > 1 ? make("span", { class: "chip" }, `grade ${grade}`) : null))))))),
    Object.entries(one.cuts || {}).map(([k, name]) => make("p", { class: "muted note" }, `${name} looks no further than ${k}.`)),
  ];
};
const hitItem = (hit, one, old) => make("li", { class: hit.grade > 0 ? "hit" : null },
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
  const by = old ? hit.rank - hit.was : hit.was - hit.rank;
  if (!by) return make("span", { class: "move muted" }, "=", unseen(" same rank"));
  return make("span", { class: `move ${tone(by > 0)}` }, make("span", { "aria-hidden": "true" }, by > 0 ? `↑${by}` : `↓${-by}`),
    unseen(`${by > 0 ? "up" : "down"} ${Math.abs(by)}, to ${old ? hit.was : hit.rank}`));
};

const answers = (one, before) => {
  const wanted = one.expected || {};
  const text = (side) => (side.answer === null ? make("p", { class: "muted" }, "no answer is stored") : prose(side.answer.trim() ? side.answer : "(empty)", side.answer.trim() ? "given" : "given worse"));
  const same = one.then && one.then.answer !== null && one.then.answer === one.now.answer;
  return [
    same ? make("p", { class: "muted" }, `The same answer as in ${before}.`) : null,
    make("div", { class: one.then && !same ? "sides" : null },
      one.then && !same ? make("div", { class: "side old" }, make("h3", null, `Before: ${before}`), text(one.then)) : null,
      make("div", { class: "side new" }, make("h3", null, "This run"), text(one.now))),
    one.then && !same && one.then.answer && one.now.answer ? changes("the answer before", one.then.answer, one.now.answer) : null,
    wanted.expect ? make("p", null, `Expected: a ${{ refuse: "refusal", clarify: "question back" }[wanted.expect] || wanted.expect}`) : null,
    (wanted.references || []).map((reference, i) => [subtitle(i ? "or" : "Reference"), prose(reference, "reference")]).flat(),
    phrases("Must contain", wanted.must_contain, "found: ", "missing: "), phrases("Forbidden", wanted.forbidden, "absent: ", "present: "),
  ];
};

const repeats = (one, before) => {
  const told = one.repeats;
  const row = (title, values) => (values.length ? make("tr", null, make("th", { scope: "row" }, title), values.map((v) => make("td", { class: "number" }, v))) : null);
  const most = Math.max(1, ...told.values.flatMap((v) => [v.now.length, v.then.length]));
  return [
    told.varies ? make("p", null, told.varies) : null,
    told.values.length ? make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Values of each repeat" }, make("table", null,
      make("caption", { class: "unseen" }, "The value of each metric at each repeat"),
      make("thead", null, make("tr", null, make("th", { scope: "col" }, "Metric"), Array.from({ length: most }, (_, i) => make("th", { scope: "col", class: "number" }, i + 1)))),
      make("tbody", null, told.values.flatMap((v) => [row(v.metric, v.now), row(`${v.metric}, before`, v.then)])))) : null,
    told.answers.length > 1 ? make("ol", { class: "answers-list" }, told.answers.map((answer, i) => make("li", null,
      make("h3", null, `Answer ${i + 1}`), make("div", { class: "sides" },
        answer.then === null ? null : make("div", { class: "side old" }, make("h4", null, before), prose(answer.then || "(empty)")),
        answer.now === null ? null : make("div", { class: "side new" }, make("h4", null, "This run"), prose(answer.now || "(empty)")))))) : null,
  ];
};

/* What a person says goes to the file that `auepora calibrate` reads. */
const judgement = (one, judge, told) => {
  const reasons_ = (one.judged || []).filter(([metric]) => metric === judge.metric);
  const list = make("p", { class: "people" });
  const fill = (labels) => list.replaceChildren(...(Object.keys(labels).length
    ? Object.entries(labels).map(([person, label]) => make("span", { class: "chip" }, mark(label, label ? "good: " : "not good: "), ` ${person}`))
    : [make("span", { class: "muted" }, "Nobody has said anything yet.")]));
  fill(judge.labels);
  const person = make("input", { id: `person-${judge.metric}`, value: remember("auepora-person") || "", autocomplete: "name", class: "person" });
  const say = async (label) => {
    if (!person.value.trim()) { person.focus(); return tell("Type your name first: a label needs one."); }
    remember("auepora-person", person.value.trim());
    try {
      fill(await write({ run: told.run.id, case: one.id, metric: judge.metric, person: person.value, label }));
      tell(label === null ? "Taken back." : `Written to ${judge.file}.`);
      wrong.textContent = "";
      verdict.hidden = false;
    } catch (error) {
      wrong.textContent = error.message;
    }
  };
  const verdict = make("div", { class: "side" }, make("h3", null, `${judge.metric}: `, judge.value),
    reasons_.length ? make("dl", { class: "judged" }, reasons_.map(([, part, text]) => [make("dt", { class: part ? null : "unseen" }, part || "Reason"), make("dd", { class: "prose", dir: "auto" }, text)]))
      : make("p", { class: "muted" }, "No reason is stored."));
  const hide = () => { verdict.hidden = remember("auepora-blind") === "yes" && !(person.value.trim() in judge.labels); };
  hide();
  const wrong = make("p", { class: "worse", role: "alert" });
  const button = (label, text) => make("button", { type: "button", class: "quiet", "data-label": String(label), on: { click: () => say(label) } }, text);
  return make("div", { class: "sides judgement" },
    verdict,
    make("div", { class: "side" }, make("h3", null, "People"), list,
      one.now.answer ? [
        make("p", { class: "field" }, make("label", { for: person.id }, "Your name"), person),
        make("p", { class: "say" }, button(true, "✓ Good"), " ", button(false, "✗ Not good"), " ", button(null, "Take back")),
        make("p", null, make("label", null, make("input", { type: "checkbox", checked: remember("auepora-blind") === "yes",
          on: { change: (event) => { remember("auepora-blind", event.target.checked ? "yes" : "no"); hide(); } } }), " Hide the judge until I have said something")),
        make("p", { class: "muted note" }, `Is this answer good, by what ${judge.metric} stands for? Labels go to ${judge.file}, for `, make("code", null, `auepora calibrate ${judge.file} --metric ${judge.metric}`), "."),
      ] : make("p", { class: "muted" }, "There is no answer to label."),
      wrong));
};
const write = async (given) => {
  const { token } = await ask("/api/start");
  const reply = await fetch("/api/label", { method: "POST", headers: { "content-type": "application/json", "x-auepora-token": token }, body: JSON.stringify(given) });
  const told = (reply.headers.get("content-type") || "").includes("json") ? await reply.json() : { error: await reply.text() };
  if (!reply.ok) throw new Failed(told.error);
  return told.labels;
};
