/* Where the page begins: all stored runs, or the suites of a report. */
const startView = (query) => (live ? runsView(query) : suitesView());

const suitesView = () => [
  make("section", { class: `verdict is-${report.outcome.replace(" ", "-")}`, "aria-labelledby": "verdict-title" },
    make("span", { class: "seal", "aria-hidden": "true" }, report.mark),
    make("div", null, make("h1", { id: "verdict-title" }, make("span", { class: "word" }, report.outcome[0].toUpperCase() + report.outcome.slice(1))),
      make("p", { class: "headline" }, report.headline))),
  report.mistakes.length ? card(report.mistakesTitle, "mistakes", make("p", { class: "muted" }, "Nothing in these files was measured."),
    make("ul", { class: "notes" }, report.mistakes.map(([place, text]) => make("li", null, make("strong", null, place), " ", text)))) : null,
  report.suites.length ? card("Suites", "overview", make("ul", null, report.suites.map((suite, i) => make("li", { class: "suite" },
    make("p", null, badge(suite.outcome), " ", link({ run: String(i) }, { base: {}, class: "suite-name" }, suite.title)),
    make("p", { class: "muted" }, suite.headline))))) : null,
  report.sideBySide.map(sideBySide),
];

const sideBySide = (compared) => {
  const [first, ...others] = compared.names;
  const wide = (title, ...inside) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, ...inside);
  const head = (text, number) => make("th", { scope: "col", class: number ? "number" : null }, text);
  return card(`${compared.suite} side by side`, "beside-each",
    make("p", { class: "muted" }, `over ${compared.shared} that all ran`),
    wide(`Metrics of ${compared.suite} side by side`, make("table", null, make("caption", { class: "unseen" }, "Metrics of each system, and the difference from the first"),
      make("thead", null, make("tr", null, head("Metric"), head("n", true), compared.names.map((name) => head(name, true)), others.map((name) => head(`${name} − ${first}`, true)))),
      make("tbody", null, compared.rows.map((row) => make("tr", null, make("th", { scope: "row" }, breaks(row.name)), make("td", { class: "number muted" }, row.n),
        row.values.map(([text, best]) => make("td", { class: `number ${best ? "best" : ""}` }, text)),
        row.differences.map(([text, standing]) => make("td", { class: `number ${["better", "worse"].includes(standing) ? standing : ""}` }, text))))))),
    make("ul", { class: "notes muted" }, compared.notes.map((note) => make("li", null, note))),
    compared.cases.length ? [make("h3", null, `${plural(compared.differing, "case")} that only some of them pass`),
      wide(`Cases of ${compared.suite} that only some pass`, make("table", null, make("caption", { class: "unseen" }, "What became of these cases in each system"),
        make("thead", null, make("tr", null, head(compared.key ? `Case (${compared.key})` : "Case"), compared.names.map((name) => head(name)))),
        make("tbody", null, compared.cases.map((row) => make("tr", null, make("th", { scope: "row" }, row.id),
          row.cells.map(([became, text], i) => make("td", { class: `is-${became}` }, became && compared.runs[i] !== null
            ? link({ run: String(compared.runs[i]), case: row.id }, { base: {} }, text, unseen(` ${became}`)) : text))))))),
      compared.differing > compared.cases.length ? make("p", { class: "muted" }, `… and ${compared.differing - compared.cases.length} more`) : null] : null);
};

/* All stored runs, the latest first. */
const runsView = async (query) => {
  const page = await ask("/api/runs", { suite: query.suite, from: query.from });
  if (!page.found && !query.suite) return [emptyHistory(page.name)];
  const first = +(query.from || 0);
  const runBefore = new Map(); // the run before each, of the same golden file
  page.runs.forEach((run, i) => runBefore.set(run.id, page.runs.slice(i + 1).find((other) => other.title === run.title && other.path === run.path && other.complete)));
  return [
    make("section", { class: "hello" }, make("h1", null, "Runs"), make("p", { class: "muted" }, `${plural(page.found, "run")} in ${page.name}`)),
    page.suites.length > 1 ? make("nav", { class: "chips suites", "aria-label": "Suites" }, ["", ...page.suites].map((suite) =>
      make("a", { href: address({ suite }, {}), "aria-current": (query.suite || "") === suite ? "true" : null }, suite || "All suites"))) : null,
    make("section", { class: "card", "aria-label": "Stored runs" },
      make("table", { class: "runs" }, make("caption", { class: "unseen" }, "Stored runs, the latest first"),
        make("thead", null, make("tr", null, ["Verdict", "Suite"].map((text) => make("th", { scope: "col" }, text)),
          make("th", { scope: "col", class: "wide" }, "Started (UTC)"), make("th", { scope: "col", class: "figures" }, "Metrics"),
          make("th", { scope: "col", class: "number wide" }, "Cases"), make("th", { scope: "col", class: "number" }, "Failed"),
          make("th", { scope: "col", class: "wide" }, "Commit"), make("th", { scope: "col", class: "wide" }, unseen("Compare")))),
        make("tbody", { on: { click: opened } }, page.runs.map((run) => runRow(run, runBefore.get(run.id)))))),
    pager(first, first + page.runs.length, page.found),
  ];
};
const opened = (event) => {
  const row = event.target.closest("tr.run");
  if (row && !event.target.closest("a") && !String(getSelection())) row.querySelector(".opener").click();
};
const WORDS = { worse: "worse", better: "better", mixed: "worse" };
const figuresOf = (run) => run.metrics.map(([name, text], i) => [make("span", { class: "whole" }, `${name} ${text}${i + 1 < run.metrics.length ? "," : ""}`), " "]);
const runRow = (run, before) => make("tr", { class: "run" },
  make("td", null, badge(run.outcome), run.word ? [" ", make("span", { class: `word ${WORDS[run.word] || "muted"}` }, run.word)] : null),
  make("th", { scope: "row" }, link({ run: run.id }, { base: {}, class: "opener" }, breaks(run.title), unseen(` of ${day(run.started)}`)),
    run.name ? make("span", { class: "chip", dir: "auto" }, run.name) : null,
    run.complete ? null : make("span", { class: "chip" }, "partial"),
    run.origin ? make("span", { class: "chip" }, run.origin) : null,
    run.note ? make("span", { class: "about muted", dir: "auto" }, run.note) : null,
    make("span", { class: "about muted small" }, day(run.started)),
    make("span", { class: "about muted slim" }, figuresOf(run))),
  make("td", { class: "when wide" }, day(run.started)),
  make("td", { class: "muted figures" }, figuresOf(run)),
  make("td", { class: "number wide" }, run.cases.toLocaleString("en")),
  make("td", { class: `number ${run.failed ? "worse" : "muted"}` }, run.failed.toLocaleString("en")),
  make("td", { class: "wide muted" }, run.commit),
  make("td", { class: "number wide" }, before
    ? link({ run: run.id, against: before.id }, { base: {} }, "compare", unseen(` ${run.id} with the run before`)) : null));
const pager = (first, last, total) => (total <= last && !first) ? null
  : make("nav", { class: "pager", "aria-label": "Pages" },
    first ? link({ from: Math.max(0, first - 200) || "" }, {}, "← Later runs") : null,
    make("span", { class: "muted" }, `${first + 1} to ${last} of ${total.toLocaleString("en")}`),
    last < total ? link({ from: last }, {}, "Earlier runs →") : null);
const emptyHistory = (name) => make("section", { class: "card empty" },
  make("h1", null, "No run is stored yet"), make("p", null, `Nothing is in ${name}.`),
  make("p", null, "Every run of ", make("code", null, "pytest --auepora"), " is kept there. Run it, then reload this page."),
  make("p", { class: "muted" }, "Is the history elsewhere? Name it: ", make("code", null, "auepora view --history PLACE")));
