/* The table of cases: rows are made as they are needed. */
const STEP = 100;
const CHIPS = [["", "All"], ["failed", "Failed"], ["worse", "Worse than "], ["lost", "Lost"], ["still failing", "Still failing"],
  ["varies", "Varies"], ["suspect", "Suspect"], ["improved", "Improved"], ["flaky", "Flaky"], ["incomparable", "Not comparable"]];

const columnsOf = (data) => [
  { key: "id", title: "Case", value: (row) => row.id },
  { key: "state", title: "State", value: (row) => data.ranks.get(row.kind) },
  ...(data.compared ? [{ key: "change", title: "Largest change", number: true, value: (row) => row.worst }] : []),
  ...data.columns.map((column, place) => ({ key: `m${place}`, title: column.name, number: true, wide: true, place, value: (row) => ((row.cells || [])[place] || [null])[0] })),
];

/* Whether the address asks for other rows than the first, or in another order. */
const narrows = (query) => ["show", "tag", "slice", "text", "sort", "down"].some((name) => query[name]);
const searched = (row) => {
  row.search = row.search || [row.id, row.query, row.answer, row.why, ...(row.said || [])].filter(Boolean).join("\n").toLowerCase();
  return row.search;
};
/* The rows that the address asks for, in its order; among equals the largest drop comes first. */
const listed = (data, query) => {
  if (!data.cases) return data.rows;
  const [label, value] = query.slice ? JSON.parse(query.slice) : [];
  const text = (query.text || "").trim().toLowerCase();
  const rows = data.cases.filter((row) => (!query.show || is(row, query.show))
    && (!query.tag || (row.tags || []).includes(query.tag))
    && (!label || (row.labels || {})[label] === value)
    && (!text || searched(row).includes(text)));
  const column = columnsOf(data).find((one) => one.key === (query.sort || "state")) || columnsOf(data)[1];
  const up = query.down ? -1 : 1;
  const keyed = rows.map((row) => [column.value(row), row]);
  keyed.sort(([a, one], [b, other]) => {
    if (a === b || (a == null && b == null)) return (one.worst || 0) - (other.worst || 0) || one.index - other.index;
    if (a == null || b == null) return a == null ? 1 : -1;
    return (a < b ? -1 : 1) * up;
  });
  return keyed.map(([, row]) => row);
};

class CaseTable {
  constructor(data, query) {
    this.data = data;
    this.query = query;
    this.columns = columnsOf(data);
    this.count = make("p", { class: "count", role: "status" });
    this.body = make("tbody");
    this.heads = this.columns.map((column) => make("th", { scope: "col", class: `${column.number ? "number" : ""} ${column.wide ? "wide" : ""} col-${column.place === undefined ? column.key : "metric"}` },
      make("button", { type: "button", class: "sorter", on: { click: () => this.sortBy(column.key) } }, breaks(column.title))));
    this.table = make("table", { class: "list" }, make("caption", { class: "unseen" }, `Cases of ${data.title}; the headings sort`),
      make("thead", null, make("tr", null, this.heads)), this.body);
    this.moreButton = make("button", { type: "button", class: "quiet more", on: { click: () => this.more(true) } }, "Show more");
    this.nothing = make("p", { class: "empty" }, "No case fits. ", make("button", { type: "button", class: "quiet", on: { click: () => this.choose({ show: "", tag: "", slice: "", text: "" }, true) } }, "Show all of them"));
    this.element = card("Cases", "cases", this.filters(), this.count, this.table, this.nothing, this.moreButton);
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr.case");
      if (row && !event.target.closest("a") && !String(getSelection())) row.querySelector(".opener").click();
    });
    new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && this.more(false), { rootMargin: "400px" }).observe(this.moreButton);
    main.addEventListener("printing", () => { while (this.made < Math.min(this.list.length, 1000)) this.more(false); });
    this.refresh();
    if (!data.cases) setTimeout(() => this.arrive());
  }

  /* Takes the rows that were not there at the beginning. */
  async arrive() {
    try {
      await casesOf(this.data, this.query);
    } catch (error) {
      this.count.textContent = error.message;
      return;
    }
    if (narrows(state())) return this.refresh();
    this.list = listed(this.data, state()); // begins with the rows that are shown
    this.showRest();
  }

  filters() {
    const { data } = this;
    const query = state();
    this.buttons = CHIPS.filter(([name]) => !name || name === "failed" || data.counts[name]).map(([name, title]) =>
      make("button", { type: "button", "data-show": name, disabled: Boolean(name) && !data.counts[name], on: { click: () => this.choose({ show: name }) } },
        name === "worse" ? title + data.base : title, " ", make("span", { class: "n" }, (name ? data.counts[name] || 0 : data.total).toLocaleString("en"))));
    const chooser = (name, title, options) => {
      if (!options.length) return null;
      const made = make("select", { id: name, on: { change: (event) => this.choose({ [name]: event.target.value }) } },
        make("option", { value: "" }, "any"), options.map(([value, text]) => make("option", { value, selected: query[name] === value }, text)));
      this[name] = made;
      return make("div", { class: "field" }, make("label", { for: name }, title), made);
    };
    const values = Object.entries(data.slices).filter(([name]) => name !== "tag").flatMap(([name, all]) => all.map((value) => [JSON.stringify([name, value]), `${name}: ${value}`]));
    this.text = make("input", { type: "search", id: "text", value: query.text || "", autocomplete: "off", spellcheck: "false",
      on: { input: (event) => this.choose({ text: event.target.value.trim() }) } });
    return make("div", { class: "filters", role: "search", "aria-label": "Cases" },
      make("div", { class: "chips", role: "group", "aria-label": "Show" }, this.buttons),
      make("div", { class: "fields" }, chooser("tag", "Tag", data.tags.map((tag) => [tag, tag])), chooser("slice", "Slice", values),
        make("div", { class: "field grow" }, make("label", { for: "text" }, "Text"), this.text)));
  }

  choose(changes, reset) {
    history.replaceState(null, "", address(changes));
    if (reset) for (const field of [this.tag, this.slice, this.text]) if (field) field.value = "";
    this.refresh();
  }

  sortBy(key) {
    const query = state();
    this.choose({ sort: key, down: (query.sort || "state") === key && !query.down ? "1" : "" });
  }

  refresh() {
    const query = state();
    const all = this.data.cases || !narrows(query);
    this.list = listed(this.data, query);
    this.columns.forEach((column, i) => {
      if (column.key === (query.sort || "state")) this.heads[i].setAttribute("aria-sort", query.down ? "descending" : "ascending");
      else this.heads[i].removeAttribute("aria-sort");
    });
    for (const button of this.buttons) button.setAttribute("aria-pressed", String(button.dataset.show === (query.show || "")));
    const found = this.data.cases ? this.list.length : this.data.total;
    this.count.textContent = !all ? "Reading the cases …" : found === this.data.total ? plural(found, "case")
      : `${found.toLocaleString("en")} of ${plural(this.data.total, "case")}`;
    this.table.hidden = !this.list.length;
    this.nothing.hidden = Boolean(this.list.length);
    this.body.replaceChildren();
    this.made = 0;
    this.more(false);
  }

  more(focus) {
    const rows = this.list.slice(this.made, this.made + STEP).map((row) => this.row(row));
    this.body.append(...rows);
    this.made += rows.length;
    this.showRest();
    if (focus && rows.length) rows[0].querySelector("a").focus();
  }

  showRest() {
    const left = this.list.length - this.made;
    this.moreButton.hidden = left <= 0;
    this.moreButton.textContent = `Show more (${left.toLocaleString("en")} left)`;
  }

  row(row) {
    const cells = this.columns.slice(2).map((column) => {
      if (column.key === "change")
        return make("td", { class: `number change ${turn(row.worst) || ""}` }, row.change ? [make("span", { class: "of" }, row.change[0]), " ", row.change[1]] : null);
      const [, text, sign, worst] = (row.cells || [])[column.place] || [null, "", 0, false];
      return make("td", { class: `number wide ${turn(sign) || (worst ? "worse" : "")}` }, sign ? make("span", { "aria-hidden": "true" }, sign < 0 ? "↓" : "↑") : null,
        sign ? unseen(sign < 0 ? "worse: " : "better: ") : null, text);
    });
    return make("tr", { class: "case" },
      make("th", { scope: "row" }, link({ case: row.id }, { class: "opener" }, row.id),
        make("span", { class: "query", dir: "auto" }, row.query || ""),
        row.why && (is(row, "failed") || is(row, "lost") || row.kind === "still failing") ? make("span", { class: "why", dir: "auto" }, row.why) : null,
        (row.said || []).map((line) => make("span", { class: "why muted" }, line))),
      make("td", null, states(row)),
      cells);
  }
}
