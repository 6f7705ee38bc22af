package host

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/graph/graphtest"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/fusion"
)

// shapesOfGroups are rows and columns: odd sizes, one element, one block of a lane or of a group and one more, and what is
// worth five threads.
var shapesOfGroups = [][2]int64{{1, 1}, {3, 5}, {1, 513}, {2, 1025}, {7, 331}, {2049, 1}, {61, 1511}}

// elementwiseGraph is a graph of one of those sizes.
func elementwiseGraph(seed uint64, calls int) *graph.Graph {
	s := shapesOfGroups[seed%uint64(len(shapesOfGroups))]
	return graphtest.Elementwise(seed, calls, s[0], s[1])
}

// Groups give the bits of their steps one by one, for any number of threads, with and without the passes over graphs.
func TestRandomGroups(t *testing.T) {
	if sample.UnderRace {
		sample.Skip(t, 5, t.Name(), 0)
	}
	count := uint64(140)
	if testing.Short() {
		count = 35
	}
	for _, threads := range []int{1, 2, 5} {
		r := newRig(t, Config{Threads: threads})
		groups, grouped, locals, arena, alone := 0, 0, 0, int64(0), int64(0)
		for seed := range count {
			g := elementwiseGraph(seed, 5+int(seed%40))
			if seed%4 == 3 {
				g = randomGraph(seed, 1+int(seed*7%50))
			}
			plain := must(g.PlanFor(r.Composes, nil))
			if seed%2 == 1 {
				g = g.Rewrite(graph.AllPasses)
			}
			fused := must(g.PlanFor(r.Composes, r.Fuses))
			if len(plain.Steps) == 0 || len(fused.Steps) == 0 {
				continue
			}
			want, got := planCall(plain, seed), planCall(fused, seed)
			expected := oneByOne(r, plain, want)
			err := runPlan(r, must(r.Compile(&fused.Plan)), got)
			if expected != nil {
				require.Equal(t, seed%4, uint64(3), "only graphs with remainders fail")
				if seed%2 == 0 { // else the call that fails may be dead
					require.EqualError(t, err, expected.Error())
				}
				continue
			}
			require.NoError(t, err)
			require.Equal(t, bytesOut(want), bytesOut(got), "seed %d, %d threads:\n%s", seed, threads, g)
			alone, arena = alone+plain.Arena, arena+fused.Arena
			for _, group := range fused.Groups {
				groups, grouped, locals = groups+1, grouped+group.End-group.First, locals+group.Locals
			}
		}
		t.Logf("%d groups of %d steps and %d locals; arenas of %d bytes, %d without groups", groups, grouped, locals, arena, alone)
		require.Greater(t, grouped, 10*int(count)/2)
		require.Positive(t, locals)
		require.Less(t, arena, alone)
	}
}

// A step that may fail on its elements, and one of another kind, are in no group.
func TestGroupsLeaveOut(t *testing.T) {
	r := newRig(t, Config{})
	step := func(id op.ID, d dtype.DType, in int) *op.Step {
		s := &op.Step{Row: op.ByID(id), Out: []op.Ref{{DType: d}}}
		for range in {
			s.In = append(s.In, op.Ref{DType: d})
		}
		return s
	}
	require.True(t, r.Fuses(step(op.IDAdd, dtype.Float32, 2)))
	require.True(t, r.Fuses(step(op.IDFloorDivide, dtype.Float32, 2)))
	require.False(t, r.Fuses(step(op.IDFloorDivide, dtype.Int32, 2)))
	require.True(t, r.Fuses(step(op.IDSum, dtype.Float32, 1)), "as a tail")
	require.False(t, r.Fuses(step(op.IDArgmax, dtype.Float32, 1)))
	require.False(t, r.Fuses(step(op.IDExp, dtype.Int32, 1)), "there is no kernel")
}

// A program with groups allocates nothing when it is warm.
func TestGroupsDoNotAllocate(t *testing.T) {
	if sample.UnderRace {
		t.Skip("the race detector makes sync.Pool forget at random")
	}
	r := newRig(t, Config{Threads: 1})
	p := planFused(r.Device, tenSteps(10, 5000), true)
	program, c := must(r.Compile(&p.Plan)), planCall(p, 1)
	c.Workspace, c.Owner = room(program.Workspace(c)), quiet{}
	require.LessOrEqual(t, testing.AllocsPerRun(50, func() { r.stream.Run(program, c) }), 0.3)
}

// What a group has read and written when a run ends, it does not remember.
func TestGroupsForgetMemory(t *testing.T) {
	r := newRig(t, Config{Threads: 1})
	p := must(elementwiseGraph(3, 30).PlanFor(r.Composes, r.Fuses))
	require.NotEmpty(t, p.Groups)
	g := p.Groups[0]
	steps := p.Steps[g.First:g.End]
	ks := make([]engine.Kernel, len(steps))
	for i := range steps {
		ks[i] = must(r.kernelFor(steps[i].Call))
	}
	f := must(fusion.Fuse(steps, ks, g.Elements, g.Locals))
	b, c := f.NewBlocks(), planCall(p, 1)
	c.Workspace = room(p.Arena)
	b.Open(c)
	b.SeekTo(0)
	b.Load(1)
	b.Close()
	for i := range b.Flat {
		require.Nil(t, b.Flat[i].Operand.Addr)
	}
	for _, list := range [][]fusion.Strided{b.Gathered, b.Scattered} {
		for i := range list {
			require.Nil(t, list[i].Walk.Base)
		}
	}
}

var _ device.Fuser = (*Device)(nil)
