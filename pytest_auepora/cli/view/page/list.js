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
