/* What the page shows is in its address: run, against, show, tag, slice, text, sort, down, page, case, suite, by. */
const main = document.getElementById("main");
const statusLine = document.getElementById("said");
const state = () => Object.fromEntries(new URLSearchParams(location.search));
const address = (changes, base) => {
  const all = { ...(base || state()), ...changes };
  const query = new URLSearchParams(Object.entries(all).filter(([, value]) => value !== "" && value !== null && value !== undefined));
  return query.size ? `/?${query}` : "/";
};
const LIST = ["show", "tag", "slice", "text", "sort", "down", "page"];
const listed = (query) => Object.fromEntries(LIST.filter((key) => query[key]).map((key) => [key, query[key]]));
const compared = (query) => ({ run: query.run, against: query.against });

/* Only the last render is shown; a reply that comes after the next render has begun is dropped. */
let lastRenderId = 0;
class Failed extends Error {}
const ask = async (path, parameters) => {
  const query = new URLSearchParams(Object.entries(parameters || {}).filter(([, value]) => value));
  let reply;
  try {
    reply = await fetch(`${path}?${query}`);
  } catch {
    throw new Failed("The server does not answer. Was auepora view ended? Start it again, then reload.");
  }
  const data = (reply.headers.get("content-type") || "").includes("json") ? await reply.json() : { error: await reply.text() };
  if (!reply.ok) throw new Failed(data.error || `The server said ${reply.status}.`);
  return data;
};
const overviews = new Map(); // by run, and what it is compared with
const overviewOf = async (query) => {
  const key = JSON.stringify(compared(query));
  if (!overviews.has(key)) {
    overviews.set(key, await ask("/api/run", compared(query)));
    if (overviews.size > 8) overviews.delete(overviews.keys().next().value);
  }
  return overviews.get(key);
};

const go = (changes, { base, replace, keep } = {}) => {
  const target = address(changes, base);
  if (target === location.pathname + location.search) return render({ keep });
  history[replace ? "replaceState" : "pushState"](null, "", target);
  return render({ keep });
};
const link = (changes, attributes, ...inside) => make("a", { href: address(changes, attributes.base), ...attributes, base: null }, ...inside);
document.addEventListener("click", (event) => {
  const anchor = event.target.closest("a[href^='/?'], a[href='/']");
  if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const target = anchor.getAttribute("href");
  if (target !== location.pathname + location.search) history.pushState(null, "", target);
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
const announce = (text) => { statusLine.textContent = ""; setTimeout(() => { statusLine.textContent = text; }, 30); };
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
const draw = (tag, attributes, ...inside) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) if (value !== null && value !== undefined) element.setAttribute(name, value);
  for (const part of inside.flat(Infinity)) if (part !== null && part !== undefined) element.append(part);
  return element;
};
