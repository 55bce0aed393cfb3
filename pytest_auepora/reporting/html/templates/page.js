const tables = [...document.querySelectorAll("section.cases")].map((section) => new CaseTable(section));

/* Pictures: one metric at a time, chosen by tabs. */
for (const list of document.querySelectorAll("[role=tablist]")) {
  const tabs = [...list.children];
  const choose = (tab, focus) => {
    for (const one of tabs) {
      const chosen = one === tab;
      one.setAttribute("aria-selected", String(chosen));
      one.tabIndex = chosen ? 0 : -1;
      document.getElementById(one.getAttribute("aria-controls")).classList.toggle("away", !chosen);
    }
    if (focus) tab.focus();
  };
  for (const tab of tabs) {
    const panel = document.getElementById(tab.getAttribute("aria-controls"));
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    panel.tabIndex = 0;
    tab.addEventListener("click", () => choose(tab, false));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const target = event.key === "Home" ? tabs[0] : event.key === "End" ? tabs[tabs.length - 1]
        : step ? tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length] : null;
      if (!target) return;
      event.preventDefault();
      choose(target, true);
    });
  }
  list.hidden = false;
  choose(tabs.find((tab) => tab.getAttribute("aria-selected") === "true") || tabs[0], false);
}

/* A dot tells its case when pointed at, and opens it. */
for (const section of document.querySelectorAll("section.plots")) {
  const tip = section.querySelector(".tip");
  const table = tables[+section.querySelector(".panel").dataset.suite];
  section.addEventListener("pointerover", (event) => {
    const dot = event.target.closest("[data-case]");
    tip.hidden = !dot;
    if (dot) tip.textContent = table.cases[+dot.dataset.case].id;
  });
  section.addEventListener("click", (event) => {
    const dot = event.target.closest("[data-case]");
    if (dot) table.show(+dot.dataset.case);
  });
}

/* Links into the tables: #case-SUITE-CASE, #failed-SUITE. */
const follow = () => {
  const [, kind, suite, index] = /^#(case|failed)-(\d+)(?:-(\d+))?$/.exec(location.hash) || [];
  const table = tables[+suite];
  if (!kind || !table) return;
  if (kind === "case") table.show(+index);
  else {
    table.reset("failed");
    table.section.scrollIntoView({ block: "start" });
    table.body.querySelector(".opener")?.focus({ preventScroll: true });
  }
};
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#case-'], a[href^='#failed-']");
  if (!link) return;
  event.preventDefault();
  history.replaceState(null, "", link.getAttribute("href"));
  follow();
});
addEventListener("hashchange", follow);
follow();

addEventListener("beforeprint", () => {
  for (const table of tables) table.all();
  for (const part of document.querySelectorAll("main details")) part.open = true;
});
