"use strict";
// Draws a snapshot of memory: a timeline from its trace, and a map from its segments. The data has been
// checked by the command that made the page; nothing is fetched. `memoryViz` is what tests look at.
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

const hue = (stack) => (stack * 137.508) % 360;
const color = (stack) => (stack ? `hsl(${hue(stack)} 55% 55%)` : "hsl(215 15% 55%)");
// Snapshots of C programs have numbers for stacks, and no list of them.
const frames = (stack) => (!stack ? [] : data.stacks ? data.stacks[stack - 1] : [{ name: `stack ${stack}`, filename: "", line: 0 }]);
const where = (frame) => (frame.filename ? `${frame.filename}:${frame.line}` : "");
function title(stack) {
  const top = frames(stack)[0];
  return top ? [top.name, where(top).split("/").pop()].filter(Boolean).join(", ") : "no stack recorded";
}

// ---- What is selected.

function describe(heading, rows, stack) {
  const table = element("table", {}, ...rows.filter((r) => r[1] !== undefined).map(([name, value]) =>
    element("tr", {}, element("td", {}, name), element("td", {}, String(value)))));
  const list = element("ol", { className: "stack" }, ...frames(stack).map((f) =>
    element("li", {}, f.name, element("div", { className: "where" }, where(f)))));
  const from = element("p", { className: "hint" }, stack ? "Allocated from:" : "No call stack was recorded for this.");
  document.getElementById("detail").replaceChildren(element("h3", {}, heading), table, from, list);
}

const address = (n) => (n ? "0x" + n.toString(16) : undefined);

// ---- The map. Blocks that would be narrower than a field are drawn together.

const NARROW = 2; // pixels
const STATES = { active_allocated: "allocated", active_pending_free: "freed, a stream still uses it", inactive: "free" };
const CLASSES = { active_allocated: "live", active_pending_free: "pending", inactive: "inactive" };

// What a block's colour stands for; undefined leaves it to the style of its state.
const COLORINGS = {
  stack: (b) => (b.state === "active_allocated" ? color(b.stack || 0) : undefined),
  state: (b) => (b.state === "active_allocated" ? "var(--live)" : undefined),
  stream: (b) => (b.stream === undefined ? (b.state === "active_allocated" ? color(0) : undefined) : color(b.stream + 1)),
};
const coloring = document.getElementById("coloring");
coloring.onchange = () => drawMap();

// dominant answers the block that stands for a field: its largest live one, or else its first.
function dominant(segment, field) {
  const live = field.blocks.map((i) => segment.blocks[i]).filter((b) => b.state === "active_allocated");
  return live.reduce((best, b) => (b.size > best.size ? b : best), live[0] || segment.blocks[field.blocks[0]]);
}

function runs(segment, width) {
  const least = (segment.total_size / width) * NARROW, fields = [];
  let offset = 0, open = null;
  segment.blocks.forEach((block, index) => {
    const narrow = block.size < least;
    if (narrow && open) {
      open.size += block.size;
      open.blocks.push(index);
      if (open.size >= least) open = null;
    } else {
      const field = { offset, size: block.size, blocks: [index] };
      fields.push(field);
      open = narrow ? field : null;
    }
    offset += block.size;
  });
  return fields;
}

function showField(segment, field, button) {
  document.querySelectorAll(".block.selected").forEach((b) => b.classList.remove("selected"));
  button.classList.add("selected");
  if (field.blocks.length > 1) {
    const live = field.blocks.map((i) => segment.blocks[i]).filter((b) => b.state === "active_allocated");
    describe(`${field.blocks.length} small blocks`, [["Heap", segment.id], ["Bytes", bytes(field.size)],
      ["Allocated", `${live.length} blocks, ${bytes(live.reduce((sum, b) => sum + b.size, 0))}`]], dominant(segment, field).stack || 0);
    return;
  }
  const b = segment.blocks[field.blocks[0]];
  describe("Block", [["State", STATES[b.state]], ["Size", `${bytes(b.size)} (${b.size} bytes)`],
    ["Requested", b.requested_size ? `${b.requested_size} bytes` : undefined], ["Heap", segment.id],
    ["Offset", field.offset], ["Address", address(b.address)], ["Stream", b.stream]], b.stack || 0);
}

function drawMap() {
  const map = document.getElementById("map");
  const width = map.clientWidth || 800;
  map.replaceChildren(...data.segments.map((segment) => {
    const bar = element("div", { className: "bar" });
    for (const field of runs(segment, width)) {
      const b = dominant(segment, field), many = field.blocks.length > 1;
      const state = CLASSES[b.state] + (many ? " mixed" : "");
      const button = element("button", { className: `block ${state}`, type: "button",
        title: many ? `${field.blocks.length} blocks, ${bytes(field.size)}` : `${STATES[b.state]}, ${bytes(b.size)}` });
      button.dataset.blocks = field.blocks.length;
      button.dataset.first = field.blocks[0];
      button.style.left = `${(field.offset / segment.total_size) * 100}%`;
      button.style.width = `${(field.size / segment.total_size) * 100}%`;
      button.style.background = COLORINGS[coloring.value](b) || "";
      button.onclick = () => showField(segment, field, button);
      bar.append(button);
    }
    const label = element("div", { className: "label" },
      element("span", {}, `heap ${segment.id}`),
      element("span", {}, `${bytes(segment.allocated_size)} allocated of ${bytes(segment.total_size)}, ${segment.blocks.length} blocks`));
    const heap = element("div", { className: "heap" }, label, bar);
    heap.dataset.heap = segment.id;
    return heap;
  }));
  if (data.segments.length === 0) map.append(element("p", { className: "hint" }, "No memory is reserved."));
}

// ---- The timeline.

// replay walks the trace and answers, after each event, what was allocated and reserved. What there was
// before the trace begins follows from what there is at its end.
function replay() {
  let allocated = 0, reserved = 0;
  const after = data.trace.map((e) => {
    if (e.action === "alloc") allocated += e.size;
    if (e.action === "free") allocated -= e.size;
    if (e.action === "segment_alloc") reserved += e.size;
    if (e.action === "segment_free") reserved -= e.size;
    return { allocated, reserved };
  });
  const before = { allocated: data.stats.allocated_bytes.current - allocated, reserved: data.stats.reserved_bytes.current - reserved };
  for (const a of after) { a.allocated += before.allocated; a.reserved += before.reserved; }
  return { after, before };
}

const LAYERS = 12; // stacks with a layer of their own

// layers answers the bytes of the largest stacks after each of some events. It walks the trace twice, so
// drawTimeline asks again only when the width has changed.
function layers(steps) {
  const held = new Map(), live = new Map(), most = new Map();
  const apply = (e) => {
    if (e.action === "alloc") {
      live.set(e.addr, e);
      held.set(e.stack || 0, (held.get(e.stack || 0) || 0) + e.size);
      most.set(e.stack || 0, Math.max(most.get(e.stack || 0) || 0, held.get(e.stack || 0)));
    } else if (e.action === "free") {
      const was = live.get(e.addr);
      if (!was) return; // allocated before the trace begins
      live.delete(e.addr);
      held.set(was.stack || 0, held.get(was.stack || 0) - was.size);
    }
  };
  data.trace.forEach(apply);
  const largest = [...most.entries()].sort((a, b) => b[1] - a[1]).slice(0, LAYERS).map(([stack]) => stack);
  held.clear();
  live.clear();
  const rows = [];
  let next = 0;
  data.trace.forEach((e, i) => {
    apply(e);
    while (next < steps.length && steps[next] === i) { rows.push(largest.map((s) => held.get(s) || 0)); next++; }
  });
  return { largest, most, rows };
}

const { after, before } = replay();
memoryViz.final = after.length ? after[after.length - 1] : before;
let selectedEvent = -1;
let drawn = null; // what drawTimeline has worked out for a width

function workOut(width) {
  const columns = Math.min(after.length, Math.max(2, Math.floor(width)));
  const steps = Array.from({ length: columns }, (_, c) => Math.round((c / Math.max(columns - 1, 1)) * (after.length - 1)));
  const top = after.reduce((most, a) => Math.max(most, a.reserved, a.allocated), 1) * 1.05;
  const refused = data.trace.flatMap((e, i) => (e.action === "oom" ? [i] : []));
  return { width, steps, top, refused, ...layers(steps) };
}

// grid draws the lines of round sizes: the power of two that makes 2 to 4 of them.
function grid(g, top, width, y) {
  const step = 2 ** Math.round(Math.log2(top / 3));
  for (let n = step; n < top; n += step) {
    g.globalAlpha = 0.15;
    g.fillRect(0, y(n), width, 1);
    g.globalAlpha = 0.75;
    g.fillText(bytes(n), 8, y(n) - 4);
  }
  g.globalAlpha = 1;
}

function drawTimeline() {
  const canvas = document.getElementById("timeline"), ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const g = canvas.getContext("2d");
  g.scale(ratio, ratio);
  const style = getComputedStyle(document.body), ink = style.color;
  g.font = "12px system-ui, sans-serif";
  if (after.length === 0) {
    g.fillStyle = ink;
    g.fillText("No history was recorded: call record_memory_history first.", 16, 28);
    return;
  }
  if (drawn === null || drawn.width !== width) {
    drawn = workOut(width);
    drawLegend(drawn.largest, drawn.most);
  }
  const { steps, top, refused, rows } = drawn;
  const x = (i) => (after.length === 1 ? 0 : (i / (after.length - 1)) * width);
  const y = (n) => height - (n / top) * height;
  const area = (low, high, fill) => {
    g.beginPath();
    steps.forEach((i, c) => g.lineTo(x(i), y(high(c, i))));
    [...steps.keys()].reverse().forEach((c) => g.lineTo(x(steps[c]), y(low(c, steps[c]))));
    g.fillStyle = fill;
    g.fill();
  };
  area(() => 0, (c, i) => after[i].allocated, color(0));
  const below = rows.map(() => 0);
  drawn.largest.forEach((stack, l) => {
    const low = [...below];
    rows.forEach((row, c) => { below[c] += row[l]; });
    area((c) => low[c], (c) => below[c], color(stack));
  });
  g.beginPath();
  steps.forEach((i) => g.lineTo(x(i), y(after[i].reserved)));
  g.strokeStyle = ink;
  g.lineWidth = 1.5;
  g.stroke();
  g.fillStyle = ink;
  grid(g, top, width, y);
  g.fillStyle = "hsl(0 80% 50%)";
  for (const i of refused) g.fillRect(x(i) - 1, 0, 2, height);
  if (selectedEvent >= 0) {
    g.fillStyle = ink;
    g.fillRect(x(selectedEvent) - 0.5, 0, 1, height);
  }
  memoryViz.eventAt = (px) => Math.round((px / width) * (after.length - 1));
}

function drawLegend(largest, most) {
  document.getElementById("legend").replaceChildren(...largest.map((stack) => {
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = color(stack);
    const button = element("button", { type: "button", title: title(stack) }, swatch,
      element("span", { className: "name" }, title(stack)), element("span", { className: "bytes" }, `at most ${bytes(most.get(stack))}`));
    button.onclick = () => describe("Allocated from here", [["At most", bytes(most.get(stack))]], stack);
    return element("li", {}, button);
  }));
}

const ACTIONS = { alloc: "Allocation", free: "Free", segment_alloc: "New heap", segment_free: "Heap given back", oom: "Out of memory" };

function selectEvent(i) {
  if (after.length === 0) return;
  selectedEvent = Math.max(0, Math.min(i, after.length - 1));
  const e = data.trace[selectedEvent], now = after[selectedEvent];
  describe(ACTIONS[e.action] || e.action, [["Event", `${selectedEvent + 1} of ${after.length}`], ["Time", `${(e.time_us / 1000).toFixed(3)} ms`],
    ["Size", bytes(e.size)], ["Heap", e.segment], ["Address", address(e.addr)], ["Stream", e.stream],
    ["Allocated", bytes(now.allocated)], ["Reserved", bytes(now.reserved)]], e.stack || 0);
  drawTimeline();
}
memoryViz.selectEvent = selectEvent;

const timeline = document.getElementById("timeline");
timeline.onclick = (event) => memoryViz.eventAt && selectEvent(memoryViz.eventAt(event.offsetX));
timeline.onkeydown = (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -Math.ceil(after.length / 50), PageDown: Math.ceil(after.length / 50) }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  selectEvent((selectedEvent < 0 ? 0 : selectedEvent) + step);
};

// ---- The page.

function drawFigures() {
  const s = data.stats, rows = [
    ["Allocated", bytes(s.allocated_bytes.current)], ["Peak", bytes(s.allocated_bytes.peak)], ["Reserved", bytes(s.reserved_bytes.current)],
    ["Cached", bytes(s.reserved_bytes.current - s.active_bytes.current)], ["Limit", bytes(data.limit_bytes)], ["Heaps", data.segments.length],
    ["Out of memory", data.num_ooms],
    ["Events", data.trace.length + (data.trace_dropped ? ` (${data.trace_dropped} older ones dropped)` : "")]];
  document.getElementById("figures").replaceChildren(...rows.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, String(value)))));
}

function draw() { drawFigures(); drawTimeline(); drawMap(); }
let pending = 0;
addEventListener("resize", () => { cancelAnimationFrame(pending); pending = requestAnimationFrame(draw); });
draw();
