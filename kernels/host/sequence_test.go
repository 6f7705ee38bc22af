package host

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// room is zeroed memory that begins at a multiple of 256; nil for nothing.
func room(bytes int64) unsafe.Pointer {
	if bytes == 0 {
		return nil
	}
	words := make([]uint64, bytes/8+33)
	at := uintptr(unsafe.Pointer(&words[0]))
	return unsafe.Pointer(&words[(-at&255)/8])
}

// typed is a type of a graph.
func typed(d dtype.DType, ds ...int64) op.Type {
	return op.Type{DType: d, Shape: must(shape.Of(ds...))}
}

// drawing makes random graphs.
type drawing struct {
	*rand.Rand
	*graph.Builder
	values []graph.Value
}

// any is one of the values so far, more often a late one, so that graphs get deep.
func (g *drawing) any() graph.Value {
	n := len(g.values)
	return g.values[max(g.IntN(n), g.IntN(n))]
}

// attempts are the operators of random graphs. What makes no sense for the operands that were drawn, is
// refused by inference, and another is drawn.
var attempts = []func(g *drawing) ([]graph.Value, error){
	func(g *drawing) ([]graph.Value, error) { // of one operand
		ids := []op.ID{op.IDNeg, op.IDAbs, op.IDExp, op.IDTanh, op.IDSquare, op.IDRelu, op.IDSigmoid, op.IDIsfinite, op.IDFloor, op.IDLogicalNot}
		return g.Call(op.ByID(ids[g.IntN(len(ids))]), []graph.Value{g.any()}, nil)
	},
	func(g *drawing) ([]graph.Value, error) { // of two, broadcast and promoted
		ids := []op.ID{op.IDAdd, op.IDSubtract, op.IDMultiply, op.IDMaximum, op.IDDivide, op.IDLessThan, op.IDLogicalXor, op.IDPow}
		return g.Call(op.ByID(ids[g.IntN(len(ids))]), []graph.Value{g.any(), g.any()}, nil)
	},
	func(g *drawing) ([]graph.Value, error) { // with a scalar
		scalar := g.Scalar(op.Value{Kind: op.Int, I: g.Int64N(7) - 3})
		return g.Call(op.ByID([]op.ID{op.IDAdd, op.IDMultiply, op.IDFloorDivide, op.IDRemainder}[g.IntN(4)]), []graph.Value{g.any(), scalar}, nil)
	},
	func(g *drawing) ([]graph.Value, error) {
		return g.Call(op.ByID(op.IDRemainder), []graph.Value{g.any(), g.any()}, nil)
	},
	func(g *drawing) ([]graph.Value, error) {
		return g.Call(op.ByID(op.IDWhere), []graph.Value{g.any(), g.any(), g.any()}, nil)
	},
	func(g *drawing) ([]graph.Value, error) {
		low, high := g.Scalar(op.Value{Kind: op.Int, I: -2}), g.Scalar(op.Value{})
		return g.Call(op.ByID(op.IDClip), []graph.Value{g.any(), low, high}, nil)
	},
	func(g *drawing) ([]graph.Value, error) {
		to := []dtype.DType{dtype.Float32, dtype.Float16, dtype.Int32, dtype.Int64, dtype.Bool}[g.IntN(5)]
		return g.Call(op.ByID(op.IDCast), []graph.Value{g.any()}, op.Attrs{op.CastDtype: {Kind: op.DType, I: int64(to)}})
	},
	func(g *drawing) ([]graph.Value, error) { // along one axis, or all
		at := op.Attrs{op.MaxAxis: {}, op.MaxKeepdim: {Kind: op.Bool, I: g.Int64N(2)}}
		if axis := g.Int64N(4) - 1; axis >= 0 {
			at[op.MaxAxis] = op.Value{Kind: op.Ints, Ints: []int64{axis}}
		}
		return g.Call(op.ByID([]op.ID{op.IDMax, op.IDMean, op.IDAny}[g.IntN(3)]), []graph.Value{g.any()}, at)
	},
	func(g *drawing) ([]graph.Value, error) {
		return g.Call(op.ByID(op.IDSoftmax), []graph.Value{g.any()}, nil)
	},
	func(g *drawing) ([]graph.Value, error) {
		turn := op.Attrs{op.MatmulTransposeX: {Kind: op.Bool, I: g.Int64N(2)}, op.MatmulTransposeY: {Kind: op.Bool, I: g.Int64N(2)}}
		return g.Call(op.ByID(op.IDMatmul), []graph.Value{g.any(), g.any()}, turn)
	},
	func(g *drawing) ([]graph.Value, error) { // another layout
		x := g.any()
		perm := make([]int64, g.TypeOf(x).Shape.Rank)
		for i, p := range g.Perm(len(perm)) {
			perm[i] = int64(p)
		}
		return g.Call(op.ByID(op.IDTranspose), []graph.Value{x}, op.Attrs{op.TransposePerm: {Kind: op.Ints, Ints: perm}})
	},
	func(g *drawing) ([]graph.Value, error) { // in parts
		return g.Call(op.ByID(op.IDSplit), []graph.Value{g.any()}, op.Attrs{op.SplitSections: {Kind: op.Ints, Ints: []int64{1, -1}}})
	},
	func(g *drawing) ([]graph.Value, error) {
		return g.Call(op.ByID(op.IDConcat), []graph.Value{g.any(), g.any()}, op.Attrs{op.ConcatAxis: {Kind: op.Int, I: 0}})
	},
	func(g *drawing) ([]graph.Value, error) {
		x := g.any()
		dims := g.TypeOf(x).Shape
		return g.Call(op.ByID(op.IDUniform), nil, op.Attrs{
			op.UniformShape: {Kind: op.Ints, Ints: dims.Slice()},
			op.UniformDtype: {Kind: op.DType, I: int64(dtype.Float32)},
		})
	},
}

// randomGraph is a graph of so many nodes whose last values are its outputs.
func randomGraph(seed uint64, nodes int) *graph.Graph {
	g := &drawing{Rand: rand.New(rand.NewPCG(seed, 1)), Builder: graph.NewBuilder()}
	long := []int64{6, 40, 300}[seed%3] // the longest is worth several threads
	for _, t := range []op.Type{typed(dtype.Float32, long, long), typed(dtype.Float32, long), typed(dtype.Int32, long, 1), typed(dtype.Float16, 2, 1, long)} {
		g.values = append(g.values, g.Input(t))
	}
	constant := &op.Const{Type: typed(dtype.Float32, long, long), Bytes: make([]byte, 4*long*long)}
	fill(g.Rand, unsafe.Pointer(&constant.Bytes[0]), &constant.Type)
	g.values = append(g.values, g.Constant(constant))
	for made := 0; made < nodes; {
		out, err := attempts[g.IntN(len(attempts))](g)
		if err != nil {
			continue
		}
		if t := g.TypeOf(out[0]); t.Shape.Numel() == 0 || t.Shape.Numel() > 1<<18 {
			continue
		}
		made++
		g.values = append(g.values, out...)
	}
	last := g.values[len(g.values)-3:]
	return g.Build(last...)
}

// fill writes small numbers of either sign, without zeros.
func fill(g *rand.Rand, at unsafe.Pointer, t *op.Type) {
	size := t.DType.Size()
	for i := range t.Shape.Numel() {
		v := float64(g.IntN(4) + 1)
		if g.IntN(2) == 0 {
			v = -v
		}
		put(engine.Slice[byte](unsafe.Add(at, i*size), size), t.DType, v)
	}
}

// planCall is a call of a plan with memory of its own; inputs are the same for equal seeds.
func planCall(p *graph.Planned, seed uint64) *device.Call {
	g := rand.New(rand.NewPCG(seed, 2))
	c := &device.Call{Seed: [2]uint64{seed, 7}, Owner: quiet{}}
	add := func(os *[]device.Operand, t *op.Type) unsafe.Pointer {
		at := room(max(t.Shape.Numel()*t.DType.Size(), 1))
		*os = append(*os, device.Operand{Addr: at, DType: t.DType, Layout: shape.Contiguous(t.Shape)})
		return at
	}
	for i := range p.Inputs {
		fill(g, add(&c.In, &p.Inputs[i]), &p.Inputs[i])
	}
	for _, k := range p.Constants {
		copy(engine.Slice[byte](add(&c.In, &k.Type), int64(len(k.Bytes))), k.Bytes)
	}
	for i := range p.Outputs {
		add(&c.Out, &p.Outputs[i])
	}
	return c
}

// oneByOne runs the steps of a plan as calls of their own, which know no constants, and answers the first
// error.
func oneByOne(r *rig, p *graph.Planned, run *device.Call) error {
	run.Workspace = room(p.Arena)
	for i := range p.Steps {
		c := &device.Call{}
		p.Steps[i].Bind(run, c)
		for j := range c.In {
			c.In[j].Const = nil
		}
		if err := r.call(op.ByID(c.Op).Name, c); err != nil {
			return err
		}
	}
	return nil
}

// runPlan runs a program of a plan and waits.
func runPlan(r *rig, program device.Program, c *device.Call) error {
	o := newOwner()
	c.Owner, c.Workspace = o, room(program.Workspace(c))
	r.stream.Run(program, c)
	return o.wait()
}

// bytesOut are the bytes of all outputs.
func bytesOut(c *device.Call) (all []byte) {
	for i := range c.Out {
		all = append(all, engine.Slice[byte](c.Out[i].Addr, bytesOf(&c.Out[i]))...)
	}
	return all
}

// A program of many steps gives what its steps give one by one, to the last bit, or fails with the same
// error.
func TestRandomPlans(t *testing.T) {
	count := uint64(60)
	if testing.Short() {
		count = 15
	}
	eachMode(t, func(t *testing.T, r *rig) {
		failed, steps := 0, 0
		for seed := range count {
			g := randomGraph(seed, 1+int(seed*7%50))
			p := must(g.Plan())
			if len(p.Steps) == 0 {
				continue
			}
			program, err := r.Compile(&p.Plan)
			require.NoError(t, err, g.String())
			want, got := planCall(p, seed), planCall(p, seed)
			expected := oneByOne(r, p, want)
			err = runPlan(r, program, got)
			steps = max(steps, len(p.Steps))
			if expected != nil {
				require.EqualError(t, err, expected.Error())
				require.Equal(t, status.CodeOf(expected), status.CodeOf(err))
				failed++
				continue
			}
			require.NoError(t, err)
			require.Equal(t, bytesOut(want), bytesOut(got), "seed %d:\n%s", seed, g)
		}
		require.Greater(t, steps, 40)
		require.Less(t, failed, int(count)/2, "most plans divide by no zero")
	})
}

// chain is a plan of n divisions of its first input by its second.
func chain(n int) *graph.Planned {
	b := graph.NewBuilder()
	x, y := b.Input(typed(dtype.Int32, 1000)), b.Input(typed(dtype.Int32, 1000))
	for range n {
		x = must(b.Call(op.ByID(op.IDFloorDivide), []graph.Value{x, y}, nil))[0]
	}
	return must(b.Build(x).Plan())
}

// A step that fails ends the run with its error, and the next run is not disturbed.
func TestPlanFails(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		p := chain(20)
		program := must(r.Compile(&p.Plan))
		for _, fault := range []bool{false, true, false} {
			c := planCall(p, 3)
			if fault {
				engine.Slice[int32](c.In[1].Addr, 1000)[777] = 0
			}
			err := runPlan(r, program, c)
			if !fault {
				require.NoError(t, err)
				continue
			}
			require.Equal(t, status.Math, status.CodeOf(err))
			require.ErrorContains(t, err, "[floor_divide]")
		}
	})
}

// What the device lacks is said of the step; a plan that lacks operands is a mistake of its maker.
func TestPlanLacks(t *testing.T) {
	r := newRig(t, Config{})
	p := chain(5)
	p.Steps[3].Call.Op = op.IDExp
	p.Steps[3].Call.In = p.Steps[3].Call.In[:1]
	_, err := r.Compile(&p.Plan)
	var lacks *device.StepError
	require.ErrorAs(t, err, &lacks)
	require.Equal(t, 3, lacks.Step)
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	require.ErrorContains(t, err, "[exp] host has no kernel for int32")

	for name, change := range map[string]func(c *device.Call){
		"an input": func(c *device.Call) { c.In = c.In[:1] },
		"more":     func(c *device.Call) { c.In = append(c.In, c.In[0]) },
		"outputs":  func(c *device.Call) { c.Out = nil },
		"operator": func(c *device.Call) { c.Op = 0 },
	} {
		p := chain(5)
		change(p.Steps[2].Call)
		_, err := r.Compile(&p.Plan)
		require.ErrorAs(t, err, &lacks, name)
		require.Equal(t, 2, lacks.Step, name)
		require.Equal(t, status.Internal, status.CodeOf(err), name)
	}
}

func TestPlanWantsItsWorkspace(t *testing.T) {
	r := newRig(t, Config{})
	p := chain(5)
	p.Arena = 1000 // the steps of a chain work in place
	program := must(r.Compile(&p.Plan))
	c := planCall(p, 1)
	require.EqualValues(t, 1024, program.Workspace(c))
	o := newOwner()
	c.Owner = o
	r.stream.Run(program, c)
	require.Equal(t, status.Internal, status.CodeOf(o.wait()))
}

// A warm run of many steps allocates nothing.
func TestPlanDoesNotAllocate(t *testing.T) {
	if sample.UnderRace {
		t.Skip("the race detector makes sync.Pool forget at random")
	}
	r := newRig(t, Config{Threads: 1})
	for seed := range uint64(9) {
		p := must(randomGraph(seed, 50).Plan())
		program, c := must(r.Compile(&p.Plan)), planCall(p, seed)
		if runPlan(r, program, c) != nil {
			continue // an error is allocated
		}
		c.Owner = quiet{}
		allocs := testing.AllocsPerRun(20, func() { r.stream.Run(program, c) })
		require.LessOrEqual(t, allocs, 0.3, seed) // a pool may be emptied in between
	}
}

// BenchmarkPlan is what a step of a program costs beside its work, one by one and in a group.
func BenchmarkPlan(b *testing.B) {
	for _, fused := range []bool{false, true} {
		for _, steps := range []int{1, 100} {
			b.Run(fmt.Sprintf("fused=%t/steps=%d", fused, steps), func(b *testing.B) {
				r := newRig(b, Config{Threads: 1})
				g := graph.NewBuilder()
				x, y := g.Input(typed(dtype.Float32, 8)), g.Input(typed(dtype.Float32, 8))
				for range steps {
					x = must(g.Call(op.ByID(op.IDAdd), []graph.Value{x, y}, nil))[0]
				}
				p := planFused(r.Device, g.Build(x), fused)
				program, c := must(r.Compile(&p.Plan)), planCall(p, 1)
				c.Workspace = room(program.Workspace(c))
				b.ReportAllocs()
				for b.Loop() {
					r.stream.Run(program, c)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(steps), "ns/step")
			})
		}
	}
}

// counted is a kernel that counts its runs and calls a function in each.
type counted struct {
	engine.Simple
	runs *int
	then func()
}

func (k counted) Run(*engine.Threads, *device.Call) error {
	*k.runs++
	k.then()
	return nil
}

// TestSequenceStops: a call that is to stop ends before its next step, and one that is not runs all of them.
func TestSequenceStops(t *testing.T) {
	d := New(Config{Threads: 1})
	for at := 1; at <= 4; at++ { // 4: never
		var stop device.Stop
		runs := 0
		s := &sequence{}
		for range 3 {
			k := counted{runs: &runs, then: func() {
				if runs == at {
					stop.Request()
				}
			}}
			s.stages = append(s.stages, stage{kernel: k, steps: []device.Step{{Call: &device.Call{}}}})
		}
		err := s.Run(d.threads, &device.Call{Stop: &stop})
		require.Equal(t, min(at, 3), runs)
		require.Equal(t, at < 3, status.CodeOf(err) == status.Cancelled, "stopped in step %d", at)
		runs = 0
		require.NoError(t, s.Run(d.threads, &device.Call{}))
		require.Equal(t, 3, runs, "a call that cannot be stopped")
	}
}
