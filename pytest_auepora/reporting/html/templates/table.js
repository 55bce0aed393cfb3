/* The table of cases: rows are made as they are needed, details when they are opened. */
const STEP = 100;
const ORDER = ["newly failing", "errored", "new and failing", "edited and failing", "still failing", "failed",
  "fixed", "unchanged", "passed", "new", "edited", "expected to fail", "skipped"];
const SHOWN = { all: "All", regressed: "Regressed", failed: "Failed", improved: "Improved", flaky: "Flaky" };

const narrow = matchMedia("(max-width: 40rem)");

class CaseTable {
  constructor(section) {
    this.section = section;
    this.number = section.dataset.suite;
    this.suite = JSON.parse(document.getElementById(`data-${this.number}`).textContent);
    this.cases = this.suite.cases.map((one, index) => ({
      ...one, index,
      text: `${one.id}\n${one.query || ""}\n${one.answer || ""}\n${one.why || ""}`.toLowerCase(),
    }));
    this.open = new Set();
    this.wanted = { show: "all", tag: "", slice: "", text: "" };
    this.sort = { by: "state", up: true };
    this.build();
    this.refresh();
  }

  build() {
    const { suite } = this;
    this.columns = [
      { key: "id", title: "Case", value: (one) => one.id },
      { key: "state", title: "State", value: (one) => ORDER.indexOf(one.kind) },
      ...(suite.compared ? [{ key: "change", title: "Largest change", number: true, value: (one) => one.worst }] : []),
      ...suite.columns.map((column) => ({
        key: `m${column.key}`, title: column.name, number: true, wide: true, value: (one) => one.cells[column.key][0],
      })),
    ];
    this.count = make("p", { class: "count", role: "status" });
    this.body = make("tbody");
    this.heads = this.columns.map((column) =>
      make("th", { scope: "col", class: `${column.number ? "number" : ""} ${column.wide ? "wide" : ""} col-${column.key}` },
        make("button", { type: "button", class: "sorter", on: { click: () => this.sortBy(column.key) } }, column.title)));
    this.table = make("table", { class: "list" },
      make("caption", { class: "unseen" }, `Cases of ${suite.title}; the headings sort`),
      make("thead", null, make("tr", { "aria-rowindex": "1" }, this.heads)), this.body);
    this.moreButton = make("button", { type: "button", class: "quiet", on: { click: () => this.more(true) } }, "Show more");
    this.section.append(this.filters(), this.count, this.table, this.moreButton);
    this.body.addEventListener("click", (event) => this.clicked(event));
    this.body.addEventListener("keydown", (event) => this.pressed(event));
    new IntersectionObserver((seen) => seen.some((s) => s.isIntersecting) && this.more(false), { rootMargin: "400px" })
      .observe(this.moreButton);
    narrow.addEventListener("change", () => this.refit());
  }

  filters() {
    const counts = (name) => this.cases.filter((one) => name === "all" || (one.is || []).includes(name)).length;
    this.buttons = Object.entries(SHOWN).map(([name, title]) =>
      make("button", { type: "button", "aria-pressed": name === "all", "data-show": name, disabled: !counts(name),
        on: { click: () => this.choose({ show: name }) } }, title, " ", make("span", { class: "n" }, counts(name).toLocaleString("en"))));
    const select = (name, title, options) => {
      const made = make("select", { id: `${name}-${this.number}`, on: { change: (event) => this.choose({ [name]: event.target.value }) } },
        make("option", { value: "" }, "any"), ...options);
      this[`${name}Field`] = made;
      return options.length ? make("div", { class: "field" }, make("label", { for: made.id }, title), made) : null;
    };
    const tags = [...new Set(this.cases.flatMap((one) => one.tags || []))].sort();
    this.textField = make("input", { type: "search", id: `text-${this.number}`, autocomplete: "off", spellcheck: "false",
      on: { input: (event) => this.choose({ text: event.target.value.trim().toLowerCase() }) } });
    return make("div", { class: "filters", role: "search", "aria-label": `Cases of ${this.suite.title}` },
      make("div", { class: "chips", role: "group", "aria-label": "Show" }, this.buttons),
      make("div", { class: "fields" },
        select("tag", "Tag", tags.map((tag) => make("option", { value: tag }, tag))),
        select("slice", "Slice", this.slices()),
        make("div", { class: "field grow" }, make("label", { for: `text-${this.number}` }, "Text"), this.textField)));
  }

  /* Labels by which cases can be told apart: those of few values. */
  slices() {
    const values = new Map();
    for (const one of this.cases)
      for (const [label, value] of Object.entries(one.labels || {})) values.set(label, (values.get(label) || new Set()).add(value));
    return [...values].filter(([, seen]) => seen.size <= 40).sort(([a], [b]) => (a < b ? -1 : 1)).map(([label, seen]) =>
      make("optgroup", { label }, [...seen].sort().map((value) =>
        make("option", { value: JSON.stringify([label, value]) }, `${label}: ${value}`))));
  }

  choose(wanted) {
    Object.assign(this.wanted, wanted);
    this.refresh();
  }

  reset(show) {
    this.tagField.value = this.sliceField.value = this.textField.value = "";
    this.choose({ show, tag: "", slice: "", text: "" });
  }

  sortBy(key) {
    const column = this.columns.find((one) => one.key === key);
    const up = this.sort.by === key ? !this.sort.up : true;
    this.sort = { by: column.key, up };
    this.refresh();
  }

  matches(one) {
    const { show, tag, slice, text } = this.wanted;
    if (show !== "all" && !(one.is || []).includes(show)) return false;
    if (tag && !(one.tags || []).includes(tag)) return false;
    if (slice) {
      const [label, value] = JSON.parse(slice);
      if ((one.labels || {})[label] !== value) return false;
    }
    return !text || one.text.includes(text);
  }

  refresh() {
    const { by, up } = this.sort;
    const column = this.columns.find((one) => one.key === by);
    const keyed = this.cases.filter((one) => this.matches(one)).map((one) => [column.value(one), one]);
    keyed.sort(([a, one], [b, other]) => {
      if (a === b || (a == null && b == null)) return this.tie(one, other);
      if (a == null || b == null) return a == null ? 1 : -1;
      return (a < b ? -1 : 1) * (up ? 1 : -1);
    });
    this.list = keyed.map(([, one]) => one);
    this.columns.forEach((one, i) => {
      if (one.key === by) this.heads[i].setAttribute("aria-sort", up ? "ascending" : "descending");
      else this.heads[i].removeAttribute("aria-sort");
    });
    for (const button of this.buttons) button.setAttribute("aria-pressed", String(button.dataset.show === this.wanted.show));
    this.table.setAttribute("aria-rowcount", this.list.length + 1);
    this.count.textContent = this.list.length === this.cases.length
      ? plural(this.cases.length, "case") : `${this.list.length.toLocaleString("en")} of ${plural(this.cases.length, "case")}`;
    this.body.replaceChildren();
    this.made = 0;
    this.more(false);
  }

  /* Among equals the largest drop comes first, then the order of the golden file. */
  tie(one, other) {
    return (one.worst || 0) - (other.worst || 0) || one.index - other.index;
  }

  more(focus) {
    const next = this.list.slice(this.made, this.made + STEP);
    const rows = next.map((one, i) => this.row(one, this.made + i + 2));
    this.body.append(...rows);
    next.forEach((one, i) => this.open.has(one.index) && this.expand(rows[i], one));
    this.made += next.length;
    const left = this.list.length - this.made;
    this.moreButton.hidden = left <= 0;
    this.moreButton.textContent = `Show more (${left.toLocaleString("en")} left)`;
    if (focus && rows.length) rows[0].querySelector("button").focus();
  }

  row(one, place) {
    const id = `details-${this.number}-${one.index}`;
    const cells = this.columns.slice(2).map((column) => {
      if (column.key === "change")
        return make("td", { class: `number change ${turn(one.worst) || ""}` },
          one.change ? [make("span", { class: "of" }, one.change[0]), " ", one.change[1]] : null);
      const [, text, sign, worst] = one.cells[+column.key.slice(1)];
      return make("td", { class: `number wide ${turn(sign) || (worst ? "worse" : "")}` }, sign ? make("span", { "aria-hidden": "true" }, sign < 0 ? "↓" : "↑") : null,
        sign ? unseen(sign < 0 ? "worse: " : "better: ") : null, text);
    });
    return make("tr", { class: "case", "data-index": one.index, "aria-rowindex": place },
      make("th", { scope: "row" },
        make("button", { type: "button", class: "opener", "aria-expanded": "false", "aria-controls": id }, one.id),
        make("span", { class: "query", dir: "auto" }, one.query || ""),
        one.why ? make("span", { class: "why", dir: "auto" }, one.why) : null),
      make("td", null, states(one)),
      cells);
  }

  expand(row, one) {
    const button = row.querySelector(".opener");
    this.open.add(one.index);
    button.setAttribute("aria-expanded", "true");
    row.classList.add("open");
    row.after(make("tr", { class: "opened", id: button.getAttribute("aria-controls") },
      make("td", { colspan: this.span() }, details(one, +this.section.dataset.level))));
  }

  /* How many columns there are: on a narrow screen the wide ones are left out. */
  span() {
    return this.columns.filter((column) => !narrow.matches || !column.wide).length;
  }

  refit() {
    for (const cell of this.body.querySelectorAll("tr.opened > td")) cell.colSpan = this.span();
  }

  collapse(row, one) {
    const button = row.querySelector(".opener");
    this.open.delete(one.index);
    button.setAttribute("aria-expanded", "false");
    row.classList.remove("open");
    document.getElementById(button.getAttribute("aria-controls")).remove();
  }

  toggle(row) {
    const one = this.cases[+row.dataset.index];
    if (this.open.has(one.index)) this.collapse(row, one);
    else this.expand(row, one);
  }

  clicked(event) {
    const row = event.target.closest("tr.case");
    const selecting = String(getSelection()) && !event.target.closest("button");
    if (row && !selecting) this.toggle(row);
  }

  pressed(event) {
    const row = event.target.closest("tr.opened");
    if (event.key !== "Escape") return;
    const head = row ? row.previousElementSibling : event.target.closest("tr.case.open");
    if (!head || !this.open.has(+head.dataset.index)) return;
    this.toggle(head);
    head.querySelector(".opener").focus();
  }

  /* Open a case from elsewhere on the page; filters that hide it are lifted. */
  show(index) {
    const one = this.cases[index];
    if (!one) return;
    if (!this.list.includes(one)) this.reset("all");
    while (this.made <= this.list.indexOf(one)) this.more(false);
    const row = this.body.querySelector(`tr.case[data-index="${index}"]`);
    if (!this.open.has(index)) this.expand(row, one);
    row.scrollIntoView({ block: "start" });
    row.querySelector(".opener").focus({ preventScroll: true });
  }

  all() {
    while (this.made < this.list.length) this.more(false);
  }
}
