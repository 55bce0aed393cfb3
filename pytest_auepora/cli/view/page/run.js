/* One run against its baseline or another run: the verdict with its reasons, metrics, history, cases. */
const runView = async (from, keep) => {
  const told = await overviewOf(from);
  const [list, slices] = await Promise.all([
    ask("/api/cases", { ...compared(from), ...listed(from) }),
    from.by ? ask("/api/slices", { ...compared(from), label: from.by }) : null,
  ]);
  return [
    compareBar(told, from),
    verdictOf(told, from),
    reasons(told, from),
    metricsCard(told, from, slices),
    make("div", { class: "rest" }, historyCard(told, from), casesCard(told, list, from)),
  ];
};

const compareBar = (told, from) => {
  const runs = told.runs.some((one) => one.id === told.run.id) ? told.runs : [told.run, ...told.runs];
  const several = new Set(runs.map((one) => one.title)).size > 1;
  const name = (one) => `${several ? `${one.title} · ` : ""}${day(one.started)} · ${one.failed ? `${one.failed} failed` : one.outcome}${one.complete ? "" : ", partial"}${one.commit ? ` · ${one.commit}` : ""}`;
  const select = (id, title, chosen, options, key) => make("div", { class: "field" }, make("label", { for: id }, title),
    make("select", { id, on: { change: (event) => go({ [key]: event.target.value, page: "", case: from.case || "" }, { keep: true }) } },
      options.map(([value, text]) => make("option", { value, selected: value === chosen }, text))));
  const against = told.byBaseline ? "" : told.other.id;
  return make("div", { class: "compare-bar" },
    make("p", { class: "crumbs" }, make("a", { href: "/" }, "All runs"), " / ", make("span", null, told.run.title)),
    make("div", { class: "fields" },
      select("run-select", "Run", told.run.id, runs.map((one) => [one.id, name(one)]), "run"),
      select("against-select", "against", against,
        [["", "its baseline, as judged then"], ...runs.filter((one) => one.id !== told.run.id).map((one) => [one.id, name(one)])], "against"),
      against ? make("button", { type: "button", class: "quiet", id: "exchange",
        on: { click: () => go({ run: told.other.id, against: told.run.id, page: "" }, { keep: true }) } }, "⇄ Exchange") : null,
      make("a", { class: "quiet button", id: "export", href: `/export?${new URLSearchParams(Object.entries(compared(from)).filter(([, v]) => v))}`, download: "" }, "Save as one file")));
};

const verdictOf = (told, from) => make("section", { class: `verdict is-${told.outcome.replace(" ", "-")}`, "aria-labelledby": "verdict-title" },
  make("span", { class: "seal", "aria-hidden": "true" }, told.mark),
  make("div", null,
    make("h1", { id: "verdict-title" }, make("span", { class: "word" }, told.word), unseen(":"), " ", told.run.title),
    make("p", { class: "headline" }, told.headline),
    make("p", { class: "beside" }, [
      told.byBaseline ? (told.compared ? "against its baseline" : told.baselineNote || "there was no baseline") : `against the run of ${day(told.other.started)}`,
      day(told.run.started) + " UTC", told.run.commit && `commit ${told.run.commit}`, told.owner && `owner ${told.owner}`, told.path,
    ].filter(Boolean).join(" · ")),
    told.changed.length ? make("p", { class: "changed" }, make("strong", null, "Changed: "), told.changed.join("; ")) : null,
    told.steps.map((step) => make("p", { class: "step" }, "→ ", step.split("`").map((part, i) => (i % 2 ? make("code", null, part) : part))))));

const SAID = { failed: "did not hold", inconclusive: "could not be decided", advisory: "are advisory", passed: "held", "not judged": "were not judged" };
const reasons = (told, from) => {
  const by = Object.keys(SAID).map((name) => [name, told.reasons.filter((one) => one.state === name)]).filter(([, all]) => all.length);
  const failed = by.filter(([name]) => name === "failed").flatMap(([, all]) => all);
  const rest = by.filter(([name]) => name !== "failed");
  return card("Why", "why",
    told.failedCases ? make("p", { class: "first" }, mark(false, "failed: "), " ",
      link({ show: "failed", page: "" }, {}, `${plural(told.failedCases, "case")} failed`), " by ", told.failedCases === 1 ? "itself" : "themselves", ".") : null,
    !failed.length && !told.failedCases ? make("p", { class: "first" }, told.outcome === "passed" ? "Nothing failed." : "Nothing failed; see what could not be decided.") : null,
    failed.some((one) => !one.slice) ? make("ul", { class: "reasons" }, failed.filter((one) => !one.slice).map((one) => reason(one, from))) : null,
    folded(`${plural(failed.filter((one) => one.slice).length, "slice")} got worse as well`, failed.filter((one) => one.slice), from, false),
    rest.map(([name, all]) => folded(`${plural(all.length, "judgement")} ${all.length === 1 ? SAID[name].replace("were", "was").replace("are ", "is ") : SAID[name]}`,
      all, from, name === "inconclusive" && all.length < 4)),
    told.notes.length || Object.keys(told.gone).length ? make("details", null, make("summary", null, "Notes on these numbers"),
      make("ul", { class: "notes" }, told.notes.map((note) => make("li", null, note)),
        Object.entries(told.gone).map(([old, now]) => make("li", null, `in the baseline, no longer in the golden file: ${old}${now ? ` (now ${now}?)` : ""}`)))) : null);
};
const folded = (title, all, from, open) => (all.length
  ? make("details", { open }, make("summary", null, title), make("ul", { class: "reasons" }, all.map((one) => reason(one, from)))) : null);
const reason = (one, from) => make("li", { class: `is-${one.state.replace(" ", "-")}` },
  make("p", null, one.state === "failed" ? [mark(false, "failed: "), " "] : null,
    one.short.startsWith(one.title) ? one.short : [make("strong", null, one.title), ": ", one.short],
    one.owner && one.state === "failed" ? make("span", { class: "muted" }, ` · owner ${one.owner}`) : null),
  one.culprits.length && one.state === "failed" ? make("p", { class: "costs" }, make("span", { class: "muted" }, "costs most: "),
    one.culprits.slice(0, 4).map((id, i) => [i ? ", " : "", link({ case: id }, {}, id)]).flat()) : null,
  one.why || one.p || one.mde ? make("details", { class: "arithmetic" }, make("summary", null, "The arithmetic", unseen(` of ${one.title}`)),
    one.why ? make("p", null, one.why) : null,
    make("dl", { class: "facts" }, [
      ["p, taken alone", one.p], ["minimum detectable drop (80 % power)", one.mde],
      ["cases", one.n ? `${one.n} of ${one.total}` : null], ["bound", one.bound],
    ].filter(([, text]) => text).map(([name, text]) => make("div", null, make("dt", null, name), make("dd", null, text))))) : null);

/* A change with its 95 % interval, on one scale for all metrics; 0 is the line in the middle. */
const whisker = (found, reach) => {
  const at = (value) => 60 + (Math.max(-reach, Math.min(reach, value)) / reach) * 56;
  const tone = { better: "better", worse: "worse" }[found.standing] || "same";
  return draw("svg", { viewBox: "0 0 120 14", class: "whisker", "aria-hidden": "true", focusable: "false" },
    draw("line", { x1: 60, x2: 60, y1: 1, y2: 13, class: "s-line" }),
    found.low === null ? null : draw("line", { x1: at(found.low), x2: at(found.high), y1: 7, y2: 7, class: `s-${tone} reach` }),
    draw("circle", { cx: at(found.value), cy: 7, r: 3.4, class: `f-${tone}` }));
};
const reachOf = (all) => Math.max(0.01, ...all.filter((one) => one && !one.time).flatMap((one) => [one.low, one.high, one.value].map((v) => Math.abs(v || 0))));
const intervalCell = (found, reach) => make("td", { class: "interval wide" }, !found ? null
  : found.standing === "equal" ? make("span", { class: "muted" }, "no case differs")
  : [found.time ? null : whisker(found, reach), make("span", { class: { better: "better", worse: "worse" }[found.standing] || "muted" }, found.text)]);

const metricsCard = (told, from, slices) => {
  const reach = reachOf(told.metrics.map((one) => one.interval));
  const labels = [...(told.tags.length ? ["tag"] : []), ...Object.keys(told.labels)];
  const over = told.byBaseline ? "Baseline" : "Earlier";
  return card("Metrics", "metrics",
    make("table", null,
      make("caption", { class: "unseen" }, "Metrics with their gates and the change, with 95 % intervals"),
      make("thead", null, make("tr", null, make("th", { scope: "col" }, "Metric"), make("th", { scope: "col", class: "number" }, "Value"),
        told.compared ? [make("th", { scope: "col", class: "number" }, over), make("th", { scope: "col", class: "number narrow" }, "Change"), make("th", { scope: "col", class: "wide" }, "Change, 95 % interval")] : null,
        make("th", { scope: "col" }, "Gate"), make("th", { scope: "col", class: "number wide" }, "n"))),
      make("tbody", null, told.metrics.map((one) => make("tr", { class: [one.state, one.regression].includes("failed") ? "bad" : null },
        make("th", { scope: "row" }, breaks(one.name), one.lower ? make("span", { class: "hint" }, " ↓", unseen("lower is better")) : null),
        make("td", { class: "number" }, one.value),
        told.compared ? [make("td", { class: "number muted" }, one.baseline),
          make("td", { class: `number narrow ${turn(one.sign) || ""}` }, one.change),
          one.interval ? intervalCell(one.interval, reach) : make("td", { class: `wide ${turn(one.sign) || ""}` }, one.change)] : null,
        make("td", { class: "gate" }, one.gate ? [one.state === "passed" || one.state === "failed" ? mark(one.state === "passed", `${one.state}: `) : null, " ", one.gate] : null),
        make("td", { class: "number wide muted" }, one.n))))),
    labels.length ? make("div", { class: "field by" }, make("label", { for: "by" }, "Each metric by"),
      make("select", { id: "by", on: { change: (event) => go({ by: event.target.value }, { keep: true }) } },
        make("option", { value: "" }, "all cases together"), labels.map((label) => make("option", { value: label, selected: from.by === label }, label)))) : null,
    slices ? slicesTable(slices, from, told) : null);
};
const slicesTable = (slices, from, told) => {
  const reach = reachOf(slices.map((one) => one.interval));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Metrics by ${from.by}` },
    make("table", { class: "slices" }, make("caption", { class: "unseen" }, `Metrics by ${from.by}, with 95 % intervals of the change`),
      make("thead", null, make("tr", null, [["Metric"], [from.by], ["n", "number"], ["Value", "number"], told.compared ? ["Change, 95 % interval", "wide"] : null]
        .filter(Boolean).map(([text, kind]) => make("th", { scope: "col", class: kind }, text)))),
      make("tbody", null, slices.map((one, i) => make("tr", { class: i && slices[i - 1].metric === one.metric ? null : "starts" },
        make("th", { scope: "row" }, i && slices[i - 1].metric === one.metric ? unseen(one.metric) : one.metric),
        make("td", null, link(from.by === "tag" ? { tag: one.slice, page: "" } : { slice: `${from.by}=${one.slice}`, page: "" }, {}, one.slice)),
        make("td", { class: "number muted" }, one.n), make("td", { class: "number" }, one.value),
        told.compared ? intervalCell(one.interval, reach) : null)))));
};

/* Each metric over the runs, oldest first; a dashed line where what the runs are made of changed. */
const historyCard = (told, from) => {
  const { runs, metrics } = told.history;
  if (runs.length < 2) return null;
  const moves = runs.map((one, i) => [i, one.changed]).filter(([, changed]) => changed.length);
  return card("History", "history",
    make("p", { class: "muted" }, `${runs.length} full runs, ${day(runs[0].started).slice(0, 10)} to ${day(runs[runs.length - 1].started).slice(0, 10)}; a dashed line marks a change of provenance.`),
    make("div", { class: "trends" }, metrics.filter((one) => one.values.some((v) => v !== null)).map((one) => trend(one, runs, moves, told.run.id))),
    moves.length ? make("ol", { class: "moves" }, moves.map(([i, changed], n) => make("li", null,
      make("span", { class: "chip" }, n + 1), " ", link({ run: runs[i].id, against: runs[i - 1].id, case: "", page: "" }, {}, day(runs[i].started)), " ", changed.join("; ")))) : null);
};
const trend = (one, runs, moves, current) => {
  const width = 240;
  const x = (i) => 8 + (i / Math.max(1, runs.length - 1)) * (width - 16);
  const y = (value) => 8 + (1 - value) * 64;
  const points = one.values.map((value, i) => (value === null || value === undefined ? null : [x(i), y(value)]));
  const lines = points.reduce((out, point) => { if (point) out[out.length - 1].push(point); else out.push([]); return out; }, [[]]).filter((line) => line.length);
  const at = runs.findIndex((run) => run.id === current);
  const last = one.values[at < 0 ? one.values.length - 1 : at];
  const words = `${one.name} over ${runs.length} runs, oldest first: ${one.values.map((v) => (v === null || v === undefined ? "n/a" : v.toFixed(3))).join(", ")}`;
  return make("figure", null, make("figcaption", null, one.name, " ", make("strong", null, last === null || last === undefined ? "n/a" : last.toFixed(3))),
    draw("svg", { viewBox: `0 0 ${width} 100`, class: "plot", role: "img", "aria-label": words },
      [0, 0.5, 1].map((v) => draw("line", { x1: 0, x2: width, y1: y(v), y2: y(v), class: "s-line" })),
      moves.map(([i], n) => [draw("line", { x1: x(i) - 3, x2: x(i) - 3, y1: 4, y2: 76, class: "s-unsure move" }),
        draw("text", { x: x(i) - 3, y: 85, class: "f-unsure", "text-anchor": "middle", "font-size": 9 }, n + 1)]),
      lines.map((line) => draw("polyline", { points: line.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" "), class: "s-base line" })),
      points.map((p, i) => p && draw("circle", { cx: p[0].toFixed(1), cy: p[1].toFixed(1), r: i === at ? 4.5 : 2, class: i === at ? "f-now" : "f-base" })),
      draw("text", { x: 2, y: 97, class: "f-muted", "font-size": 10 }, day(runs[0].started).slice(0, 10)),
      draw("text", { x: width - 2, y: 97, class: "f-muted", "text-anchor": "end", "font-size": 10 }, day(runs[runs.length - 1].started).slice(0, 10))));
};

/* The cases of a run, as many as the server sends at a time. */
const SHOWN = [["", "All"], ["failed", "Failing"], ["newly failing", "Newly failing"], ["errored", "Errored"], ["fixed", "Fixed"],
  ["regressed", "Worse"], ["improved", "Better"], ["flaky", "Flaky"], ["incomparable", "Not comparable"]];
let typing;

const casesCard = (told, list, from) => {
  const some = SHOWN.filter(([name]) => !name || told.counts[name] || name === from.show);
  return card("Cases", "cases",
    make("div", { class: "filters", role: "search", "aria-label": "Cases" },
      make("div", { class: "chips", role: "group", "aria-label": "Show" }, some.map(([name, title]) =>
        make("button", { type: "button", id: `show-${name.replace(" ", "-")}`, "aria-pressed": String((from.show || "") === name),
          on: { click: () => go({ show: name, page: "" }, { keep: true }) } },
        title, " ", make("span", { class: "n" }, (name ? told.counts[name] || 0 : list.all).toLocaleString("en"))))),
      make("div", { class: "fields" },
        chooser("tag", "Tag", told.tags.map((tag) => [tag, tag]), from),
        chooser("slice", "Slice", Object.entries(told.labels).flatMap(([label, values]) => values.map((value) => [`${label}=${value}`, `${label}: ${value}`])), from),
        make("div", { class: "field grow" }, make("label", { for: "text" }, "Text"),
          make("input", { type: "search", id: "text", value: from.text || "", autocomplete: "off", spellcheck: "false", on: { input: (event) => {
            clearTimeout(typing);
            typing = setTimeout(() => go({ text: event.target.value.trim(), page: "" }, { keep: true, replace: true }), 180);
          } } })))),
    make("p", { class: "count", role: "status" }, list.found === list.all ? plural(list.all, "case") : `${list.found.toLocaleString("en")} of ${plural(list.all, "case")}`),
    list.found ? caseTable(told, list, from) : make("p", { class: "empty" }, "No case fits. ", link({ show: "", tag: "", slice: "", text: "", page: "" }, {}, "Show all of them")),
    list.pages > 1 ? make("nav", { class: "pager", "aria-label": "Pages of cases" },
      list.page > 1 ? link({ page: list.page - 1 }, { class: "quiet button" }, "← Before") : null,
      make("span", { class: "muted" }, `Page ${list.page} of ${list.pages.toLocaleString("en")}`),
      list.page < list.pages ? link({ page: list.page + 1 }, { class: "quiet button" }, "Next →") : null) : null);
};
const chooser = (name, title, options, from) => (options.length
  ? make("div", { class: "field" }, make("label", { for: name }, title),
    make("select", { id: name, on: { change: (event) => go({ [name]: event.target.value, page: "" }, { keep: true }) } },
      make("option", { value: "" }, "any"), options.map(([value, text]) => make("option", { value, selected: from[name] === value }, text))))
  : null);

const caseTable = (told, list, from) => {
  const by = from.sort || "state";
  const head = (key, title, kind) => make("th", { scope: "col", class: kind, "aria-sort": by === key ? (from.down ? "descending" : "ascending") : null },
    make("button", { type: "button", class: "sorter", id: `sort-${key}`,
      on: { click: () => go({ sort: key, down: by === key && !from.down ? "1" : "", page: "" }, { keep: true }) } }, title));
  return make("table", { class: "list" },
    make("caption", { class: "unseen" }, `Cases of ${told.run.title}; the headings sort`),
    make("thead", null, make("tr", null, head("id", "Case", "col-id"), head("state", "State", "col-state"),
      told.compared ? head("change", "Largest change", "number col-change") : null,
      told.columns.map((column, i) => head(String(i), column.name, "number wide")))),
    make("tbody", null, list.rows.map((one) => caseRow(one, told))));
};
const stateOf = (one) => [states(one),
  one.is.includes("incomparable") && one.kind !== "edited" ? make("span", { class: "state" }, "not comparable") : null];
const caseRow = (one, told) => make("tr", { class: "case" },
  make("th", { scope: "row" }, link({ case: one.id }, { class: "opener" }, one.id),
    make("span", { class: "query", dir: "auto" }, one.why || one.query || "")),
  make("td", null, stateOf(one)),
  told.compared ? make("td", { class: `number change ${turn(one.worst) || ""}` },
    one.change ? [make("span", { class: "of" }, one.change[0]), " ", one.change[1]] : null) : null,
  one.cells.map(([, text, sign, worst]) => make("td", { class: `number wide ${turn(sign) || (worst ? "worse" : "")}` },
    sign ? make("span", { "aria-hidden": "true" }, sign < 0 ? "↓" : "↑") : null, sign ? unseen(sign < 0 ? "worse: " : "better: ") : null, text)));
