package host

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host/elem"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/fusion"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/nontemporal"
)

// streamAll has all results of so many bytes written past the cache until the test ends.
func streamAll(t *testing.T, from int64) {
	t.Helper()
	before := elem.StreamFrom
	t.Cleanup(func() { elem.StreamFrom = before })
	elem.StreamFrom = from
}

// needStreams skips a test where all results are written by ordinary stores.
func needStreams(t *testing.T) {
	if !nontemporal.Available() {
		t.Skip("this build or processor has no loops that write past the cache")
	}
}

// inMemory is a tensor with 64 bytes in front and behind that are no part of it, skew bytes behind the beginning of a line.
func inMemory(d dtype.DType, l shape.Layout, skew int, values ...float64) (x *tensor, memory []byte) {
	size := int(l.Numel() * d.Size())
	memory = make([]byte, size+4*nontemporal.LineBytes)
	for i := range memory {
		memory[i] = 0xA5
	}
	at := nontemporal.LineBytes + int(-uintptr(unsafe.Pointer(&memory[0]))%nontemporal.LineBytes) + skew
	x = &tensor{Operand: device.Operand{Addr: unsafe.Pointer(&memory[at]), DType: d, Layout: l}, memory: memory[at : at+size]}
	for i := range l.Numel() {
		if len(values) > 0 {
			put(x.at(i), d, values[int(i)%len(values)])
		}
	}
	return x, memory[at-nontemporal.LineBytes : at+size+nontemporal.LineBytes]
}

// streamedCase is an operator with its operands.
type streamedCase struct {
	name string
	out  dtype.DType
	in   []dtype.DType
}

// streamedCases are the operators that write large results past the cache.
func streamedCases() (cases []streamedCase) {
	for _, s := range elem.Streams {
		row, f := op.ByID(s.Id), s.F
		to := dtype.Float32
		if f >= nontemporal.Less && f <= nontemporal.GreaterEqual {
			to = dtype.Bool
		}
		cases = append(cases, streamedCase{row.Name, to, []dtype.DType{dtype.Float32, dtype.Float32}[:len(row.In)]})
		if f < nontemporal.Relu {
			cases = append(cases, streamedCase{row.Name, dtype.Float64, []dtype.DType{dtype.Float64, dtype.Float64}})
		}
	}
	for _, d := range []dtype.DType{dtype.Uint8, dtype.Float16, dtype.Float32, dtype.Float64} {
		cases = append(cases, streamedCase{"where", d, []dtype.DType{dtype.Bool, d, d}})
	}
	return append(cases, streamedCase{"cast", dtype.Int32, []dtype.DType{dtype.Float32}})
}

// Each of those operators has a kernel that writes past the cache, where the processor has such stores.
func TestStreamedKernels(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	for _, c := range streamedCases() {
		call := &device.Call{Op: op.MustByName(c.name).ID, Out: []device.Operand{{DType: c.out, Layout: dims(5)}}}
		for _, d := range c.in {
			call.In = append(call.In, device.Operand{DType: d, Layout: dims(5)})
		}
		past := elem.PastCache(elem.KernelOf(must(r.kernelFor(call)), call))
		require.Equal(t, nontemporal.Available(), past != nil, "%s of %v", c.name, c.in)
	}
}

// Results that are written past the cache have the bytes of others, wherever they begin, and whatever lies where; what is beside
// them does not change.
func TestStreamedResults(t *testing.T) {
	needStreams(t)
	values := append(ramp(200, -100, 0.75), math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 0, 3e9, -3e9)
	copies := []streamedCase{{"assign", dtype.Bool, []dtype.DType{dtype.Bool}}, {"assign", dtype.Float64, []dtype.DType{dtype.Float64}}}
	for _, threads := range []int{1, 3} {
		r := newRig(t, Config{Threads: threads})
		for _, c := range append(copies, streamedCases()...) {
			for _, n := range []int64{1, 15, 16, 17, 64, 129, 1000, 3001, 200_003} {
				for skew := range []int{0, 1, 4, 8, 60} {
					if n > 3001 && (skew > 1 || threads == 1) {
						continue // these are for the threads
					}
					for _, form := range []string{"rows", "first scalar", "last scalar", "strided", "in place"} {
						if err := compareStreamed(t, r, &c, n, skew, form, values); err != nil {
							t.Fatalf("%s of %v, %d elements, skew %d, %s, %d threads: %v", c.name, c.in, n, skew, form, threads, err)
						}
					}
				}
			}
		}
	}
}

// compareStreamed runs a call with both kinds of stores.
func compareStreamed(t *testing.T, r *rig, c *streamedCase, n int64, skew int, form string, values []float64) error {
	var results [2][]byte
	for i, from := range []int64{math.MaxInt64, 1} {
		streamAll(t, from)
		out, around := inMemory(c.out, dims(n), skew)
		call := &device.Call{Out: operands(out)}
		for j, d := range c.in {
			x, _ := inMemory(d, dims(n), (skew+8*j)%64, values[j*7:]...)
			switch {
			case form == "first scalar" && j == 0, form == "last scalar" && j == len(c.in)-1:
				x = scalar(d, dims(n), values[j+3])
			case form == "strided" && j == 0:
				l := dims(n)
				l.Strides[0] = 3
				x = place(d, l, 0, values...)
			case form == "in place" && j == len(c.in)-1 && d == c.out:
				copy(out.memory, x.memory)
				x = out
			}
			call.In = append(call.In, x.Operand)
		}
		if err := r.call(c.name, call); err != nil {
			return err
		}
		results[i] = around
	}
	for i := range results[0] {
		if results[0][i] != results[1][i] {
			return fmt.Errorf("byte %d is %d; want %d", i-nontemporal.LineBytes, results[1][i], results[0][i])
		}
	}
	return nil
}

// recorder is a kernel that remembers that it ran.
type recorder struct {
	elem.Effort
	ran *[]string
	who string
}

func (k *recorder) Run(t *engine.Threads, c *device.Call) error { return k.Elements(k, t, c) }
func (k *recorder) Part(*device.Call, int64, int64) error {
	*k.ran = append(*k.ran, k.who)
	return nil
}

// Contiguous results from a size on are written past the cache, and no others.
func TestStreamsBySize(t *testing.T) {
	streamAll(t, 64)
	var ran []string
	k := &recorder{elem.EffortOf(engine.Plain, engine.Plain, 1), &ran, "near"}
	k.Past = &recorder{elem.EffortOf(engine.Plain, engine.Plain, 1), &ran, "past"}
	spread := dims(32)
	spread.Strides[0] = 2
	for _, out := range []device.Operand{
		{DType: dtype.Float32, Layout: dims(16)},
		{DType: dtype.Float32, Layout: dims(15)},
		{DType: dtype.Uint8, Layout: dims(63)},
		{DType: dtype.Float64, Layout: dims(2, 4)},
		{DType: dtype.Float32, Layout: spread},
	} {
		require.NoError(t, k.Run(nil, &device.Call{Out: []device.Operand{out}}))
	}
	require.Equal(t, []string{"past", "near", "near", "past", "near"}, ran)
}

// Groups whose results are written past the cache have the bits of their steps.
func TestStreamedGroups(t *testing.T) {
	needStreams(t)
	streamAll(t, 1)
	fenced := 0
	for _, threads := range []int{1, 3} {
		r := newRig(t, Config{Threads: threads})
		for seed := range uint64(60) {
			g := elementwiseGraph(seed, 5+int(seed%40))
			plain, group := must(g.PlanFor(r.Composes, nil)), must(g.PlanFor(r.Composes, r.Fuses))
			want, got := planCall(plain, seed), planCall(group, seed)
			elem.StreamFrom = math.MaxInt64
			require.NoError(t, oneByOne(r, plain, want))
			elem.StreamFrom = 1
			p := must(r.Compile(&group.Plan)).(*program)
			require.NoError(t, runPlan(r, p, got))
			require.Equal(t, bytesOut(want), bytesOut(got), "seed %d, %d threads:\n%s", seed, threads, g)
			if s, ok := p.kernel.(*sequence); ok {
				for i := range s.stages {
					if f, ok := s.stages[i].kernel.(*fusion.Group); ok && f.Fence {
						fenced++
					}
				}
			}
		}
	}
	require.Positive(t, fenced)
}

// What a later step or the tail of a group reads is not written past the cache.
func TestGroupsKeepWhatTheyRead(t *testing.T) {
	streamAll(t, 1)
	r := newRig(t, Config{Threads: 1})
	compiled := func(tail bool) *fusion.Group {
		b := graph.NewBuilder()
		x, y := b.Input(typed(dtype.Float32, 100)), b.Input(typed(dtype.Float32, 100))
		v := must(b.Call(op.ByID(op.IDAdd), []graph.Value{x, y}, nil))[0]
		w := must(b.Call(op.ByID(op.IDMultiply), []graph.Value{v, y}, nil))[0]
		u := must(b.Call(op.ByID(op.IDMaximum), []graph.Value{w, y}, nil))[0]
		results := []graph.Value{v, w, u}
		if tail {
			results = append(results, must(b.Call(op.ByID(op.IDSum), []graph.Value{u}, nil))[0])
		}
		p := planFused(r.Device, b.Build(results...), true)
		return must(r.Compile(&p.Plan)).(*program).kernel.(*sequence).stages[0].kernel.(*fusion.Group)
	}
	f := compiled(true)
	require.Len(t, f.Kernels, 3)
	require.NotNil(t, f.Tail)
	require.False(t, f.Fence)

	f = compiled(false)
	for i := range f.Kernels {
		require.Equal(t, i == 2 || !nontemporal.Available(), elem.PastCache(f.Kernels[i]) == nil, "step %d", i)
	}
}

// A caller sees what its threads have written past the cache.
func TestStreamedThreads(t *testing.T) {
	needStreams(t)
	streamAll(t, 1)
	r := newRig(t, Config{Threads: 4})
	const n = 1 << 17
	x, y, out := of(dtype.Float32, dims(n)), of(dtype.Float32, dims(n), 0), of(dtype.Float32, dims(n))
	c := &device.Call{Op: op.IDAdd, In: operands(x, y), Out: operands(out), Owner: quiet{}}
	p := must(r.Compile(device.PlanOf(c)))
	row, sum := engine.Slice[float32](x.Addr, n), engine.Slice[float32](out.Addr, n)
	for turn := range 200 {
		for i := range row {
			row[i] = float32(turn + i)
		}
		r.stream.Run(p, c)
		for i, v := range sum {
			if v != float32(turn+i) {
				t.Fatalf("turn %d: element %d is %g", turn, i, v)
			}
		}
	}
}
