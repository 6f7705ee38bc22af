package metal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
)

// planner makes plans by hand. Values are put one behind the other, as close as PlanAlign lets them.
type planner struct {
	t     testing.TB
	plan  device.Plan
	sizes [3]int64 // bytes of the input, of the output and of the arena so far
}

// value is a tensor of a plan.
type value struct {
	device.Operand
	device.Slot
}

// value makes room for a contiguous tensor. All inputs of a plan lie in one, as do all outputs.
func (p *planner) value(space device.Space, d dtype.DType, dims ...int64) value {
	o := device.Operand{DType: d, Layout: shape.Contiguous(metaltest.ShapeAs(p.t, dims...))}
	size := &p.sizes[space-device.Input]
	v := value{o, device.Slot{Space: space, Offset: *size}}
	*size += (o.Numel()*d.Size() + device.PlanAlign - 1) / device.PlanAlign * device.PlanAlign
	p.plan.Arena = p.sizes[device.Scratch-device.Input]
	return v
}

// scalar is a number that fills a shape.
func (p *planner) scalar(v float64, d dtype.DType, dims ...int64) value {
	word := new([8]byte)
	metaltest.Put(word[:d.Size()], d, v)
	return value{device.Operand{Addr: unsafe.Pointer(word), DType: d, Layout: shape.Layout{Shape: metaltest.ShapeAs(p.t, dims...)}}, device.Slot{}}
}

// turned is a matrix with its axes exchanged.
func (v value) turned() value {
	v.Layout = v.Permute([]int64{1, 0})
	return v
}

// part is a line of n elements of a tensor from an element on.
func (v value) part(from, n int64) value {
	v.Layout = line(n)
	v.Offset += from * v.DType.Size()
	return v
}

// stretched is a tensor broadcast to a shape.
func (v value) stretched(dims ...int64) value {
	s := shape.Shape{Rank: len(dims)}
	copy(s.Dims[:], dims)
	v.Layout = v.BroadcastTo(&s)
	return v
}

// step adds an operator.
func (p *planner) step(name string, axes op.Axes, out value, in ...value) {
	row := op.MustByName(name)
	c := &device.Call{Op: row.ID, Axes: axes, Attrs: metaltest.Attributes(row, out.DType), Out: []device.Operand{out.Operand}}
	s := device.Step{Call: c, Out: []device.Slot{out.Slot}}
	for _, v := range in {
		c.In, s.In = append(c.In, v.Operand), append(s.In, v.Slot)
	}
	p.plan.Steps = append(p.plan.Steps, s)
}

// fifty is a plan of 50 steps: elementwise ones of several dtypes, on lines, on turned matrices, on scalars, on
// what repeats, on memory that begins between two places that can be bound, and in place; reductions,
// softmax and products of matrices or elements.
func fifty(t testing.TB, product string) *planner {
	p := &planner{t: t}
	f32, f16, i32 := dtype.Float32, dtype.Float16, dtype.Int32
	x, y := p.value(device.Input, f32, 8, 8), p.value(device.Input, f32, 8, 8)
	scratch := func(d dtype.DType, dims ...int64) value { return p.value(device.Scratch, d, dims...) }
	for round := range 5 {
		a, b := scratch(f32, 8, 8), scratch(f32, 8, 8)
		p.step("add", 0, a, x, y.turned())
		p.step("tanh", 0, a, a)
		p.step(product, 0, b, a, x)
		sum, half := scratch(f32, 8, 1), scratch(f16, 8, 8)
		p.step("sum", 0b10, sum, b)
		p.step("subtract", 0, b, b, sum.stretched(8, 8))
		p.step("cast", 0, half, b)
		odd := scratch(f16, 63)
		p.step("neg", 0, odd, half.part(1, 63))
		whole := scratch(i32, 63)
		p.step("cast", 0, whole, odd)
		p.step("floor_divide", 0, whole, whole, p.scalar(3, i32, 63))
		if round == 4 {
			y = p.value(device.Output, f32, 8, 8)
		} else {
			y = scratch(f32, 8, 8)
		}
		p.step("softmax", 0b10, y, b)
		x = a
	}
	require.Len(t, p.plan.Steps, 50)
	return p
}

// call is a call of the plan, with inputs and outputs off the granule but at a multiple of PlanAlign.
func (p *planner) call(b *metaltest.Bench) *device.Call {
	c := &device.Call{}
	for i, os := range []*[]device.Operand{&c.In, &c.Out} {
		at, h := b.Memory(p.sizes[i] + 256)
		memory := h.Bytes()
		g := rand.New(rand.NewPCG(1, 2))
		for n := int64(device.PlanAlign); i == 0 && n+4 <= int64(len(memory)); n += 4 {
			metaltest.Put(memory[n:n+4], dtype.Float32, g.NormFloat64())
		}
		*os = []device.Operand{{Addr: unsafe.Add(at, device.PlanAlign), Heap: h, DType: dtype.Uint8, Layout: line(p.sizes[i])}}
	}
	return c
}

// oneByOne runs the steps as calls of their own.
func (p *planner) oneByOne(b *metaltest.Bench, run *device.Call) {
	run.Workspace, run.Scratch = b.Memory(p.plan.Arena)
	for i := range p.plan.Steps {
		c := &device.Call{}
		p.plan.Steps[i].Bind(run, c)
		got := b.ByGPU(op.ByID(c.Op), c)
		require.NoError(b.T, got.Err)
	}
}

func eachWay(t *testing.T, test func(t *testing.T, b *metaltest.Bench)) {
	for name, prefer := range map[string]Prefer{"shaders": PreferShaders, "graphs": PreferGraphs} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{Prefer: prefer})
			if prefer == PreferGraphs {
				needGraphs(t, r.Device)
			}
			test(t, r.bench(t))
		})
	}
}

// A plan of 50 steps in one run gives what its steps give one by one, to the last bit.
func TestPlanOfFifty(t *testing.T) {
	eachWay(t, func(t *testing.T, b *metaltest.Bench) {
		p := fifty(t, "matmul")
		want := p.call(b)
		p.oneByOne(b, want)
		program, err := b.Compile(&p.plan)
		require.NoError(t, err)
		require.Positive(t, program.(device.Sized).Bytes())
		got := p.call(b)
		result := b.Runs(program, got)
		require.NoError(t, result.Err)
		require.Equal(t, metaltest.Contents(&want.Out[0]), result.Bytes)
		require.NotEqual(t, make([]byte, len(result.Bytes)), result.Bytes)
	})
}

// A warm run of a plan of shaders makes no buffer, no garbage, and one dispatch a step.
func TestPlanWarm(t *testing.T) {
	r := newRig(t, Config{})
	b := r.bench(t)
	p := fifty(t, "multiply")
	program, err := b.Compile(&p.plan)
	require.NoError(t, err)
	c := p.call(b)
	c.Owner = silent{}
	c.Workspace, c.Scratch = b.Memory(program.Workspace(c))
	run := func() { r.stream.Sync(r.stream.Run(program, c)) }
	for range 2 * mostInFlight {
		run()
	}
	fakemetal.Reset(t)
	run()
	require.EqualValues(t, len(p.plan.Steps), fakemetal.Count(t, "dispatches"))
	require.EqualValues(t, 1, fakemetal.Count(t, "commits"))
	require.Zero(t, fakemetal.Count(t, "buffers"))
	if !UnderRace { // where pools of purego, which makes the sends, drop some of what is put back
		require.Zero(t, testing.AllocsPerRun(20, run))
	}
	require.NoError(t, program.Close())
}

// What a batch has needed for words and numbers serves any batch after it: a run makes no buffer because it falls into another one.
func TestBuffersServeAllBatches(t *testing.T) {
	r := newRig(t, Config{})
	p := &planner{t: t}
	x, y := p.value(device.Input, dtype.Int32, 8), p.value(device.Input, dtype.Int32, 8)
	out := p.value(device.Output, dtype.Int32, 8)
	p.step("remainder", 0, out, x, y)
	p.step("remainder", 0, out, out, y)
	program, err := r.Compile(&p.plan)
	require.NoError(t, err)
	defer program.Close()
	b, s := r.bench(t), r.stream
	words := p.call(b)
	words.Owner = silent{}
	copy(unsafe.Slice((*int32)(unsafe.Add(words.In[0].Addr, y.Offset)), 8), []int32{1, 2, 3, 4, 5, 6, 7, 8})
	words.Workspace, words.Scratch = b.Memory(program.Workspace(words))
	plain, c := r.sum(8)
	commit := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.commit()
	}
	letGo := fakemetal.Hold(t)
	s.Run(program, words)
	commit()
	last := s.Run(plain, c)
	commit()
	letGo()
	s.Sync(last)
	fakemetal.Reset(t)
	s.Sync(s.Run(program, words)) // in the batch of the sum
	require.Zero(t, fakemetal.Count(t, "buffers"))
}

// Divisions by zero are those of their steps, however many steps there are.
func TestPlanFaults(t *testing.T) {
	eachWay(t, func(t *testing.T, b *metaltest.Bench) {
		p := &planner{t: t}
		x, y := p.value(device.Input, dtype.Int32, 8), p.value(device.Input, dtype.Int32, 8)
		out := p.value(device.Output, dtype.Int32, 8)
		p.step("assign", 0, out, x)
		const divisions = 2*mostDispatches + 7
		for range divisions {
			p.step("remainder", 0, out, out, y)
		}
		program, err := b.Compile(&p.plan)
		require.NoError(t, err)
		defer program.Close()
		for _, fault := range []bool{false, true, false} {
			c, o := p.call(b), newOwner()
			c.Owner = o
			divisors := unsafe.Slice((*int32)(unsafe.Add(c.In[0].Addr, y.Offset)), 8)
			for i := range divisors {
				divisors[i] = int32(i + 1)
			}
			if fault {
				divisors[5] = 0
			}
			c.Workspace, c.Scratch = b.Memory(program.Workspace(c))
			b.Stream.Sync(b.Stream.Run(program, c))
			err := <-o.ended
			if !fault {
				require.NoError(t, err)
				continue
			}
			require.Equal(t, status.Math, status.CodeOf(err))
			require.ErrorContains(t, err, "[remainder] an integer is divided by zero")
		}
	})
}

// A long plan is divided into command buffers, of which each that fails fails the call.
func TestPlanDivided(t *testing.T) {
	r := newRig(t, Config{})
	p := &planner{t: t}
	x, out := p.value(device.Input, dtype.Float32, 8), p.value(device.Output, dtype.Float32, 8)
	p.step("assign", 0, out, x)
	for range 20 * mostSteps {
		p.step("neg", 0, out, out)
	}
	program, err := r.Compile(&p.plan)
	require.NoError(t, err)
	defer program.Close()
	b := r.bench(t)
	c, o := p.call(b), newOwner()
	c.Owner = o
	run := func() error {
		r.stream.Sync(r.stream.Run(program, c))
		return <-o.ended
	}
	fakemetal.Reset(t)
	require.NoError(t, run())
	require.EqualValues(t, mostDivided+1, fakemetal.Count(t, "commits"))
	require.Equal(t, metaltest.Contents(&c.In[0]), metaltest.Contents(&c.Out[0]))
	for n := range int64(mostDivided + 1) {
		fakemetal.Reset(t)
		fakemetal.Fail(t, "command_buffer", n+1, 2)
		err := run()
		require.Equal(t, status.Device, status.CodeOf(err), "command buffer %d", n)
		require.ErrorContains(t, err, "[program]")
		fakemetal.Reset(t)
		require.NoError(t, run())
	}
}

// What a device lacks is said of the step, and the steps before it come as a program.
func TestPlanLacks(t *testing.T) {
	eachWay(t, func(t *testing.T, b *metaltest.Bench) {
		p := fifty(t, "matmul")
		wide := p.value(device.Scratch, dtype.Float64, 8)
		p.step("exp", 0, wide, wide)
		_, err := b.Compile(&p.plan)
		var lacks *device.StepError
		require.True(t, errors.As(err, &lacks))
		require.Equal(t, 50, lacks.Step)
		require.Equal(t, status.Unsupported, status.CodeOf(err))
		compiled := fakemetal.Count(t, "compiles")
		before := p.plan
		before.Steps = before.Steps[:50]
		alone, e := b.Compile(&before)
		require.NoError(t, e)
		if b.Granules {
			require.Greater(t, fakemetal.Count(t, "compiles"), compiled, "graphs are those of one program")
		} else {
			require.Equal(t, compiled, fakemetal.Count(t, "compiles"), "programs share shaders")
		}
		require.Equal(t, alone.Workspace(&device.Call{}), lacks.Before.Workspace(&device.Call{}))
		require.Equal(t, alone.(device.Sized).Bytes(), lacks.Before.(device.Sized).Bytes())
		require.NoError(t, alone.Close())
		require.NoError(t, lacks.Before.Close())
		require.EqualError(t, err, fmt.Sprintf("[exp] metal has nothing for float64 of this layout (step %d of the plan)", 50))
	})
}
