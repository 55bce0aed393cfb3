/* One run against its baseline or another run: the verdict with its reasons, metrics, history, cases. */
const runView = async (query, keep) => {
  const overview = await overviewOf(query);
  const [list, slices] = await Promise.all([
    ask("/api/cases", { ...compared(query), ...listed(query) }),
    query.by ? ask("/api/slices", { ...compared(query), label: query.by }) : null,
  ]);
  return [
    compareBar(overview, query),
    verdictOf(overview, query),
    reasons(overview, query),
    metricsCard(overview, query, slices),
    make("div", { class: "rest" }, historyCard(overview, query), casesCard(overview, list, query)),
  ];
};

const compareBar = (overview, query) => {
  const runs = overview.runs.some((run) => run.id === overview.run.id) ? overview.runs : [overview.run, ...overview.runs];
  const several = new Set(runs.map((run) => run.title)).size > 1;
  const name = (run) => `${several ? `${run.title} · ` : ""}${day(run.started)} · ${run.failed ? `${run.failed} failed` : run.outcome}${run.complete ? "" : ", partial"}${run.commit ? ` · ${run.commit}` : ""}`;
  const select = (id, title, chosen, options, key) => make("div", { class: "field" }, make("label", { for: id }, title),
    make("select", { id, on: { change: (event) => go({ [key]: event.target.value, page: "", case: query.case || "" }, { keep: true }) } },
      options.map(([value, text]) => make("option", { value, selected: value === chosen }, text))));
  const against = overview.byBaseline ? "" : overview.other.id;
  return make("div", { class: "compare-bar" },
    make("p", { class: "crumbs" }, make("a", { href: "/" }, "All runs"), " / ", make("span", null, overview.run.title)),
    make("div", { class: "fields" },
      select("run-select", "Run", overview.run.id, runs.map((run) => [run.id, name(run)]), "run"),
      select("against-select", "against", against,
        [["", "its baseline, as judged then"], ...runs.filter((run) => run.id !== overview.run.id).map((run) => [run.id, name(run)])], "against"),
      against ? make("button", { type: "button", class: "quiet", id: "exchange",
        on: { click: () => go({ run: overview.other.id, against: overview.run.id, page: "" }, { keep: true }) } }, "⇄ Exchange") : null,
      make("a", { class: "quiet button", id: "export", href: `/export?${new URLSearchParams(Object.entries(compared(query)).filter(([, v]) => v))}`, download: "" }, "Save as one file")));
};

const verdictOf = (overview, query) => make("section", { class: `verdict is-${overview.outcome.replace(" ", "-")}`, "aria-labelledby": "verdict-title" },
  make("span", { class: "seal", "aria-hidden": "true" }, overview.mark),
  make("div", null,
    make("h1", { id: "verdict-title" }, make("span", { class: "word" }, overview.word), unseen(":"), " ", overview.run.title),
    make("p", { class: "headline" }, overview.headline),
    make("p", { class: "beside" }, [
      overview.byBaseline ? (overview.compared ? "against its baseline" : overview.baselineNote || "there was no baseline") : `against the run of ${day(overview.other.started)}`,
      day(overview.run.started) + " UTC", overview.run.commit && `commit ${overview.run.commit}`, overview.owner && `owner ${overview.owner}`, overview.path,
    ].filter(Boolean).join(" · ")),
    overview.changed.length ? make("p", { class: "changed" }, make("strong", null, "Changed: "), overview.changed.join("; ")) : null,
    overview.steps.map((step) => make("p", { class: "step" }, "→ ", step.split("`").map((part, i) => (i % 2 ? make("code", null, part) : part))))));

const STATE_TEXTS = { failed: "did not hold", inconclusive: "could not be decided", advisory: "are advisory", passed: "held", "not judged": "were not judged" };
const reasons = (overview, query) => {
  const byState = Object.keys(STATE_TEXTS).map((name) => [name, overview.reasons.filter((gate) => gate.state === name)]).filter(([, gates]) => gates.length);
  const failed = byState.filter(([name]) => name === "failed").flatMap(([, gates]) => gates);
  const rest = byState.filter(([name]) => name !== "failed");
  return card("Why", "why",
    overview.failedCases ? make("p", { class: "first" }, mark(false, "failed: "), " ",
      link({ show: "failed", page: "" }, {}, `${plural(overview.failedCases, "case")} failed`), " by ", overview.failedCases === 1 ? "itself" : "themselves", ".") : null,
    !failed.length && !overview.failedCases ? make("p", { class: "first" }, overview.outcome === "passed" ? "Nothing failed." : "Nothing failed; see what could not be decided.") : null,
    failed.some((gate) => !gate.slice) ? make("ul", { class: "reasons" }, failed.filter((gate) => !gate.slice).map((gate) => reason(gate, query))) : null,
    folded(`${plural(failed.filter((gate) => gate.slice).length, "slice")} got worse as well`, failed.filter((gate) => gate.slice), query, false),
    rest.map(([name, gates]) => folded(`${plural(gates.length, "judgement")} ${gates.length === 1 ? STATE_TEXTS[name].replace("were", "was").replace("are ", "is ") : STATE_TEXTS[name]}`,
      gates, query, name === "inconclusive" && gates.length < 4)),
    overview.notes.length || Object.keys(overview.gone).length ? make("details", null, make("summary", null, "Notes on these numbers"),
      make("ul", { class: "notes" }, overview.notes.map((note) => make("li", null, note)),
        Object.entries(overview.gone).map(([old, now]) => make("li", null, `in the baseline, no longer in the golden file: ${old}${now ? ` (now ${now}?)` : ""}`)))) : null);
};
const folded = (title, gates, query, open) => (gates.length
  ? make("details", { open }, make("summary", null, title), make("ul", { class: "reasons" }, gates.map((gate) => reason(gate, query)))) : null);
const reason = (gate, query) => make("li", { class: `is-${gate.state.replace(" ", "-")}` },
  make("p", null, gate.state === "failed" ? [mark(false, "failed: "), " "] : null,
    gate.short.startsWith(gate.title) ? gate.short : [make("strong", null, gate.title), ": ", gate.short],
    gate.owner && gate.state === "failed" ? make("span", { class: "muted" }, ` · owner ${gate.owner}`) : null),
  gate.worst_cases.length && gate.state === "failed" ? make("p", { class: "costs" }, make("span", { class: "muted" }, "costs most: "),
    gate.worst_cases.slice(0, 4).map((id, i) => [i ? ", " : "", link({ case: id }, {}, id)]).flat()) : null,
  gate.why || gate.p || gate.mde ? make("details", { class: "arithmetic" }, make("summary", null, "The arithmetic", unseen(` of ${gate.title}`)),
    gate.why ? make("p", null, gate.why) : null,
    make("dl", { class: "facts" }, [
      ["p, taken alone", gate.p], ["minimum detectable drop (80 % power)", gate.mde],
      ["cases", gate.n ? `${gate.n} of ${gate.total}` : null], ["bound", gate.bound],
    ].filter(([, text]) => text).map(([name, text]) => make("div", null, make("dt", null, name), make("dd", null, text))))) : null);

/* A change with its 95 % interval, on one scale for all metrics; 0 is the line in the middle. */
const whisker = (interval, reach) => {
  const at = (value) => 60 + (Math.max(-reach, Math.min(reach, value)) / reach) * 56;
  const tone = { better: "better", worse: "worse" }[interval.standing] || "same";
  return draw("svg", { viewBox: "0 0 120 14", class: "whisker", "aria-hidden": "true", focusable: "false" },
    draw("line", { x1: 60, x2: 60, y1: 1, y2: 13, class: "s-line" }),
    interval.low === null ? null : draw("line", { x1: at(interval.low), x2: at(interval.high), y1: 7, y2: 7, class: `s-${tone} reach` }),
    draw("circle", { cx: at(interval.value), cy: 7, r: 3.4, class: `f-${tone}` }));
};
const reachOf = (intervals) => Math.max(0.01, ...intervals.filter((interval) => interval && !interval.time).flatMap((interval) => [interval.low, interval.high, interval.value].map((v) => Math.abs(v || 0))));
const intervalCell = (interval, reach) => make("td", { class: "interval wide" }, !interval ? null
  : interval.standing === "equal" ? make("span", { class: "muted" }, "no case differs")
  : [interval.time ? null : whisker(interval, reach), make("span", { class: { better: "better", worse: "worse" }[interval.standing] || "muted" }, interval.text)]);

const metricsCard = (overview, query, slices) => {
  const reach = reachOf(overview.metrics.map((metric) => metric.interval));
  const labels = [...(overview.tags.length ? ["tag"] : []), ...Object.keys(overview.labels)];
  const earlierTitle = overview.byBaseline ? "Baseline" : "Earlier";
  return card("Metrics", "metrics",
    make("table", null,
      make("caption", { class: "unseen" }, "Metrics with their gates and the change, with 95 % intervals"),
      make("thead", null, make("tr", null, make("th", { scope: "col" }, "Metric"), make("th", { scope: "col", class: "number" }, "Value"),
        overview.compared ? [make("th", { scope: "col", class: "number" }, earlierTitle), make("th", { scope: "col", class: "number narrow" }, "Change"), make("th", { scope: "col", class: "wide" }, "Change, 95 % interval")] : null,
        make("th", { scope: "col" }, "Gate"), make("th", { scope: "col", class: "number wide" }, "n"))),
      make("tbody", null, overview.metrics.map((metric) => make("tr", { class: [metric.state, metric.regression].includes("failed") ? "bad" : null },
        make("th", { scope: "row" }, breaks(metric.name), metric.lower ? make("span", { class: "hint" }, " ↓", unseen("lower is better")) : null),
        make("td", { class: "number" }, metric.value),
        overview.compared ? [make("td", { class: "number muted" }, metric.baseline),
          make("td", { class: `number narrow ${turn(metric.sign) || ""}` }, metric.change),
          metric.interval ? intervalCell(metric.interval, reach) : make("td", { class: `wide ${turn(metric.sign) || ""}` }, metric.change)] : null,
        make("td", { class: "gate" }, metric.gate ? [metric.state === "passed" || metric.state === "failed" ? mark(metric.state === "passed", `${metric.state}: `) : null, " ", metric.gate] : null),
        make("td", { class: "number wide muted" }, metric.n))))),
    labels.length ? make("div", { class: "field by" }, make("label", { for: "by" }, "Each metric by"),
      make("select", { id: "by", on: { change: (event) => go({ by: event.target.value }, { keep: true }) } },
        make("option", { value: "" }, "all cases together"), labels.map((label) => make("option", { value: label, selected: query.by === label }, label)))) : null,
    slices ? slicesTable(slices, query, overview) : null);
};
const slicesTable = (slices, query, overview) => {
  const reach = reachOf(slices.map((slice) => slice.interval));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Metrics by ${query.by}` },
    make("table", { class: "slices" }, make("caption", { class: "unseen" }, `Metrics by ${query.by}, with 95 % intervals of the change`),
      make("thead", null, make("tr", null, [["Metric"], [query.by], ["n", "number"], ["Value", "number"], overview.compared ? ["Change, 95 % interval", "wide"] : null]
        .filter(Boolean).map(([text, kind]) => make("th", { scope: "col", class: kind }, text)))),
      make("tbody", null, slices.map((slice, i) => make("tr", { class: i && slices[i - 1].metric === slice.metric ? null : "starts" },
        make("th", { scope: "row" }, i && slices[i - 1].metric === slice.metric ? unseen(slice.metric) : slice.metric),
        make("td", null, link(query.by === "tag" ? { tag: slice.slice, page: "" } : { slice: `${query.by}=${slice.slice}`, page: "" }, {}, slice.slice)),
        make("td", { class: "number muted" }, slice.n), make("td", { class: "number" }, slice.value),
        overview.compared ? intervalCell(slice.interval, reach) : null)))));
};

/* Each metric over the runs, oldest first; a dashed line where the provenance changed. */
const historyCard = (overview, query) => {
  const { runs, metrics } = overview.history;
  if (runs.length < 2) return null;
  const provenanceChanges = runs.map((run, i) => [i, run.changed]).filter(([, changed]) => changed.length);
  return card("History", "history",
    make("p", { class: "muted" }, `${runs.length} full runs, ${day(runs[0].started).slice(0, 10)} to ${day(runs[runs.length - 1].started).slice(0, 10)}; a dashed line marks a change of provenance.`),
    make("div", { class: "trends" }, metrics.filter((metric) => metric.values.some((v) => v !== null)).map((metric) => trend(metric, runs, provenanceChanges, overview.run.id))),
    provenanceChanges.length ? make("ol", { class: "moves" }, provenanceChanges.map(([i, changed], n) => make("li", null,
      make("span", { class: "chip" }, n + 1), " ", link({ run: runs[i].id, against: runs[i - 1].id, case: "", page: "" }, {}, day(runs[i].started)), " ", changed.join("; ")))) : null);
};
const trend = (metric, runs, provenanceChanges, current) => {
  const width = 240;
  const x = (i) => 8 + (i / Math.max(1, runs.length - 1)) * (width - 16);
  const y = (value) => 8 + (1 - value) * 64;
  const points = metric.values.map((value, i) => (value === null || value === undefined ? null : [x(i), y(value)]));
  const lines = points.reduce((out, point) => { if (point) out[out.length - 1].push(point); else out.push([]); return out; }, [[]]).filter((line) => line.length);
  const at = runs.findIndex((run) => run.id === current);
  const last = metric.values[at < 0 ? metric.values.length - 1 : at];
  const words = `${metric.name} over ${runs.length} runs, oldest first: ${metric.values.map((v) => (v === null || v === undefined ? "n/a" : v.toFixed(3))).join(", ")}`;
  return make("figure", null, make("figcaption", null, metric.name, " ", make("strong", null, last === null || last === undefined ? "n/a" : last.toFixed(3))),
    draw("svg", { viewBox: `0 0 ${width} 100`, class: "plot", role: "img", "aria-label": words },
      [0, 0.5, 1].map((v) => draw("line", { x1: 0, x2: width, y1: y(v), y2: y(v), class: "s-line" })),
      provenanceChanges.map(([i], n) => [draw("line", { x1: x(i) - 3, x2: x(i) - 3, y1: 4, y2: 76, class: "s-unsure move" }),
        draw("text", { x: x(i) - 3, y: 85, class: "f-unsure", "text-anchor": "middle", "font-size": 9 }, n + 1)]),
      lines.map((line) => draw("polyline", { points: line.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" "), class: "s-base line" })),
      points.map((p, i) => p && draw("circle", { cx: p[0].toFixed(1), cy: p[1].toFixed(1), r: i === at ? 4.5 : 2, class: i === at ? "f-now" : "f-base" })),
      draw("text", { x: 2, y: 97, class: "f-muted", "font-size": 10 }, day(runs[0].started).slice(0, 10)),
      draw("text", { x: width - 2, y: 97, class: "f-muted", "text-anchor": "end", "font-size": 10 }, day(runs[runs.length - 1].started).slice(0, 10))));
};

/* The cases of a run, as many as the server sends at a time. */
const CASE_FILTERS = [["", "All"], ["failed", "Failing"], ["newly failing", "Newly failing"], ["errored", "Errored"], ["fixed", "Fixed"],
  ["regressed", "Worse"], ["improved", "Better"], ["flaky", "Flaky"], ["incomparable", "Not comparable"]];
let typing;

const casesCard = (overview, list, query) => {
  const filters = CASE_FILTERS.filter(([name]) => !name || overview.counts[name] || name === query.show);
  return card("Cases", "cases",
    make("div", { class: "filters", role: "search", "aria-label": "Cases" },
      make("div", { class: "chips", role: "group", "aria-label": "Show" }, filters.map(([name, title]) =>
        make("button", { type: "button", id: `show-${name.replace(" ", "-")}`, "aria-pressed": String((query.show || "") === name),
          on: { click: () => go({ show: name, page: "" }, { keep: true }) } },
        title, " ", make("span", { class: "n" }, (name ? overview.counts[name] || 0 : list.all).toLocaleString("en"))))),
      make("div", { class: "fields" },
        chooser("tag", "Tag", overview.tags.map((tag) => [tag, tag]), query),
        chooser("slice", "Slice", Object.entries(overview.labels).flatMap(([label, values]) => values.map((value) => [`${label}=${value}`, `${label}: ${value}`])), query),
        make("div", { class: "field grow" }, make("label", { for: "text" }, "Text"),
          make("input", { type: "search", id: "text", value: query.text || "", autocomplete: "off", spellcheck: "false", on: { input: (event) => {
            clearTimeout(typing);
            typing = setTimeout(() => go({ text: event.target.value.trim(), page: "" }, { keep: true, replace: true }), 180);
          } } })))),
    make("p", { class: "count", role: "status" }, list.found === list.all ? plural(list.all, "case") : `${list.found.toLocaleString("en")} of ${plural(list.all, "case")}`),
    list.found ? caseTable(overview, list, query) : make("p", { class: "empty" }, "No case fits. ", link({ show: "", tag: "", slice: "", text: "", page: "" }, {}, "Show all of them")),
    list.pages > 1 ? make("nav", { class: "pager", "aria-label": "Pages of cases" },
      list.page > 1 ? link({ page: list.page - 1 }, { class: "quiet button" }, "← Before") : null,
      make("span", { class: "muted" }, `Page ${list.page} of ${list.pages.toLocaleString("en")}`),
      list.page < list.pages ? link({ page: list.page + 1 }, { class: "quiet button" }, "Next →") : null) : null);
};
const chooser = (name, title, options, query) => (options.length
  ? make("div", { class: "field" }, make("label", { for: name }, title),
    make("select", { id: name, on: { change: (event) => go({ [name]: event.target.value, page: "" }, { keep: true }) } },
      make("option", { value: "" }, "any"), options.map(([value, text]) => make("option", { value, selected: query[name] === value }, text))))
  : null);

const caseTable = (overview, list, query) => {
  const sortKey = query.sort || "state";
  const head = (key, title, kind) => make("th", { scope: "col", class: kind, "aria-sort": sortKey === key ? (query.down ? "descending" : "ascending") : null },
    make("button", { type: "button", class: "sorter", id: `sort-${key}`,
      on: { click: () => go({ sort: key, down: sortKey === key && !query.down ? "1" : "", page: "" }, { keep: true }) } }, title));
  return make("table", { class: "list" },
    make("caption", { class: "unseen" }, `Cases of ${overview.run.title}; the headings sort`),
    make("thead", null, make("tr", null, head("id", "Case", "col-id"), head("state", "State", "col-state"),
      overview.compared ? head("change", "Largest change", "number col-change") : null,
      overview.columns.map((column, i) => head(String(i), column.name, "number wide")))),
    make("tbody", null, list.rows.map((row) => caseRow(row, overview))));
};
const stateOf = (row) => [states(row),
  row.is.includes("incomparable") && row.kind !== "edited" ? make("span", { class: "state" }, "not comparable") : null];
const caseRow = (row, overview) => make("tr", { class: "case" },
  make("th", { scope: "row" }, link({ case: row.id }, { class: "opener" }, row.id),
    make("span", { class: "query", dir: "auto" }, row.why || row.query || "")),
  make("td", null, stateOf(row)),
  overview.compared ? make("td", { class: `number change ${turn(row.worst) || ""}` },
    row.change ? [make("span", { class: "of" }, row.change[0]), " ", row.change[1]] : null) : null,
  row.cells.map(([, text, sign, worst]) => make("td", { class: `number wide ${turn(sign) || (worst ? "worse" : "")}` },
    sign ? make("span", { "aria-hidden": "true" }, sign < 0 ? "↓" : "↑") : null, sign ? unseen(sign < 0 ? "worse: " : "better: ") : null, text)));
