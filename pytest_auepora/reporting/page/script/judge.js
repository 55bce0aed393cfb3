/* What a person says of an answer goes to the file that `auepora calibrate` reads. */
const judgement = (data, row, one, judge) => {
  const parts = (one.judged || []).filter(([metric]) => metric === judge.metric);
  const list = make("p", { class: "people" });
  const showLabels = (labels) => list.replaceChildren(...(Object.keys(labels).length
    ? Object.entries(labels).map(([person, good]) => make("span", { class: "chip" }, mark(good, good ? "good: " : "not good: "), ` ${person}`))
    : [make("span", { class: "muted" }, "Nobody has said anything yet.")]));
  showLabels(judge.labels);
  const person = make("input", { id: `person-${judge.metric}`, value: remember("auepora-person") || "", autocomplete: "name", class: "person" });
  const failure = make("p", { class: "worse", role: "alert" });
  const verdict = make("div", { class: "side" }, make("h3", null, `${judge.metric}: `, judge.value),
    parts.length ? make("dl", { class: "judged" }, parts.map(([, part, text]) => [make("dt", { class: part ? null : "unseen" }, part || "Reason"), make("dd", { class: "prose", dir: "auto" }, text)]))
      : make("p", { class: "muted" }, "No reason is stored."));
  const putLabel = async (good) => {
    if (!person.value.trim()) { person.focus(); return announce("Type your name first: a label needs one."); }
    remember("auepora-person", person.value.trim());
    try {
      showLabels(await write({ run: data.run.id, case: row.id, metric: judge.metric, person: person.value, label: good }));
      announce(good === null ? "Taken back." : `Written to ${judge.file}.`);
      failure.textContent = "";
      verdict.hidden = false;
    } catch (error) {
      failure.textContent = error.message;
    }
  };
  const hideVerdict = () => { verdict.hidden = remember("auepora-blind") === "yes" && !(person.value.trim() in judge.labels); };
  hideVerdict();
  const button = (good, text) => make("button", { type: "button", class: "quiet", "data-label": String(good), on: { click: () => putLabel(good) } }, text);
  return make("div", { class: "sides judgement" },
    verdict,
    make("div", { class: "side" }, make("h3", null, "People"), list,
      one.now.answer ? [
        make("p", { class: "field" }, make("label", { for: person.id }, "Your name"), person),
        make("p", { class: "say" }, button(true, "✓ Good"), " ", button(false, "✗ Not good"), " ", button(null, "Take back")),
        make("p", null, make("label", null, make("input", { type: "checkbox", checked: remember("auepora-blind") === "yes",
          on: { change: (event) => { remember("auepora-blind", event.target.checked ? "yes" : "no"); hideVerdict(); } } }), " Hide the judge until I have said something")),
        make("p", { class: "muted note" }, `Is this answer good, by what ${judge.metric} stands for? Labels go to ${judge.file}, for `, make("code", null, `auepora calibrate ${judge.file} --metric ${judge.metric}`), "."),
      ] : make("p", { class: "muted" }, "There is no answer to label."),
      failure));
};
const write = async (body) => {
  const { token } = await ask("/api/start");
  const reply = await fetch("/api/label", { method: "POST", headers: { "content-type": "application/json", "x-auepora-token": token }, body: JSON.stringify(body) });
  const data = (reply.headers.get("content-type") || "").includes("json") ? await reply.json() : { error: await reply.text() };
  if (!reply.ok) throw new Failed(data.error);
  return data.labels;
};
