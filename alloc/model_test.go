package alloc

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// The model is a list of claims: ranges of heaps that are live, or that a stream will still touch.
// A new block may overlap no live claim, and a claim of a stream only if it is for that stream and
// says so in After.
type claim struct {
	heap   device.Heap
	lo, hi int64
	block  *Block // of a live claim
	use    Use    // of any other
}

// step is one call. Steps mean something in any state, so that failing programs can be shortened.
type step struct {
	kind   string
	size   int64
	pick   int // which live block
	stream int // -1: none
	extra  int // a second stream in uses; -1: none
	late   uint64
}

func (s step) String() string {
	return fmt.Sprintf("{%q, %d, %d, %d, %d, %d},", s.kind, s.size, s.pick, s.stream, s.extra, s.late)
}

type model struct {
	a       *Allocator
	source  *fakeSource
	clock   fakeClock
	streams [3]*fakeStream
	claims  []claim
}

const modelHard = 96 << 20

func newModel(blind bool) *model {
	m := &model{source: &fakeSource{blind: blind}}
	for i := range m.streams {
		m.streams[i] = &fakeStream{}
	}
	m.a = New(Config{Source: m.source, Hard: modelHard, Soft: modelHard / 2, MaxAge: time.Second, Now: m.clock.now})
	return m
}

func (m *model) stream(i int) device.Stream {
	if i < 0 {
		return nil
	}
	return m.streams[i]
}

func (m *model) run(s step) error {
	switch s.kind {
	case "alloc":
		return m.alloc(s)
	case "free":
		m.free(s)
	case "done":
		st := m.streams[s.stream]
		st.finish(min(st.done.Load()+s.late, st.submitted.Load()))
	case "age":
		m.clock.ns.Add(s.size)
		m.a.Age()
	case "empty":
		m.a.EmptyCache()
	}
	return nil
}

func (m *model) alloc(s step) error {
	b, err := m.a.Alloc(s.size, m.stream(s.stream))
	if err != nil {
		if status.CodeOf(err) != status.OutOfMemory {
			return err
		}
		return m.full(s.size, err)
	}
	if b.Size < s.size || b.Size >= s.size+Alignment || b.Requested != s.size {
		return fmt.Errorf("%d bytes gave a block of %d for %d", s.size, b.Size, b.Requested)
	}
	if uintptr(b.Addr)%Alignment != 0 || b.Offset%Alignment != 0 {
		return fmt.Errorf("block at %p is not aligned", b.Addr)
	}
	for _, c := range m.claims {
		if c.heap != b.Heap || c.hi <= b.Offset || b.Offset+b.Size <= c.lo {
			continue
		}
		if c.block != nil {
			return fmt.Errorf("block at %d overlaps a live one at %d", b.Offset, c.lo)
		}
		if c.use.Ticket > c.use.Stream.Done() && (c.use.Stream != m.stream(s.stream) || b.After < c.use.Ticket) {
			return fmt.Errorf("block at %d overlaps one in use until %d", b.Offset, c.use.Ticket)
		}
	}
	m.claims = append(m.claims, claim{heap: b.Heap, lo: b.Offset, hi: b.Offset + b.Size, block: b})
	return nil
}

// full checks that an allocation was refused rightly. All streams have been waited for, so that
// there is room for a heap of the request's length unless live blocks keep other heaps.
func (m *model) full(size int64, err error) error {
	held := map[device.Heap]bool{}
	kept := int64(0)
	for _, c := range m.claims {
		if c.block != nil && !held[c.heap] {
			held[c.heap] = true
			kept += c.heap.(*fakeHeap).size
		}
	}
	if kept+pages(size) <= modelHard {
		return fmt.Errorf("refused with %d bytes kept: %w", kept, err)
	}
	return nil
}

func (m *model) free(s step) {
	live := m.liveClaims()
	if len(live) == 0 {
		return
	}
	c := &m.claims[live[s.pick%len(live)]]
	var uses []Use
	for _, i := range []int{s.stream, s.extra} {
		if i >= 0 {
			uses = append(uses, Use{m.streams[i], m.streams[i].submit()})
		}
	}
	b := c.block
	c.block = nil
	c.use = Use{m.streams[0], 0}
	for _, u := range uses {
		m.claims = append(m.claims, claim{heap: c.heap, lo: c.lo, hi: c.hi, use: u})
	}
	m.a.Free(b, uses)
}

func (m *model) liveClaims() []int {
	var live []int
	for i, c := range m.claims {
		if c.block != nil {
			live = append(live, i)
		}
	}
	return live
}

// verify compares the allocator with the model and with itself.
func (m *model) verify() error {
	kept := m.claims[:0]
	sum := int64(0)
	for _, c := range m.claims {
		if c.block != nil {
			sum += c.hi - c.lo
		} else if c.use.Ticket <= c.use.Stream.Done() {
			continue
		}
		kept = append(kept, c)
	}
	m.claims = kept
	if err := check(m.a); err != nil {
		return err
	}
	if s := m.a.Stats(); s.Allocated.Current != sum || s.Reserved.Current != m.source.bytes || s.Reserved.Current > modelHard {
		return fmt.Errorf("allocated %d, reserved %d; model has %d, source %d",
			s.Allocated.Current, s.Reserved.Current, sum, m.source.bytes)
	}
	return m.verifyFind()
}

func (m *model) verifyFind() error {
	if m.source.blind {
		return nil
	}
	for _, c := range m.claims {
		if c.block == nil {
			continue
		}
		p := unsafe.Add(c.block.Addr, c.block.Size/3)
		if b, at, ok := m.a.find(p); !ok || b != c.block || at != c.block.Size/3 {
			return fmt.Errorf("find at %d of %d: %t, %d", c.lo, c.block.Size/3, ok, at)
		}
	}
	return nil
}

// play runs a program on a fresh allocator and answers the first error.
func play(steps []step, blind bool) (err error) {
	m := newModel(blind)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	for i, s := range steps {
		if err := m.run(s); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if err := m.verify(); err != nil {
			return fmt.Errorf("after step %d: %w", i, err)
		}
	}
	for _, i := range m.liveClaims() {
		m.a.Free(m.claims[i].block, nil)
	}
	if err := m.a.Close(); err != nil {
		return err
	}
	if m.source.open != 0 {
		return fmt.Errorf("%d heaps are open after Close", m.source.open)
	}
	return nil
}

// program makes random steps. Sizes are spread over orders of magnitude and often repeated, as
// those of tensors are.
func program(r *rand.Rand, n int, most uint) []step {
	sizes := make([]int64, 6)
	for i := range sizes {
		sizes[i] = 1 + r.Int64N(1<<(8+r.UintN(most-8)))
	}
	kinds := []string{"alloc", "alloc", "alloc", "alloc", "free", "free", "free", "done", "age", "empty"}
	steps := make([]step, n)
	for i := range steps {
		s := step{
			kind: kinds[r.IntN(len(kinds))], pick: r.IntN(1 << 20), stream: r.IntN(4) - 1, extra: r.IntN(8) - 5,
			late: r.Uint64N(10), size: sizes[r.IntN(len(sizes))],
		}
		if r.IntN(3) == 0 {
			s.size = 1 + r.Int64N(1<<(8+r.UintN(most-8)))
		}
		if s.kind == "empty" && r.IntN(4) != 0 {
			s.kind = "alloc"
		}
		if s.kind == "done" {
			s.stream = max(s.stream, 0)
		}
		if s.kind == "age" {
			s.size = r.Int64N(int64(time.Second))
		}
		s.extra = max(s.extra, -1)
		steps[i] = s
	}
	return steps
}

// shrink removes steps as long as the program still fails.
func shrink(steps []step, blind bool) []step {
	for width := len(steps) / 2; width > 0; width /= 2 {
		for at := 0; at+width <= len(steps); {
			shorter := append(append([]step{}, steps[:at]...), steps[at+width:]...)
			if play(shorter, blind) != nil {
				steps = shorter
			} else {
				at += width
			}
		}
	}
	return steps
}

func TestModel(t *testing.T) {
	for _, c := range []struct {
		name            string
		blind           bool
		programs, steps int
		most            uint // log2 of the longest request
	}{
		{"small blocks", false, 8, 400, 14},
		{"mixed blocks", false, 8, 400, 24},
		{"more than fits", true, 40, 400, 27},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.programs {
				seed := uint64(i) + uint64(c.most)<<32
				steps := program(rand.New(rand.NewPCG(seed, 1)), c.steps, c.most)
				if play(steps, c.blind) == nil {
					continue
				}
				steps = shrink(steps, c.blind)
				for _, s := range steps {
					t.Log(s)
				}
				t.Fatalf("seed %#x, shrunk to %d steps: %v", seed, len(steps), play(steps, c.blind))
			}
		})
	}
}
