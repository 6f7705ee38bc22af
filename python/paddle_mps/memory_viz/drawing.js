// Draws the timeline.

const selected = { event: -1, stack: undefined }; // stack: of the selected band
let plot = null; // what was drawn: see layOut

// layOut picks an event for each column of pixels, the one with the most memory allocated: a peak must not fall between
// two columns.
function layOut() {
  const width = Math.max(timeline.clientWidth - MARGIN.left - MARGIN.right, 1);
  const height = Math.max(timeline.clientHeight - MARGIN.top - MARGIN.bottom, 1);
  const columns = new Int32Array(Math.floor(width));
  let next = eventAt(view.from), top = 1;
  columns.forEach((_, c) => {
    const end = eventAt(view.from + ((c + 1) / columns.length) * (view.to - view.from));
    let best = next;
    for (let i = next; i <= end; i++) {
      if (after[i].allocated > after[best].allocated) best = i;
      if (withReserved.checked) top = Math.max(top, after[i].reserved);
    }
    top = Math.max(top, after[best].allocated);
    columns[c] = best;
    next = end;
  });
  top *= 1.05;
  return {
    columns, width, height, top,
    x: (where) => MARGIN.left + ((where - view.from) / (view.to - view.from)) * width,
    y: (n) => MARGIN.top + height - (n / top) * height,
  };
}

// bands lists the bands of an event from the bottom up, as [stack, lowest byte, highest byte].
function bands(i) {
  const list = [];
  let low = 0;
  for (const stack of largest) {
    list.push([stack, low, low + held.get(stack)[i]]);
    low += held.get(stack)[i];
  }
  list.push([OTHERS, low, Math.max(after[i].allocated, low)]);
  return list;
}

// bandAt finds the event and the band under a pixel; stack is undefined above all bands.
function bandAt(px, py) {
  if (!plot) return undefined;
  const c = Math.min(Math.max(Math.floor(px - MARGIN.left), 0), plot.columns.length - 1);
  const n = ((MARGIN.top + plot.height - py) / plot.height) * plot.top;
  const event = plot.columns[c], band = bands(event).find(([, low, high]) => n >= low && n < high);
  return { event, stack: band && band[0] };
}
memoryViz.bandAt = bandAt;

// whereIs is a pixel in the middle of the band of a stack after an event; tests click there.
memoryViz.whereIs = (i, stack) => {
  const [, low, high] = bands(i).find(([s]) => s === stack);
  const c = (plot.columns.indexOf(i) + plot.columns.lastIndexOf(i)) / 2; // -1 where it has no column
  return { x: c < 0 ? undefined : MARGIN.left + c + 0.5, y: plot.y((low + high) / 2) };
};

function drawBands(g, ink) {
  const all = Array.from(plot.columns, bands);
  [...largest, OTHERS].forEach((stack, l) => {
    const { left } = MARGIN, path = new Path2D();
    all.forEach((b, c) => { path.lineTo(left + c, plot.y(b[l][2])); path.lineTo(left + c + 1, plot.y(b[l][2])); });
    for (let c = all.length - 1; c >= 0; c--) { path.lineTo(left + c + 1, plot.y(all[c][l][1])); path.lineTo(left + c, plot.y(all[c][l][1])); }
    path.closePath();
    g.globalAlpha = selected.stack === undefined || selected.stack === stack ? 1 : 0.35;
    g.fillStyle = stack === OTHERS ? REST : color(stack);
    g.fill(path);
    g.globalAlpha = 1;
    if (selected.stack !== stack) return;
    g.strokeStyle = ink;
    g.lineWidth = 1;
    g.stroke(path);
  });
}

function drawReserved(g, ink) {
  g.beginPath();
  plot.columns.forEach((i, c) => { g.lineTo(MARGIN.left + c, plot.y(after[i].reserved)); g.lineTo(MARGIN.left + c + 1, plot.y(after[i].reserved)); });
  g.strokeStyle = ink;
  g.lineWidth = 1.5;
  g.stroke();
}

// drawSizes labels round sizes: multiples of the power of two that makes 2 to 5 of them.
function drawSizes(g) {
  const step = 2 ** Math.round(Math.log2(plot.top / 3.5));
  g.textAlign = "right";
  g.textBaseline = "middle";
  memoryViz.sizes = [];
  for (let n = 0; n < plot.top; n += step) {
    const y = plot.y(n);
    g.globalAlpha = 0.18;
    g.fillRect(MARGIN.left, Math.round(y), plot.width, 1);
    g.globalAlpha = 0.85;
    g.fillText(bytes(n), MARGIN.left - 8, y);
    memoryViz.sizes.push({ y, text: bytes(n) });
  }
}

// drawAxis labels round times, or numbers of events, about every 110 pixels.
function drawAxis(g) {
  const span = view.to - view.from, rough = span / Math.max(plot.width / 110, 1), ten = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 5, 10].map((m) => m * ten).find((s) => s >= rough);
  const byTime = across.value === "time";
  if (!byTime) step = Math.max(Math.round(step), 1);
  const [unit, name] = !byTime ? [1, ""] : view.to >= 1e6 ? [1e6, " s"] : view.to >= 1e3 ? [1e3, " ms"] : [1, " µs"];
  const digits = Math.max(Math.ceil(-Math.log10(step / unit) - 1e-9), 0);
  g.textAlign = "center";
  g.textBaseline = "top";
  memoryViz.ticks = [];
  const first = byTime ? 0 : 1; // events are numbered from 1
  for (let k = Math.ceil((view.from + first) / step); k * step - first <= view.to; k++) {
    const at = plot.x(k * step - first), text = ((k * step) / unit).toFixed(digits) + name;
    g.globalAlpha = 0.4;
    g.fillRect(at, MARGIN.top + plot.height, 1, 5);
    g.globalAlpha = 0.85;
    const half = g.measureText(text).width / 2; // the label may not leave the canvas
    g.fillText(text, Math.min(at, timeline.clientWidth - half - 2), MARGIN.top + plot.height + 8);
    memoryViz.ticks.push(text);
  }
  g.globalAlpha = 1;
}

// drawMarks draws what is at one event: allocations that failed, and the selection.
function drawMarks(g, ink) {
  const mark = (i, width, style) => {
    const at = plot.x(position(i));
    if (at < MARGIN.left - 1 || at > MARGIN.left + plot.width + 1) return;
    g.fillStyle = style;
    g.fillRect(at - width / 2, MARGIN.top, width, plot.height);
  };
  data.trace.forEach((e, i) => { if (e.action === "oom") mark(i, 2, "hsl(0 80% 50%)"); });
  if (selected.event >= 0) mark(selected.event, 1, ink);
}

function drawTimeline() {
  const ratio = window.devicePixelRatio || 1;
  timeline.width = timeline.clientWidth * ratio;
  timeline.height = timeline.clientHeight * ratio;
  const g = timeline.getContext("2d"), ink = getComputedStyle(document.body).color;
  g.scale(ratio, ratio);
  g.font = "12px system-ui, sans-serif";
  g.fillStyle = ink;
  if (count === 0) {
    g.fillText("No history was recorded: call record_memory_history first.", 16, 28);
    return;
  }
  plot = layOut();
  drawBands(g, ink);
  if (withReserved.checked) drawReserved(g, ink);
  g.fillStyle = ink;
  drawSizes(g);
  drawAxis(g);
  drawMarks(g, ink);
}

function drawLegend() {
  document.getElementById("legend").replaceChildren(...largest.map((stack) => {
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = color(stack);
    const button = element("button", { type: "button", title: title(stack) }, swatch,
      element("span", { className: "name" }, title(stack)), element("span", { className: "bytes" }, `at most ${bytes(most.get(stack))}`));
    button.dataset.stack = stack;
    button.onclick = () => selectBand(held.get(stack).indexOf(most.get(stack)), stack);
    return element("li", {}, button);
  }));
}

