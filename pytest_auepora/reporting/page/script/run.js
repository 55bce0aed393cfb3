/* One run: what came of it and why, the worst cases, all cases; below them the numbers, pictures and gates. */
const runView = async (query) => {
  const data = await runOf(query);
  const { worst } = data;
  const [slices] = await Promise.all([query.by ? slicesOf(data, query, query.by) : null, narrows(query) ? casesOf(data, query) : null]);
  return [
    compareBar(data, query),
    verdictOf(data),
    make("div", { class: worst.length ? "front" : "front alone" },
      worst.length ? worstCard(data, worst, data.worstDetails) : null,
      metricsCard(data, query, slices)),
    new CaseTable(data, query).element,
    make("div", { class: "pictures" }, plotsCard(data, query), historyCard(data)),
    reasonsCard(data),
  ];
};

const compareBar = (data, query) => {
  if (!live) return alone ? null : make("p", { class: "crumbs" }, make("a", { href: "#" }, "All suites"), " / ", make("span", null, data.title));
  const choices = data.runs.some((run) => run.id === data.run.id) ? data.runs : [data.run, ...data.runs];
  const several = new Set(choices.map((run) => run.title)).size > 1;
  const name = (run) => `${several ? `${run.title} · ` : ""}${run.name ? `${run.name} · ` : ""}${day(run.started)} · ${run.failed ? `${run.failed} failed` : run.outcome}${run.complete ? "" : ", partial"}`;
  const select = (id, title, chosen, options, key) => make("div", { class: "field" }, make("label", { for: id }, title),
    make("select", { id, on: { change: (event) => go({ [key]: event.target.value, case: query.case || "" }, { keep: true }) } },
      options.map(([value, text]) => make("option", { value, selected: value === chosen }, text))));
  return make("div", { class: "compare-bar" },
    make("p", { class: "crumbs" }, make("a", { href: "#" }, "All runs"), " / ", make("span", null, data.title)),
    make("div", { class: "fields" },
      select("run-select", "Run", data.run.id, choices.map((run) => [run.id, name(run)]), "run"),
      select("against-select", "against", query.against || "",
        [["", "its baseline, as judged then"], ...choices.filter((run) => run.id !== data.run.id).map((run) => [run.id, name(run)])], "against"),
      query.against ? make("button", { type: "button", class: "quiet", id: "exchange",
        on: { click: () => go({ run: query.against, against: data.run.id }, { keep: true }) } }, "⇄ Exchange") : null,
      make("a", { class: "quiet button", id: "export", href: `/export?${new URLSearchParams(Object.entries(compared(query)).filter(([, value]) => value))}`, download: "" }, "Save as one file")));
};

const verdictOf = (data) => make("section", { class: `verdict is-${data.outcome.replace(" ", "-")}`, "aria-labelledby": "verdict-title" },
  make("span", { class: "seal", "aria-hidden": "true" }, data.mark),
  make("div", null,
    make("h1", { id: "verdict-title" }, make("span", { class: "word" }, data.word), unseen(":"), " ", make("span", { class: "name" }, data.title)),
    make("p", { class: "headline" }, data.headline),
    make("p", { class: "beside" }, [
      data.against || (data.compared ? "against its baseline" : data.baseline || "there was no baseline"),
      data.run && data.run.name, data.run && `${day(data.run.started)} UTC`, data.run && data.run.commit && `commit ${data.run.commit}`,
      data.owner && `owner ${data.owner}`, data.path, data.size,
    ].filter(Boolean).join(" · ")),
    data.run && data.run.note ? make("p", { class: "beside", dir: "auto" }, data.run.note) : null,
    data.changed.length ? make("p", { class: "changed" }, make("strong", null, "Changed: "), data.changed.join("; ")) : null,
    causeOf(data),
    data.steps.map((step) => make("p", { class: "step" }, "→ ", sentence(step)))));

/* Which part of the system a run got worse by: of each metric the change, and what generator and retrieval add to it. */
const causeOf = (data) => {
  const [first, ...lines] = data.cause;
  if (!first) return null;
  const hasInterval = data.effects.some(([, , parts]) => parts.some(([, , interval]) => interval));
  return make("div", { class: "cause" }, make("p", null, make("strong", null, sentence(first))),
    data.effects.length ? make("table", { class: "effects" },
      make("caption", { class: "hint" }, `Mean change in the cases that were asked${hasInterval ? ", with 95 % intervals" : ""}`),
      make("thead", null, make("tr", null, make("th", { scope: "col" }, "Metric"), make("th", { scope: "col" }, "Change"),
        data.effects[0][2].map(([part]) => make("th", { scope: "col" }, `by ${part}`)))),
      make("tbody", null, data.effects.map(([name, change, parts]) => make("tr", null, make("th", { scope: "row" }, name), make("td", { "data-label": "Change" }, change),
        parts.map(([part, value, interval]) => make("td", { "data-label": `by ${part}` }, value, interval ? [" ", make("span", { class: "interval" }, interval)] : null)))))) : null,
    lines.map((line) => make("p", { dir: "auto" }, sentence(line))));
};

/* The cases to look at first: why, what was asked, the answer before and now, the scores. */
const worstCard = (data, rows, details) => {
  const left = (data.counts.failed || data.counts.lost || 0) - rows.length;
  return card(rows.every((row) => row.kind === "still failing") ? "Still failing" : "Worst cases", "worst", make("ol", null, rows.map((row, i) => make("li", null,
    make("p", { class: "worst-head" }, link({ case: row.id }, { class: "worst-id" }, row.id), " ", states(row)),
    make("p", { class: "why", dir: "auto" }, row.why || "scored lower"),
    make("p", { class: "asked", dir: "auto" }, row.query || "(empty)"),
    beforeAndNow(row, details[i]),
    scoreChips(data, row)))),
  left > 0 ? make("p", { class: "more" }, link({ show: data.counts.failed ? "failed" : "lost" }, {}, `All ${plural(left + rows.length, "case")} of this kind`)) : null);
};
const cropped = (text) => (text.length > 400 ? `${text.slice(0, 400)} …` : text);
const beforeAndNow = (row, one) => {
  if (one.error) return make("p", { class: "prose bad-text" }, one.error.split("\n")[0]);
  const now = row.answer || "";
  const before = one.then && one.then.answer !== null && one.then.answer !== undefined ? ["before", one.then.answer]
    : ((one.expected || {}).references || []).length ? ["reference", one.expected.references[0]] : null;
  if (row.answer === undefined && !before) return null;
  return make("dl", { class: "before-now" },
    before ? [make("dt", null, before[0]), make("dd", { dir: "auto" }, cropped(before[1]) || "(empty)")] : null,
    make("dt", null, "now"), make("dd", { dir: "auto", class: now.trim() ? null : "worse" }, now.trim() ? (before && before[1] === now ? "the same" : cropped(now)) : "(empty)"));
};
const scoreChips = (data, row) => {
  const chips = (row.cells || []).map((cell, i) => [data.columns[i], cell]).filter(([, cell]) => cell[1]);
  return chips.length ? make("p", { class: "scores-line" }, chips.map(([column, [, text, sign, , before]]) => make("span", { class: `score-chip ${turn(sign) || ""}` },
    breaks(column.name), " ", sign ? [make("span", { "aria-hidden": "true" }, sign < 0 ? "↓" : "↑"), unseen(sign < 0 ? "worse: " : "better: ")] : null,
    make("strong", null, text), sign && before !== null ? make("span", { class: "muted" }, ` was ${numberText(before, column.time)}`) : null))) : null;
};

const metricsCard = (data, query, slices) => {
  const reach = reachOf(data.metrics.map((metric) => metric.interval));
  const earlier = data.against ? "Earlier" : "Baseline";
  const labels = Object.keys(live ? data.slices : data.bySlice);
  return card("Metrics", "metrics", data.metrics.length ? make("table", null,
    make("caption", { class: "unseen" }, "Metrics with their gates and the change, with 95 % intervals"),
    make("thead", null, make("tr", null, make("th", { scope: "col" }, "Metric"), make("th", { scope: "col", class: "number" }, "Value"),
      data.compared ? [make("th", { scope: "col", class: "number" }, earlier), make("th", { scope: "col", class: "number narrow" }, "Change"), make("th", { scope: "col", class: "wide" }, "Change, 95 % interval")] : null,
      make("th", { scope: "col" }, "Gate"), make("th", { scope: "col", class: "number wide" }, "n"))),
    make("tbody", null, data.metrics.map((metric) => make("tr", { class: [metric.state, metric.mark].includes("failed") ? "bad" : null },
      make("th", { scope: "row" }, breaks(metric.name), metric.lower ? make("span", { class: "hint" }, " ↓", unseen("lower is better")) : null),
      make("td", { class: "number" }, metric.value),
      data.compared ? [make("td", { class: "number muted" }, metric.baseline),
        make("td", { class: `number narrow ${turn(metric.sign) || ""}` }, metric.change),
        metric.interval ? intervalCell(metric.interval, reach) : make("td", { class: `wide ${turn(metric.sign) || ""}` }, metric.change)] : null,
      make("td", { class: "gate" }, metric.gate ? [metric.state === "passed" || metric.state === "failed" ? mark(metric.state === "passed", `${metric.state}: `) : null, " ", make("span", { class: "whole" }, metric.gate)] : null),
      make("td", { class: "number wide muted" }, metric.n))))) : make("p", null, "No metric gave a value."),
  labels.length ? make("div", { class: "field by" }, make("label", { for: "by" }, "Each metric by"),
    make("select", { id: "by", on: { change: (event) => go({ by: event.target.value }, { keep: true }) } },
      make("option", { value: "" }, "all cases together"), labels.map((label) => make("option", { value: label, selected: query.by === label }, label)))) : null,
  slices ? slicesTable(slices, query, data) : null);
};
const slicesTable = (slices, query, data) => {
  const reach = reachOf(slices.map((slice) => slice.interval));
  const same = (i) => i && slices[i - 1].metric === slices[i].metric;
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Metrics by ${query.by}` },
    make("table", { class: "slices" }, make("caption", { class: "unseen" }, `Metrics by ${query.by}, with 95 % intervals of the change`),
      make("thead", null, make("tr", null, [["Metric"], [query.by], ["n", "number"], ["Value", "number"], data.compared ? ["Change, 95 % interval", "wide"] : null]
        .filter(Boolean).map(([text, kind]) => make("th", { scope: "col", class: kind }, text)))),
      make("tbody", null, slices.map((slice, i) => make("tr", { class: same(i) ? null : "starts" },
        make("th", { scope: "row" }, same(i) ? unseen(slice.metric) : breaks(slice.metric)),
        make("td", null, link(query.by === "tag" ? { tag: slice.slice } : { slice: JSON.stringify([query.by, slice.slice]) }, {}, slice.slice)),
        make("td", { class: "number muted" }, slice.n), make("td", { class: "number" }, slice.value),
        data.compared ? intervalCell(slice.interval, reach) : null)))));
};

/* What the gates say, folded below the cases; and what to know about the numbers. */
const reasonsCard = (data) => {
  const gone = Object.entries(data.gone).map(([old, now]) => [`in the baseline, no longer in the golden file: ${old}${now ? ` (now ${now}?)` : ""}`]);
  const notes = [...data.notes, ...gone];
  if (!data.gates.length && !notes.length) return null;
  main.addEventListener("printing", () => main.querySelectorAll(".reasons details").forEach((part) => { part.open = true; }), { once: true });
  return card("Why, in full", "reasons", data.gates.map((group) => folded(group.title, "gates", false,
    make("ul", null, group.gates.map((gate) => make("li", null,
      make("p", null, ["passed", "failed"].includes(group.state) ? [mark(group.state === "passed", `${group.state}: `), " "] : null,
        make("strong", null, gate.title), ": ", sentence(gate.brief), gate.extras.map((text) => make("span", { class: "muted" }, ` · ${text}`))),
      gate.reason.length ? make("p", { class: "muted" }, sentence(gate.reason)) : null))))),
  notes.length ? folded("Notes on these numbers", "numbers", false, make("ul", { class: "notes" }, notes.map((note) => make("li", null, sentence(note))))) : null);
};
