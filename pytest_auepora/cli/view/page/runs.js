/* All stored runs, the latest first. */
const runsView = async (from) => {
  const told = await ask("/api/runs", { suite: from.suite, from: from.from });
  if (!told.found && !from.suite) return [emptyHistory(told.name)];
  const several = told.suites.length > 1;
  const first = +(from.from || 0);
  const after = new Map(); // the run before each, of the same suite
  told.runs.forEach((one, i) => after.set(one.id, told.runs.slice(i + 1).find((other) => other.title === one.title && other.complete)));
  const last = first + told.runs.length;
  return [
    make("section", { class: "hello" }, make("h1", null, "Runs"),
      make("p", { class: "muted" }, `${plural(told.found, "run")} in ${told.name}`)),
    several ? make("nav", { class: "chips suites", "aria-label": "Suites" }, ["", ...told.suites].map((suite) =>
      make("a", { href: address({ suite }, {}), "aria-current": (from.suite || "") === suite ? "true" : null }, suite || "All suites"))) : null,
    make("section", { class: "card" },
      make("table", { class: "runs" },
        make("caption", { class: "unseen" }, "Stored runs, the latest first"),
        make("thead", null, make("tr", null,
          ["Verdict", "Suite", "Started (UTC)"].map((t) => make("th", { scope: "col" }, t)),
          make("th", { scope: "col", class: "number wide" }, "Cases"), make("th", { scope: "col", class: "number" }, "Failed"),
          make("th", { scope: "col", class: "wide" }, "Commit"), make("th", { scope: "col", class: "wide" }, "Run"),
          make("th", { scope: "col", class: "wide" }, unseen("Compare")))),
        make("tbody", null, told.runs.map((one) => runRow(one, after.get(one.id)))))),
    pager(first, last, told.found),
  ];
};
const runRow = (one, before) => make("tr", { class: "run" },
  make("td", null, badge(one.outcome)),
  make("th", { scope: "row" }, link({ run: one.id }, { base: {}, class: "opener" }, one.title),
    one.complete ? null : make("span", { class: "chip" }, "partial"),
    one.origin ? make("span", { class: "chip" }, one.origin.split(" ")[0]) : null),
  make("td", { class: "when" }, day(one.started)),
  make("td", { class: "number wide" }, one.cases.toLocaleString("en")),
  make("td", { class: `number ${one.failed ? "worse" : "muted"}` }, one.failed.toLocaleString("en")),
  make("td", { class: "wide muted" }, one.commit),
  make("td", { class: "wide muted" }, one.id),
  make("td", { class: "number wide" }, before
    ? link({ run: one.id, against: before.id }, { base: {} }, "compare", unseen(` ${one.id} with the run before`)) : null));
const pager = (first, last, found) => (found <= last && !first) ? null
  : make("nav", { class: "pager", "aria-label": "Pages" },
    first ? link({ from: Math.max(0, first - 200) || "" }, {}, "← Later runs") : null,
    make("span", { class: "muted" }, `${first + 1} to ${last} of ${found.toLocaleString("en")}`),
    last < found ? link({ from: last }, {}, "Earlier runs →") : null);
const emptyHistory = (name) => make("section", { class: "card empty" },
  make("h1", null, "No run is stored yet"),
  make("p", null, `Nothing is in ${name}.`),
  make("p", null, "Every run of ", make("code", null, "pytest --auepora"), " is kept there. Run it, then reload this page."),
  make("p", { class: "muted" }, "Is the history elsewhere? Name it: ", make("code", null, "auepora view --history PLACE")));
