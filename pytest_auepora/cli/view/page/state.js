/* What the page shows is in its address: run, against, show, tag, slice, text, sort, down, page, case, suite, by. */
const main = document.getElementById("main");
const said = document.getElementById("said");
const state = () => Object.fromEntries(new URLSearchParams(location.search));
const address = (changes, base) => {
  const all = { ...(base || state()), ...changes };
  const query = new URLSearchParams(Object.entries(all).filter(([, value]) => value !== "" && value !== null && value !== undefined));
  return query.size ? `/?${query}` : "/";
};
const LIST = ["show", "tag", "slice", "text", "sort", "down", "page"];
const listed = (from) => Object.fromEntries(LIST.filter((key) => from[key]).map((key) => [key, from[key]]));
const compared = (from) => ({ run: from.run, against: from.against });

/* Whoever asked last is shown; answers that come later than the next question are dropped. */
let turn_ = 0;
class Failed extends Error {}
const ask = async (path, given) => {
  const query = new URLSearchParams(Object.entries(given || {}).filter(([, value]) => value));
  let reply;
  try {
    reply = await fetch(`${path}?${query}`);
  } catch {
    throw new Failed("The server does not answer. Was auepora view ended? Start it again, then reload.");
  }
  const told = (reply.headers.get("content-type") || "").includes("json") ? await reply.json() : { error: await reply.text() };
  if (!reply.ok) throw new Failed(told.error || `The server said ${reply.status}.`);
  return told;
};
const overviews = new Map(); // overviews, by run and what it is held against
const overviewOf = async (from) => {
  const key = JSON.stringify(compared(from));
  if (!overviews.has(key)) {
    overviews.set(key, await ask("/api/run", compared(from)));
    if (overviews.size > 8) overviews.delete(overviews.keys().next().value);
  }
  return overviews.get(key);
};

const go = (changes, { base, replace, keep } = {}) => {
  const to = address(changes, base);
  if (to === location.pathname + location.search) return render({ keep });
  history[replace ? "replaceState" : "pushState"](null, "", to);
  return render({ keep });
};
const link = (changes, given, ...inside) => make("a", { href: address(changes, given.base), ...given, base: null }, ...inside);
document.addEventListener("click", (event) => {
  const found = event.target.closest("a[href^='/?'], a[href='/']");
  if (!found || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const to = found.getAttribute("href");
  if (to !== location.pathname + location.search) history.pushState(null, "", to);
  render();
});
addEventListener("popstate", () => render());

/* What a reader chose, where the browser allows to keep it. */
const remember = (name, value) => {
  try {
    if (value !== undefined) localStorage.setItem(name, value);
    return localStorage.getItem(name);
  } catch {
    return value || null;
  }
};
const tell = (text) => { said.textContent = ""; setTimeout(() => { said.textContent = text; }, 30); };
const day = (iso) => (iso ? iso.slice(0, 16).replace("T", " ") : "");
const badge = (outcome) => make("span", { class: `badge is-${outcome.replace(" ", "-")}` },
  make("span", { "aria-hidden": "true" }, { passed: "✓", failed: "✗", inconclusive: "?" }[outcome] || "–"), " ", outcome);
const card = (title, kind, ...inside) => {
  const id = `title-${title.toLowerCase().replace(/\W+/g, "-")}`;
  return make("section", { class: `card ${kind || ""}`, "aria-labelledby": id }, make("h2", { id }, title), ...inside);
};
const problem = (text) => make("section", { class: "card empty", role: "alert" },
  make("h1", null, "That did not work"), make("p", null, text),
  make("p", null, make("button", { type: "button", class: "quiet", on: { click: () => { overviews.clear(); render(); } } }, "Try again"), " ",
    make("a", { href: "/" }, "All runs")));

/* Drawn by attributes: no style is ever written into an element. */
const draw = (tag, given, ...inside) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(given || {})) if (value !== null && value !== undefined) element.setAttribute(name, value);
  for (const part of inside.flat(Infinity)) if (part !== null && part !== undefined) element.append(part);
  return element;
};
