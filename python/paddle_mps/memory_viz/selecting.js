// What is selected on the timeline, and what the pointer and the keys do there.

const ACTIONS = { alloc: "Allocation", free: "Free", segment_alloc: "New heap", segment_free: "Heap given back", oom: "Out of memory" };

// select marks an event and perhaps a band, and shows the event if it is beside what is shown.
function select(i, stack) {
  selected.event = i;
  selected.stack = stack;
  document.querySelectorAll("#legend button").forEach((b) => b.classList.toggle("selected", b.dataset.stack === String(stack)));
  const at = position(i), span = view.to - view.from;
  if (at < view.from || at > view.to) show(at - span / 2, at + span / 2);
  else drawTimeline();
}

const timeOf = (i) => [["Event", `${i + 1} of ${count}`], ["Time", milliseconds(data.trace[i].time_us)]];

function selectEvent(i) {
  if (count === 0) return;
  i = Math.max(0, Math.min(i, count - 1));
  const e = data.trace[i], now = after[i];
  describe(ACTIONS[e.action] || e.action, [...timeOf(i), ["Size", bytes(e.size)], ["Heap", e.segment], ["Address", address(e.addr)],
    ["Stream", e.stream], ["Allocated", bytes(now.allocated)], ["Reserved", bytes(now.reserved)]], e.stack || 0);
  select(i, undefined);
}
memoryViz.selectEvent = selectEvent;

// liveAt lists the events of the allocations of a stack that were live after an event, the largest first.
function liveAt(end, stack) {
  const live = new Map();
  for (let i = 0; i <= end; i++) {
    const e = data.trace[i];
    if (e.action === "alloc") live.set(e.addr, i);
    else if (e.action === "free") live.delete(e.addr);
  }
  const of = (i) => (ranks.has(data.trace[i].stack || 0) ? data.trace[i].stack || 0 : OTHERS);
  return [...live.values()].filter((i) => of(i) === stack).sort((a, b) => data.trace[b].size - data.trace[a].size);
}

const NAMED = 6; // allocations of a band that are listed

// selectBand shows what a band consists of after an event.
function selectBand(i, stack) {
  const live = liveAt(i, stack), others = stack === OTHERS, [, low, high] = bands(i).find(([s]) => s === stack);
  const rows = live.slice(0, NAMED).map((j) => [bytes(data.trace[j].size), `event ${j + 1}, ${milliseconds(data.trace[j].time_us)}`]);
  if (live.length > NAMED) rows.push(["", `and ${live.length - NAMED} more`]);
  describe(others ? "Allocated elsewhere" : "Allocated from here", [...timeOf(i), ["Held", bytes(high - low)],
    ["At most", others ? undefined : bytes(most.get(stack))], ["Allocations", live.length], ...rows], stack,
    others ? "Other call stacks, and what was allocated before the history begins." : undefined);
  select(i, stack);
}

// ---- Pointer and keys.

const positionAt = (px) => view.from + ((px - MARGIN.left) / plot.width) * (view.to - view.from);

let press = null; // where the pointer went down, and what was shown then
timeline.onpointerdown = (event) => {
  if (event.button !== 0 || !plot) return;
  press = { x: event.offsetX, y: event.offsetY, from: view.from, to: view.to, moved: false };
  timeline.setPointerCapture(event.pointerId);
};
timeline.onpointermove = (event) => {
  if (!press) return;
  const by = event.offsetX - press.x;
  if (!press.moved && Math.hypot(by, event.offsetY - press.y) <= CLICK) return;
  press.moved = true;
  timeline.classList.add("panning");
  const shift = (by / plot.width) * (press.to - press.from);
  show(press.from - shift, press.to - shift);
};
timeline.onpointerup = () => {
  if (press && !press.moved) {
    const { event, stack } = bandAt(press.x, press.y);
    if (stack === undefined) selectEvent(event);
    else selectBand(event, stack);
  }
  timeline.onpointercancel();
};
timeline.onpointercancel = () => {
  press = null;
  timeline.classList.remove("panning");
};

// A wheel that turns sideways pans; one that turns the other way zooms about the pointer.
timeline.addEventListener("wheel", (event) => {
  if (!plot) return;
  event.preventDefault();
  const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX, span = view.to - view.from;
  if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
    const shift = (sideways / plot.width) * span;
    show(view.from + shift, view.to + shift);
  } else if (event.deltaY) {
    zoom(Math.exp(Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 200) * 0.0025), positionAt(event.offsetX));
  }
}, { passive: false });

const KEYS = {
  "+": () => zoom(0.5, middle()), "=": () => zoom(0.5, middle()), "-": () => zoom(2, middle()), 0: showAll,
  ArrowLeft: -1, ArrowRight: 1, PageUp: -Math.ceil(count / 50), PageDown: Math.ceil(count / 50), Home: -count, End: count,
};
timeline.onkeydown = (event) => {
  const step = KEYS[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (typeof step === "function") step();
  else selectEvent(Math.max(selected.event, 0) + step);
};
document.getElementById("zoom-in").onclick = KEYS["+"];
document.getElementById("zoom-out").onclick = KEYS["-"];
document.getElementById("zoom-all").onclick = showAll;
across.onchange = showAll;
withReserved.onchange = () => drawTimeline();

// ---- The page.

let pending = 0;
addEventListener("resize", () => {
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(() => { drawTimeline(); drawMap(); });
});
drawFigures();
drawLegend();
if (count) Object.assign(view, whole());
drawTimeline();
drawMap();
