// The map of the heaps. Blocks that would be narrower than a field are drawn together.

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

