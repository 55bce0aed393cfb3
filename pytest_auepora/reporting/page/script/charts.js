/* Plots, drawn from the rows of the cases; a table stands behind each. */
const WIDE = 440;
const HIGH = 210;
const AXIS = { left: 44, right: 10, top: 8, bottom: 34 };
const BINS = 20;
const MOST_LISTED = 200;

const numberText = (value, time) => (value === null || value === undefined ? "n/a" : time ? `${(value * 1000).toPrecision(3)} ms` : value.toFixed(3));
const ends = (column, values) => {
  const low = column.range[0] === null ? Math.min(0, ...values) : column.range[0];
  const high = column.range[1] === null ? Math.max(...values, low) : column.range[1];
  return high > low ? [low, high] : [low, low + 1];
};
const scale = ([low, high], from, to) => (value) => from + ((value - low) / (high - low)) * (to - from);
const tickText = (value) => String(+value.toPrecision(3));
const ticks = ([low, high]) => [0, 0.5, 1].map((share) => low + share * (high - low));
const fix = (value) => value.toFixed(1);
const figure = (label, width, height, ...inside) => draw("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot", role: "img", "aria-label": label }, ...inside);
const behind = (title, heads, rows) => folded(`Table: ${title}`, "behind", false, make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title },
  make("table", null, make("caption", { class: "unseen" }, title), make("thead", null, make("tr", null, heads.map((text, i) => make("th", { scope: "col", class: i ? "number" : null }, text)))),
    make("tbody", null, rows.map(([first, ...cells]) => make("tr", null, make("th", { scope: "row" }, first), cells.map((text) => make("td", { class: "number" }, text))))))));

const xAxis = (range, x, base, name) => [
  draw("line", { x1: AXIS.left, x2: WIDE - AXIS.right, y1: base, y2: base, class: "s-line" }),
  ticks(range).map((value, i) => draw("text", { x: fix(x(value)), y: base + 14, class: "f-muted", "font-size": 11, "text-anchor": ["start", "middle", "end"][i] }, tickText(value))),
  draw("text", { x: fix((AXIS.left + WIDE - AXIS.right) / 2), y: base + 28, class: "f-muted", "font-size": 11, "text-anchor": "middle" }, name)];

/* How many cases have each score, with what was accepted as an outline. */
const histogram = (column, rows, place) => {
  const cells = rows.map((row) => (row.cells || [])[place]).filter(Boolean);
  const now = cells.map((cell) => cell[0]).filter((value) => value !== null);
  const before = cells.map((cell) => cell[4]).filter((value) => value !== null);
  if (!now.length) return null;
  const range = ends(column, [...now, ...before]);
  const bin = (value) => Math.min(BINS - 1, Math.max(0, Math.floor(((value - range[0]) / (range[1] - range[0])) * BINS)));
  const count = (values) => values.reduce((counts, value) => { counts[bin(value)] += 1; return counts; }, Array(BINS).fill(0));
  const counts = count(now);
  const earlier = before.length ? count(before) : null;
  const most = Math.max(...counts, ...(earlier || []), 1);
  const base = HIGH - AXIS.bottom;
  const x = scale(range, AXIS.left, WIDE - AXIS.right);
  const y = scale([0, most], base, AXIS.top);
  const step = (WIDE - AXIS.left - AXIS.right) / BINS;
  const outline = earlier && earlier.flatMap((n, i) => [[AXIS.left + i * step, y(n)], [AXIS.left + (i + 1) * step, y(n)]]);
  const edge = (i) => range[0] + (i / BINS) * (range[1] - range[0]);
  const name = column.time ? "seconds" : "score";
  const words = `${column.name}: distribution of the scores of ${plural(now.length, "case")}${earlier ? `, ${column.base} as an outline` : ""}`;
  return make("figure", null,
    figure(words, WIDE, HIGH,
      [...new Set([most, Math.ceil(most / 2), 0])].map((n) => [
        draw("line", { x1: AXIS.left, x2: WIDE - AXIS.right, y1: fix(y(n)), y2: fix(y(n)), class: "s-line" }),
        draw("text", { x: AXIS.left - 6, y: fix(y(n) + 4), class: "f-muted", "font-size": 11, "text-anchor": "end" }, n)]),
      counts.map((n, i) => n && draw("rect", { x: fix(AXIS.left + i * step + 1), width: fix(step - 2), y: fix(y(n)), height: fix(base - y(n)), class: "f-now" })),
      outline && draw("polyline", { points: outline.map((point) => point.map(fix).join(",")).join(" "), class: "s-base line" }),
      xAxis(range, x, base, name)),
    behind(`how many cases have each ${name} of ${column.name}`, [name, "this run", ...(earlier ? [column.base] : [])],
      counts.map((n, i) => [`${tickText(edge(i))} to ${tickText(edge(i + 1))}`, n, ...(earlier ? [earlier[i]] : [])]).filter(([, n, was]) => n || was)));
};

/* Each case by what was accepted and what is now; equal ones stand on a spiral around their point. */
const scatter = (column, rows, place, query) => {
  const pairs = rows.map((row) => [row, (row.cells || [])[place]]).filter(([, cell]) => cell && cell[0] !== null && cell[4] !== null);
  if (!pairs.length) return null;
  const range = ends(column, pairs.flatMap(([, cell]) => [cell[0], cell[4]]));
  const size = HIGH + 20;
  const base = size - AXIS.bottom;
  const inset = 12;
  const x = scale(range, AXIS.left + inset, size - AXIS.right - inset + 40);
  const y = scale(range, base - inset, AXIS.top + inset);
  const crowds = new Map();
  const spread = (cell) => {
    const key = `${cell[4].toFixed(3)} ${cell[0].toFixed(3)} ${cell[2]}`;
    const n = crowds.get(key) || 0;
    crowds.set(key, n + 1);
    const radius = 1.3 * Math.sqrt(n);
    return radius > inset - 2 ? null : [x(cell[4]) + radius * Math.cos(n * 2.39996), y(cell[0]) + radius * Math.sin(n * 2.39996)];
  };
  const shapes = { "-1": "M0 4 L-4 -3 L4 -3 Z", 0: "", 1: "M0 -4 L-4 3 L4 3 Z" };
  const tones = { "-1": "worse", 0: "same", 1: "better" };
  const dots = pairs.map(([row, cell]) => {
    const place = spread(cell);
    if (!place) return null; // the spiral is full
    const [cx, cy] = place.map(fix);
    const open = { "data-case": row.index, class: `f-${tones[cell[2]]}` };
    return cell[2] ? draw("path", { d: shapes[cell[2]], transform: `translate(${cx} ${cy})`, ...open }) : draw("circle", { cx, cy, r: 2.4, ...open });
  });
  const counts = [-1, 1, 0].map((sign) => pairs.filter(([, cell]) => cell[2] === sign).length);
  const changed = pairs.filter(([, cell]) => cell[2]).sort(([, a], [, b]) => a[2] - b[2]);
  const tip = make("p", { class: "tip", "aria-hidden": "true", hidden: true });
  const wide = size + 40;
  const picture = make("figure", { on: {
    pointerover: (event) => { const dot = event.target.closest("[data-case]"); tip.hidden = !dot; if (dot) tip.textContent = rows[+dot.dataset.case].id; },
    click: (event) => { const dot = event.target.closest("[data-case]"); if (dot) go({ case: rows[+dot.dataset.case].id }); },
  } },
  figure(`${column.name}: ${column.base} against this run, one mark a case: ${counts[0]} worse, ${counts[1]} better, ${counts[2]} the same`, wide, size,
    draw("line", { x1: fix(x(range[0])), y1: fix(y(range[0])), x2: fix(x(range[1])), y2: fix(y(range[1])), class: "s-line" }),
    draw("line", { x1: AXIS.left, x2: AXIS.left, y1: AXIS.top, y2: base, class: "s-line" }),
    draw("line", { x1: AXIS.left, x2: wide - AXIS.right, y1: base, y2: base, class: "s-line" }),
    ticks(range).map((value, i) => [
      draw("text", { x: fix(x(value)), y: base + 14, class: "f-muted", "font-size": 11, "text-anchor": ["start", "middle", "end"][i] }, tickText(value)),
      draw("text", { x: AXIS.left - 6, y: fix(y(value) + 4), class: "f-muted", "font-size": 11, "text-anchor": "end" }, tickText(value))]),
    draw("text", { x: fix((AXIS.left + wide) / 2), y: base + 28, class: "f-muted", "font-size": 11, "text-anchor": "middle" }, column.base),
    draw("text", { x: 12, y: fix(base / 2), class: "f-muted", "font-size": 11, "text-anchor": "middle", transform: `rotate(-90 12 ${fix(base / 2)})` }, "this run"),
    dots), tip);
  picture.append(behind(`cases whose ${column.name} changed`, ["case", column.base, "this run"],
    [...changed.slice(0, MOST_LISTED).map(([row, cell]) => [link({ case: row.id }, {}, row.id), numberText(cell[4], column.time), cell[1]]),
      ...(changed.length > MOST_LISTED ? [[`… and ${changed.length - MOST_LISTED} more`, "", ""]] : [])]));
  return picture;
};

/* Each metric by tabs: the distribution, and beside it what was accepted. */
const plotsCard = (data, query) => {
  const columns = data.columns.map((column, place) => ({ ...column, place, base: data.base })).filter((column) => column.measured);
  if (!columns.length || data.total < 2) return null;
  const panels = columns.map((column, i) => {
    const panel = make("div", { class: `panel ${i ? "away" : ""}`, id: `panel-${i}`, role: "tabpanel", "aria-labelledby": `tab-${i}`, tabindex: "0" });
    panel.fill = () => { // drawn when it is looked at, and its cases are there
      if (!data.cases) casesOf(data, query).then(panel.fill, () => {});
      else if (!panel.children.length)
        panel.append(make("p", { class: "panel-title" }, column.name),
          make("div", { class: "pair" }, histogram(column, data.cases, column.place), data.compared ? scatter(column, data.cases, column.place, query) : null));
    };
    return panel;
  });
  const choose = (chosen, focus) => {
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === chosen));
      tab.tabIndex = i === chosen ? 0 : -1;
      panels[i].classList.toggle("away", i !== chosen);
    });
    panels[chosen].fill();
    if (focus) tabs[chosen].focus();
  };
  const tabs = columns.map((column, i) => make("button", { type: "button", role: "tab", id: `tab-${i}`, "aria-controls": `panel-${i}`,
    on: {
      click: () => choose(i, false),
      keydown: (event) => {
        const to = { ArrowRight: i + 1, ArrowLeft: i - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        choose(to % tabs.length, true);
      },
    } }, column.name));
  choose(0, false);
  main.addEventListener("printing", () => panels.forEach((panel) => panel.fill()), { once: true });
  return card("Scores of single cases", "plots",
    make("p", { class: "key" }, make("span", { class: "now" }, "this run"), data.compared ? [make("span", { class: "base" }, data.base),
      make("span", { class: "down" }, "worse"), make("span", { class: "up" }, "better"), make("span", { class: "even" }, "the same")] : null),
    tabs.length > 1 ? make("div", { class: "tabs", role: "tablist", "aria-label": "Metric" }, tabs) : make("div", { role: "tablist", "aria-label": "Metric", class: "unseen" }, tabs),
    panels);
};

/* Each metric over the runs, oldest first; a dashed line where what the project said of the system changed. */
const historyCard = (data) => {
  const { runs: past, metrics } = data.history;
  const shown = metrics.filter((metric) => metric.values.some((value) => value !== null));
  if (past.length < 2 || !shown.length) return null;
  const changes = past.map((run, i) => [i, run.changed || []]).filter(([, changed]) => changed.length);
  const names = past.map((run) => (run.started ? day(run.started) : "this run"));
  return card(`Over the last ${past.length} full runs`, "history",
    make("div", { class: "trends" }, shown.map((metric) => trend(metric, past, names, changes))),
    changes.length ? make("ol", { class: "moves" }, changes.map(([i, changed], n) => make("li", null, make("span", { class: "chip" }, n + 1), " ",
      live && past[i].id && past[i - 1] ? link({ run: past[i].id, against: past[i - 1].id, case: "" }, {}, names[i]) : names[i], " ", changed.join("; ")))) : null);
};
const trend = (metric, past, names, changes) => {
  const width = 240;
  const x = (i) => 10 + (i / Math.max(1, past.length - 1)) * (width - 20);
  const y = (value) => 8 + (1 - value) * 64;
  const points = metric.values.map((value, i) => (value === null ? null : [x(i), y(value)]));
  const pieces = points.reduce((out, point) => { if (point) out[out.length - 1].push(point); else out.push([]); return out; }, [[]]).filter((piece) => piece.length);
  const current = past.findIndex((run) => !run.started);
  const words = `${metric.name} over ${past.length} runs, oldest first: ${metric.values.map((value, i) => `${names[i]} ${numberText(value)}`).join(", ")}`;
  return make("figure", null, make("figcaption", null, metric.name, " ", make("strong", null, numberText(metric.values[current]))),
    figure(words, width, 100,
      [0, 0.5, 1].map((value) => draw("line", { x1: 0, x2: width, y1: y(value), y2: y(value), class: "s-line" })),
      changes.map(([i], n) => [draw("line", { x1: fix(x(i) - 3), x2: fix(x(i) - 3), y1: 4, y2: 76, class: "s-unsure move" }),
        draw("text", { x: fix(x(i) - 3), y: 85, class: "f-unsure", "text-anchor": "middle", "font-size": 9 }, n + 1)]),
      pieces.map((piece) => draw("polyline", { points: piece.map((point) => point.map(fix).join(",")).join(" "), class: "s-base line" })),
      points.map((point, i) => point && draw("circle", { cx: fix(point[0]), cy: fix(point[1]), r: i === current ? 4.5 : 2, class: i === current ? "f-now" : "f-base" })),
      draw("text", { x: 2, y: 97, class: "f-muted", "font-size": 10 }, names[0].slice(0, 10)),
      draw("text", { x: width - 2, y: 97, class: "f-muted", "text-anchor": "end", "font-size": 10 }, names[names.length - 1].slice(0, 10))),
    behind(`${metric.name} in each run`, ["run", metric.name], metric.values.map((value, i) => [names[i], numberText(value)])));
};

/* A change with its 95 % interval, on one scale for all metrics; 0 is the line in the middle. */
const whisker = (interval, reach) => {
  const at = (value) => 60 + (Math.max(-reach, Math.min(reach, value)) / reach) * 56;
  const tone = { better: "better", worse: "worse" }[interval.standing] || "same";
  return draw("svg", { viewBox: "0 0 120 14", class: "whisker", "aria-hidden": "true", focusable: "false" },
    draw("line", { x1: 60, x2: 60, y1: 1, y2: 13, class: "s-line" }),
    interval.low === null ? null : draw("line", { x1: fix(at(interval.low)), x2: fix(at(interval.high)), y1: 7, y2: 7, class: `s-${tone} reach` }),
    draw("circle", { cx: fix(at(interval.value)), cy: 7, r: 3.4, class: `f-${tone}` }));
};
const reachOf = (intervals) => Math.max(0.01, ...intervals.filter((interval) => interval && !interval.time).flatMap((interval) => [interval.low, interval.high, interval.value].map((value) => Math.abs(value || 0))));
const intervalCell = (interval, reach) => make("td", { class: "interval wide" }, !interval ? null
  : interval.standing === "equal" ? make("span", { class: "muted" }, "no case differs")
  : [interval.time ? null : whisker(interval, reach), make("span", { class: { better: "better", worse: "worse" }[interval.standing] || "muted" }, interval.text)]);
