// The timeline: bands of allocated memory, one for each of the largest call stacks, and the reserved memory as a line.
// Its horizontal axis is time, or the numbers of events; a part of it can be shown.
// Here is what is drawn; drawing.js and selecting.js follow.

const LAYERS = PALETTE.length; // stacks with a band of their own
const OTHERS = -1; // the band of all other stacks, and of what was allocated before the trace begins
const MARGIN = { left: 78, right: 12, top: 14, bottom: 26 }; // of the plot in the canvas, in pixels
const CLICK = 4; // pixels that the pointer may move in a click

const timeline = document.getElementById("timeline");
const across = document.getElementById("across");
const withReserved = document.getElementById("with-reserved");
const count = data.trace.length;

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

// walk calls see(i, stack, change) for each allocation of the trace and for each free of one.
function walk(see) {
  const live = new Map();
  data.trace.forEach((e, i) => {
    if (e.action === "alloc") {
      live.set(e.addr, e);
      see(i, e.stack || 0, e.size);
    } else if (e.action === "free" && live.has(e.addr)) { // else it was allocated before the trace begins
      const was = live.get(e.addr);
      live.delete(e.addr);
      see(i, was.stack || 0, -was.size);
    }
  });
}

// holdings answers the largest stacks, the most that each stack held, and what each of the largest held after each event.
function holdings() {
  const now = new Map(), most = new Map();
  walk((_, stack, change) => {
    now.set(stack, (now.get(stack) || 0) + change);
    most.set(stack, Math.max(most.get(stack) || 0, now.get(stack)));
  });
  const largest = [...most.entries()].sort((a, b) => b[1] - a[1]).slice(0, LAYERS).map(([stack]) => stack);
  const held = new Map(largest.map((stack) => [stack, new Float64Array(count)]));
  walk((i, stack, change) => { if (held.has(stack)) held.get(stack)[i] += change; });
  for (const row of held.values()) for (let i = 1; i < count; i++) row[i] += row[i - 1];
  return { largest, most, held };
}

const { after, before } = replay();
const { largest, most, held } = holdings();
largest.forEach((stack, rank) => ranks.set(stack, rank));
memoryViz.final = count ? after[count - 1] : before;

// Times never go back, so that an event can be searched by its time.
const times = Float64Array.from(data.trace, (e) => e.time_us);
for (let i = 1; i < count; i++) times[i] = Math.max(times[i], times[i - 1]);

// ---- The part that is shown: view, in the unit of the axis.

const position = (i) => (across.value === "time" ? times[i] : i);
const whole = () => ({ from: position(0), to: Math.max(position(count - 1), position(0) + 1) });
const view = { from: 0, to: 1 };
memoryViz.view = view;

// show makes the axis run from one position to another, as far as there is something.
function show(from, to) {
  const all = whole(), span = Math.min(Math.max(to - from, 2), all.to - all.from);
  view.from = Math.min(Math.max(from, all.from), all.to - span);
  view.to = view.from + span;
  drawTimeline();
}

const showAll = () => { if (count) show(whole().from, whole().to); };

// zoom makes what is shown times as long, about a position that stays where it is.
function zoom(times, about) {
  if (count) show(about - (about - view.from) * times, about + (view.to - about) * times);
}

// middle is what the buttons and keys zoom about: the selected event, if it is shown.
function middle() {
  const at = selected.event >= 0 ? position(selected.event) : NaN;
  return at >= view.from && at <= view.to ? at : (view.from + view.to) / 2;
}

// eventAt is the last event that is not behind a position.
function eventAt(where) {
  let low = 0, high = count - 1;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (position(mid) <= where) low = mid; else high = mid - 1;
  }
  return low;
}

