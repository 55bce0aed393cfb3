/* Where the data are: in this file, or at the server that showed the page.  A run comes with what its first screen shows;
   the rows of all cases follow, and the details of a case when it is opened.  What the page shows is in the fragment of
   its address: run, against, case, suite, from; show, tag, slice, text, sort, down; by. */
const main = document.getElementById("main");
const statusLine = document.getElementById("said");
const embedded = document.getElementById("data");
const report = embedded ? JSON.parse(embedded.textContent) : null;
const live = !report;
const alone = Boolean(report) && report.suites.length === 1 && !report.mistakes.length;

const state = () => {
  const query = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  return alone && !query.run ? { ...query, run: "0" } : query;
};
const address = (changes, base) => {
  const all = { ...(base || state()), ...changes };
  const wanted = Object.entries(all).filter(([name, value]) => value !== "" && value !== null && value !== undefined && !(alone && name === "run"));
  return `#${new URLSearchParams(wanted)}`;
};
const compared = (query) => ({ run: query.run, against: query.against });

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

/* A run with its first rows; the last ones are kept. */
const runs = new Map();
const runOf = async (query) => {
  if (report) {
    const suite = report.suites[+query.run];
    if (!suite) throw new Failed("There is no such suite in this report.");
    return prepared(suite);
  }
  const key = JSON.stringify(compared(query));
  if (!runs.has(key)) {
    runs.set(key, prepared(await ask("/api/run", compared(query))));
    if (runs.size > 4) runs.delete(runs.keys().next().value);
  }
  return runs.get(key);
};
const prepared = (data) => {
  if (!data.known) {
    data.base = data.against ? "the other run" : "accepted"; // what it is compared with
    data.ranks = new Map(data.order.map((kind, rank) => [kind, rank]));
    data.known = new Map([...data.rows, ...data.worst].map((row) => [row.id, row]));
    data.cases = data.rows.length === data.total ? [...data.rows].sort((one, other) => one.index - other.index) : null;
  }
  return data;
};
/* The rows of all cases, in the order of the golden file: read once, and not before the first screen is there. */
const casesOf = async (data, query) => {
  if (!data.cases) {
    data.coming = data.coming || restOf(query);
    try {
      data.cases = await data.coming;
      data.known = new Map(data.cases.map((row) => [row.id, row]));
    } catch (error) {
      data.coming = null;
      throw error;
    }
  }
  return data.cases;
};
const restOf = async (query) => (report ? JSON.parse((await there(`rows-${+query.run}`)).textContent) : ask("/api/rows", compared(query)));
const there = async (id) => { // this script runs while the rest of its file is still read
  while (document.readyState === "loading") await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
  return document.getElementById(id);
};
const is = (row, word) => (row.is || []).includes(word);

/* The details of a case: a line of JSON in this file, read when it is wanted, or what the server says. */
const lines = [];
const detailsOf = async (query, row) => {
  if (!report) return ask("/api/case", { ...compared(query), case: row.id });
  const suite = +query.run;
  if (!lines[suite]) lines[suite] = (await there(`details-${suite}`)).textContent.split("\n");
  return JSON.parse(lines[suite][row.index]);
};
const slicesOf = async (data, query, label) => (report ? data.bySlice[label] || [] : ask("/api/slices", { ...compared(query), label }));

const go = (changes, { base, replace, keep } = {}) => {
  const target = address(changes, base);
  history[replace ? "replaceState" : "pushState"](null, "", target);
  return render({ keep });
};
const link = (changes, attributes, ...inside) => make("a", { href: address(changes, attributes.base), ...attributes, base: null }, ...inside);

const announce = (text) => { statusLine.textContent = ""; setTimeout(() => { statusLine.textContent = text; }, 30); };
const day = (iso) => (iso ? iso.slice(0, 16).replace("T", " ") : "");
const badge = (outcome) => make("span", { class: `badge is-${outcome.replace(" ", "-")}` },
  make("span", { "aria-hidden": "true" }, { passed: "✓", failed: "✗", inconclusive: "?" }[outcome] || "–"), " ", outcome);
const card = (title, kind, ...inside) => {
  const id = `title-${title.toLowerCase().replace(/\W+/g, "-")}`;
  return make("section", { class: `card ${kind || ""}`, "aria-labelledby": id }, make("h2", { id }, title), ...inside);
};
const folded = (title, kind, open, ...inside) => make("details", { class: kind, open }, make("summary", null, title), ...inside);
const problem = (text) => make("section", { class: "card empty", role: "alert" },
  make("h1", null, "That did not work"), make("p", null, text),
  make("p", null, make("button", { type: "button", class: "quiet", on: { click: () => { runs.clear(); render(); } } }, "Try again"), " ",
    make("a", { href: "#" }, live ? "All runs" : "Back to the start")));
