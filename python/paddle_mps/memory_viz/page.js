"use strict";
// Draws a snapshot of memory: a timeline from its trace, and a map from its segments. The data has been
// checked by the writer of the page; nothing is fetched. `memoryViz` is what tests look at.
const data = JSON.parse(document.getElementById("data").textContent);
data.segments ??= [];
data.trace ??= [];
const memoryViz = { data };

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
function bytes(n) {
  let unit = 0;
  while (Math.abs(n) >= 1024 && unit < UNITS.length - 1) { n /= 1024; unit++; }
  return `${unit === 0 ? n : n.toPrecision(4)} ${UNITS[unit]}`;
}

// element makes a node with properties and children; text is never read as markup.
function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

// The colours of the largest stacks, in the order of their bands. Any two of them are more than ten
// times as far apart in CIELAB as colours that can just be told apart; tests/browser measures it.
const PALETTE = ["#3b6fb6", "#f2a541", "#2f8f6b", "#d64f5b", "#8fc1e3", "#7a4fa3", "#c9c34a", "#e58ab8", "#8a5a3b", "#79d19c", "#1f3f66", "#f3c9a5"];
const REST = "#6e7683"; // of everything else
memoryViz.colors = [...PALETTE, REST];
const ranks = new Map(); // the place of a stack in PALETTE; the timeline fills it

// color is that of a stack; a stack without a band of its own has a paler one.
function color(stack) {
  if (ranks.has(stack)) return PALETTE[ranks.get(stack)];
  return stack > 0 ? `hsl(${(stack * 137.508) % 360} 30% 65%)` : REST;
}

// Snapshots of C programs have numbers for stacks, and no list of them.
function frames(stack) {
  if (!(stack > 0)) return [];
  return data.stacks ? data.stacks[stack - 1] : [{ name: `stack ${stack}`, filename: "", line: 0 }];
}
const where = (frame) => (frame.filename ? `${frame.filename}:${frame.line}` : "");
function title(stack) {
  const top = frames(stack)[0];
  return top ? [top.name, where(top).split("/").pop()].filter(Boolean).join(", ") : "no stack recorded";
}

const address = (n) => (n ? "0x" + n.toString(16) : undefined);
const milliseconds = (us) => `${(us / 1000).toFixed(3)} ms`;

// describe shows what is selected: rows without a value are left out.
function describe(heading, rows, stack, without = "No call stack was recorded for this.") {
  const table = element("table", {}, ...rows.filter((r) => r[1] !== undefined).map(([name, value]) =>
    element("tr", {}, element("td", {}, name), element("td", {}, String(value)))));
  const list = element("ol", { className: "stack" }, ...frames(stack).map((f) =>
    element("li", {}, f.name, element("div", { className: "where" }, where(f)))));
  const from = element("p", { className: "hint" }, stack > 0 ? "Allocated from:" : without);
  document.getElementById("detail").replaceChildren(element("h3", {}, heading), table, from, list);
}

function drawFigures() {
  const s = data.stats, events = data.trace.length;
  // Snapshots of earlier versions have no count: the events that were recorded are what is known.
  const refused = data.num_ooms ?? data.trace.filter((e) => e.action === "oom").length;
  const rows = [
    ["Allocated", bytes(s.allocated_bytes.current)], ["Peak", bytes(s.allocated_bytes.peak)], ["Reserved", bytes(s.reserved_bytes.current)],
    ["Cached", bytes(s.reserved_bytes.current - s.active_bytes.current)], ["Limit", bytes(data.limit_bytes)], ["Heaps", data.segments.length],
    ["Out of memory", refused === 1 ? "once" : refused === 0 ? "never" : `${refused} times`],
    ["Events", events + (data.trace_dropped ? ` (${data.trace_dropped} older ones dropped)` : "")]];
  document.getElementById("figures").replaceChildren(...rows.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, String(value)))));
}

