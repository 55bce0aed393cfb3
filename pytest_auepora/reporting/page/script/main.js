/* Shows what the address says. */
let lastRender = 0;
const render = async ({ keep } = {}) => {
  const mine = ++lastRender;
  const query = state();
  main.setAttribute("aria-busy", "true");
  const slow = setTimeout(() => mine === lastRender && !keep && main.replaceChildren(make("p", { class: "waiting" }, "Reading the run …")), 250);
  let content;
  try {
    content = query.case ? await caseView(query) : query.run ? await runView(query) : await startView(query);
  } catch (error) {
    if (mine === lastRender) content = [problem(error instanceof Failed ? error.message : `The page made a mistake: ${error}`)];
  }
  clearTimeout(slow);
  if (mine !== lastRender) return;
  const active = document.activeElement;
  const focus = keep && active && active.id;
  const top = scrollY;
  main.replaceChildren(...content.flat(Infinity).filter(Boolean));
  main.setAttribute("aria-busy", "false");
  document.getElementById("place").textContent = query.run ? "" : live ? "runs" : "";
  document.title = `${main.querySelector("h1")?.textContent || "Runs"} – auepora`;
  if (keep) {
    scrollTo(0, top);
    const again = focus && document.getElementById(focus);
    if (again) again.focus({ preventScroll: true });
  } else if (mine > 1) { // not where the page has just been opened
    scrollTo(0, 0);
    (main.querySelector("[data-first]") || main).focus({ preventScroll: true });
  }
  main.dispatchEvent(new Event("shown"));
};
addEventListener("hashchange", () => render());
addEventListener("beforeprint", () => main.dispatchEvent(new Event("printing")));
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });

/* Keys: none of them while somebody types, and none at all where that is switched off. */
const help = document.getElementById("help");
const keysOn = document.getElementById("keys-on");
const KEYS = [
  ["?", "this help", () => help.showModal()],
  ["j", "next case, next row", () => step(1)],
  ["k", "previous case, previous row", () => step(-1)],
  ["Enter", "open the row", null],
  ["u", "up: from a case to its run, from a run to where the page began", () => up()],
  ["/", "search in the cases", () => document.getElementById("text")?.focus()],
  ["f", "failed cases only, or all again", () => state().run && go({ show: state().show === "failed" ? "" : "failed" }, { keep: true })],
  ...(live ? [
    ["x", "exchange the two runs", () => document.getElementById("exchange")?.click()],
    ["y", "label: the answer is good", () => document.querySelector("[data-label=true]")?.click()],
    ["n", "label: the answer is not good", () => document.querySelector("[data-label=false]")?.click()]] : []),
  ["t", "light or dark", () => theme.click()],
];
const up = () => {
  const query = state();
  if (query.case) go({ case: "" });
  else if (query.run) go({}, { base: {} });
};
const step = (direction) => {
  if (state().case) return document.querySelector(direction > 0 ? "a[rel=next]" : "a[rel=prev]")?.click();
  const rows = [...main.querySelectorAll("tr .opener")];
  const position = rows.indexOf(document.activeElement);
  const next = rows[position < 0 ? (direction > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, position + direction))];
  if (next) next.focus();
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open || !keysOn.checked) return;
  if (event.key === "Escape" && event.target.id === "text") return event.target.blur();
  if (event.target.closest("input, select, textarea")) return;
  const shortcut = KEYS.find(([key, , act]) => key === event.key && act);
  if (shortcut) { event.preventDefault(); shortcut[2](); }
});
document.getElementById("keys").append(...KEYS.map(([key, what]) => make("div", null, make("dt", null, make("kbd", null, key)), make("dd", null, what))));
document.getElementById("help-button").addEventListener("click", () => help.showModal());
document.getElementById("help-close").addEventListener("click", () => help.close());
keysOn.checked = remember("auepora-keys") !== "off";
keysOn.addEventListener("change", () => remember("auepora-keys", keysOn.checked ? "on" : "off"));
render();
