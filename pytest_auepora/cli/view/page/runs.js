/* All stored runs, the latest first. */
const runsView = async (query) => {
  const page = await ask("/api/runs", { suite: query.suite, from: query.from });
  if (!page.found && !query.suite) return [emptyHistory(page.name)];
  const hasSuites = page.suites.length > 1;
  const first = +(query.from || 0);
  const runBefore = new Map(); // the run before each, of the same golden file
  page.runs.forEach((run, i) => runBefore.set(run.id, page.runs.slice(i + 1).find((other) => other.title === run.title && other.path === run.path && other.complete)));
  const last = first + page.runs.length;
  return [
    make("section", { class: "hello" }, make("h1", null, "Runs"),
      make("p", { class: "muted" }, `${plural(page.found, "run")} in ${page.name}`)),
    hasSuites ? make("nav", { class: "chips suites", "aria-label": "Suites" }, ["", ...page.suites].map((suite) =>
      make("a", { href: address({ suite }, {}), "aria-current": (query.suite || "") === suite ? "true" : null }, suite || "All suites"))) : null,
    make("section", { class: "card" },
      make("table", { class: "runs" },
        make("caption", { class: "unseen" }, "Stored runs, the latest first"),
        make("thead", null, make("tr", null,
          ["Verdict", "Suite", "Started (UTC)"].map((t) => make("th", { scope: "col" }, t)),
          make("th", { scope: "col", class: "number wide" }, "Cases"), make("th", { scope: "col", class: "number" }, "Failed"),
          make("th", { scope: "col", class: "wide" }, "Commit"), make("th", { scope: "col", class: "wide" }, "Run"),
          make("th", { scope: "col", class: "wide" }, unseen("Compare")))),
        make("tbody", null, page.runs.map((run) => runRow(run, runBefore.get(run.id)))))),
    pager(first, last, page.found),
  ];
};
const runRow = (run, before) => make("tr", { class: "run" },
  make("td", null, badge(run.outcome)),
  make("th", { scope: "row" }, link({ run: run.id }, { base: {}, class: "opener" }, run.title),
    run.complete ? null : make("span", { class: "chip" }, "partial"),
    run.origin ? make("span", { class: "chip" }, run.origin.split(" ")[0]) : null),
  make("td", { class: "when" }, day(run.started)),
  make("td", { class: "number wide" }, run.cases.toLocaleString("en")),
  make("td", { class: `number ${run.failed ? "worse" : "muted"}` }, run.failed.toLocaleString("en")),
  make("td", { class: "wide muted" }, run.commit),
  make("td", { class: "wide muted" }, run.id),
  make("td", { class: "number wide" }, before
    ? link({ run: run.id, against: before.id }, { base: {} }, "compare", unseen(` ${run.id} with the run before`)) : null));
const pager = (first, last, total) => (total <= last && !first) ? null
  : make("nav", { class: "pager", "aria-label": "Pages" },
    first ? link({ from: Math.max(0, first - 200) || "" }, {}, "← Later runs") : null,
    make("span", { class: "muted" }, `${first + 1} to ${last} of ${total.toLocaleString("en")}`),
    last < total ? link({ from: last }, {}, "Earlier runs →") : null);
const emptyHistory = (name) => make("section", { class: "card empty" },
  make("h1", null, "No run is stored yet"),
  make("p", null, `Nothing is in ${name}.`),
  make("p", null, "Every run of ", make("code", null, "pytest --auepora"), " is kept there. Run it, then reload this page."),
  make("p", { class: "muted" }, "Is the history elsewhere? Name it: ", make("code", null, "auepora view --history PLACE")));
