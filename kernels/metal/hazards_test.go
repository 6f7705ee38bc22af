package metal

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
)

// barriers runs additions of the operands at some numbers, three of them each, the result first, in one encoder. It
// reports how many barriers there were. The mock ends the process where one is missing.
func (r *rig) barriers(t *testing.T, memory []device.Operand, additions ...[3]int) int64 {
	t.Helper()
	first, _ := call(memory[0], memory[0], memory[0])
	p := r.compile(first)
	fakemetal.Reset(t)
	for _, a := range additions {
		c, _ := call(memory[a[0]], memory[a[1]], memory[a[2]])
		r.stream.Run(p, c)
	}
	r.stream.Sync(r.stream.submitted)
	require.EqualValues(t, 1, fakemetal.Count(t, "encoders"))
	return fakemetal.Count(t, "memory_barriers")
}

// TestBarriers has as many barriers as calls depend on each other, and none otherwise.
func TestBarriers(t *testing.T) {
	r := newRig(t, Config{})
	var memory []device.Operand
	for range 12 {
		memory = append(memory, r.of(random(64)...))
	}
	// Two views of one tensor that share four elements, and two that share none.
	left, right, rest := memory[0], memory[0], memory[0]
	left.Layout, right.Layout, rest.Layout = line(32), line(32), line(32)
	right.Addr = unsafe.Add(right.Addr, 28*4)
	rest.Addr = unsafe.Add(rest.Addr, 32*4)
	short := memory[1]
	short.Layout = line(32)
	for name, test := range map[string]struct {
		memory    []device.Operand
		additions [][3]int
		want      int64
	}{
		"independent":               {memory, [][3]int{{0, 8, 9}, {1, 8, 9}, {2, 9, 9}, {3, 8, 8}}, 0},
		"a chain":                   {memory, [][3]int{{0, 8, 9}, {1, 0, 9}, {2, 1, 9}, {3, 2, 8}}, 3},
		"two chains, side by side":  {memory, [][3]int{{0, 8, 9}, {1, 8, 9}, {2, 0, 8}, {3, 1, 8}, {4, 2, 8}, {5, 3, 9}}, 2},
		"two chains, one by one":    {memory, [][3]int{{0, 8, 9}, {2, 0, 8}, {1, 8, 9}, {3, 1, 8}}, 2},
		"write after read":          {memory, [][3]int{{0, 8, 9}, {8, 1, 2}}, 1},
		"write after write":         {memory, [][3]int{{0, 8, 9}, {0, 1, 2}}, 1},
		"in place":                  {memory, [][3]int{{0, 0, 9}, {0, 0, 9}, {1, 1, 9}}, 1},
		"views that share elements": {[]device.Operand{left, right, short}, [][3]int{{0, 2, 2}, {1, 2, 2}}, 1},
		"views that share none":     {[]device.Operand{left, rest, short}, [][3]int{{0, 2, 2}, {1, 2, 2}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, r.barriers(t, test.memory, test.additions...))
		})
	}
}

// TestBarriersOfPasses puts one between the passes of an operator, and none between two operators.
func TestBarriersOfPasses(t *testing.T) {
	r := newRig(t, Config{})
	b := r.bench(t)
	row := op.MustByName("sum")
	sum := func(n int64) *device.Call {
		c := &device.Call{Axes: 1, Attrs: make(op.Attrs, len(row.Attrs)), Owner: silent{}}
		c.In = []device.Operand{b.Operand(dtype.Float32, "contiguous", metaltest.Steady, n)}
		c.Out = []device.Operand{b.Operand(dtype.Float32, "contiguous", metaltest.Steady, 1)}
		return c
	}
	for n, want := range map[int64][2]int64{1 << 17: {4, 2}, 100: {2, 0}} { // dispatches of two sums, and barriers
		c, again := sum(n), sum(n)
		p, err := r.Compile(metaltest.Single(row, c))
		require.NoError(t, err)
		for _, c := range []*device.Call{c, again} {
			c.Op = row.ID
			c.Workspace, c.Scratch = b.Memory(p.(interface{ Workspace(*device.Call) int64 }).Workspace(c))
		}
		fakemetal.Reset(t)
		r.stream.Run(p, c)
		r.stream.Run(p, again)
		r.stream.Sync(r.stream.submitted)
		require.Equal(t, want, [2]int64{fakemetal.Count(t, "dispatches"), fakemetal.Count(t, "memory_barriers")}, "%d elements", n)
		require.NoError(t, p.Close())
	}
}

// TestBarriersOfPlan has none between steps that need nothing of each other.
func TestBarriersOfPlan(t *testing.T) {
	r := newRig(t, Config{})
	b := r.bench(t)
	p := &planner{t: t}
	x, out := p.value(device.Input, dtype.Float32, 64), p.value(device.Output, dtype.Float32, 64)
	var parts []value
	for range 6 {
		parts = append(parts, p.value(device.Scratch, dtype.Float32, 64))
		p.step("neg", 0, parts[len(parts)-1], x)
	}
	p.step("add", 0, out, parts[0], parts[1])
	for _, part := range parts[2:] {
		p.step("add", 0, out, out, part)
	}
	program, err := r.Compile(&p.plan)
	require.NoError(t, err)
	c := p.call(b)
	fakemetal.Reset(t)
	require.NoError(t, b.Runs(program, c).Err)
	require.EqualValues(t, 11, fakemetal.Count(t, "dispatches"))
	require.EqualValues(t, 5, fakemetal.Count(t, "memory_barriers"), "before each addition")
}

// TestManyWithoutBarrier puts one where there is no room to remember more.
func TestManyWithoutBarrier(t *testing.T) {
	r := newRig(t, Config{})
	var memory []device.Operand
	var additions [][3]int
	for i := range 38 {
		memory = append(memory, r.of(1, 2), r.of(3, 4), r.of(5, 6))
		additions = append(additions, [3]int{3 * i, 3*i + 1, 3*i + 2})
	}
	require.EqualValues(t, 1, r.barriers(t, memory, additions...), "after %d ranges that are read", mostExtents)
}

// TestSerial has no barriers and needs none.
func TestSerial(t *testing.T) {
	r := newRig(t, Config{Serial: true})
	x, y := r.of(1, 2), r.of(3, 4)
	require.Zero(t, r.barriers(t, []device.Operand{x, y}, [3]int{0, 0, 1}, [3]int{0, 0, 1}, [3]int{1, 0, 0}))
	require.Equal(t, []float32{14, 20}, floats(&y))
}

// TestLostBarrier shows that the mock gives wrong results where barriers do nothing, and the serial encoder right ones.
func TestLostBarrier(t *testing.T) {
	if !alone(t, "FAKEMETAL_DEFECT=memory_barrier_skipped") {
		return
	}
	for _, serial := range []bool{false, true} {
		t.Run(fmt.Sprint("serial ", serial), func(t *testing.T) {
			r := newRig(t, Config{Serial: serial})
			var memory []device.Operand
			var additions [][3]int
			for i := range 20 {
				memory = append(memory, r.of(0))
				additions = append(additions, [3]int{i + 1, i, i})
			}
			memory = append(memory, r.of(0))
			floats(&memory[0])[0] = 1
			barriers := r.barriers(t, memory, additions...)
			require.Equal(t, serial, barriers == 0)
			require.Equal(t, serial, floats(&memory[20])[0] == 1<<20)
		})
	}
}

// TestExtents compares ranges of views with the addresses of their elements.
func TestExtents(t *testing.T) {
	r := newRig(t, Config{})
	x := r.of(random(64)...)
	at := uintptr(x.Addr)
	require.Equal(t, extent{at, at + 256}, extentOf(&x))
	x.Layout.Strides[0] = -1
	x.Addr = unsafe.Add(x.Addr, 63*4)
	require.Equal(t, extent{at, at + 256}, extentOf(&x))
	x.Layout = line(5)
	require.Equal(t, extent{at + 252, at + 272}, extentOf(&x))
	require.Equal(t, extent{at + 128, at + 384}, linesOf(&x))
	x.Layout = line(0)
	require.Zero(t, extentOf(&x))
	s := scalar(1, 4)
	require.Zero(t, extentOf(&s))
	require.Zero(t, linesOf(&s))
}
