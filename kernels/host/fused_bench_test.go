package host

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// planFused is the plan of a graph for a device that fuses, or for one that runs step by step.
func planFused(d *Device, g *graph.Graph, fused bool) *graph.Planned {
	if fused {
		return must(g.PlanFor(d.Composes, d.Fuses))
	}
	return must(g.PlanFor(d.Composes, nil))
}

// tenSteps is a chain of ten cheap elementwise operators of two float32 operands; with one step, their sum.
func tenSteps(steps int, elements int64) *graph.Graph {
	b := graph.NewBuilder()
	x, y := b.Input(typed(dtype.Float32, elements)), b.Input(typed(dtype.Float32, elements))
	v := must(b.Call(op.ByID(op.IDAdd), []graph.Value{x, y}, nil))[0]
	for i, id := range []op.ID{op.IDMultiply, op.IDSubtract, op.IDAbs, op.IDMaximum, op.IDSqrt, op.IDNeg, op.IDMultiply, op.IDAdd, op.IDRelu} {
		in := []graph.Value{v, x}
		if len(op.ByID(id).In) == 1 {
			in = in[:1]
		} else if i%3 == 0 {
			in[1] = b.Scalar(op.Value{Kind: op.Float, F: 1.5})
		}
		if i+1 < steps {
			v = must(b.Call(op.ByID(id), in, nil))[0]
		}
	}
	return b.Build(v)
}

// BenchmarkChain compares ten elementwise steps on 16 MiB, one by one and as a group, with a single one and with
// copying as many bytes. Arrays are how often one goes through memory.
func BenchmarkChain(b *testing.B) {
	const elements = 4 << 20
	for _, threads := range []int{1, 2} {
		for _, c := range []struct {
			name  string
			steps int
			fused bool
		}{{"add", 1, false}, {"steps", 10, false}, {"group", 10, true}} {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(b *testing.B) {
				r := newRig(b, Config{Threads: threads})
				p := planFused(r.Device, tenSteps(c.steps, elements), c.fused)
				program, call := must(r.Compile(&p.Plan)), planCall(p, 1)
				call.Workspace = room(program.Workspace(call))
				call.Owner = quiet{}
				b.SetBytes(elements * 4 * 3)
				for b.Loop() {
					r.stream.Run(program, call)
				}
				b.ReportMetric(float64(traffic(p)), "arrays")
			})
		}
	}
	b.Run("copy", func(b *testing.B) {
		from, to := make([]float32, elements), make([]float32, elements)
		b.SetBytes(elements * 4 * 2)
		for b.Loop() {
			copy(to, from)
		}
	})
}

// traffic counts the arrays that are read from memory and written to it: by steps one by one, and by a group each
// once, without those that are local.
func traffic(p *graph.Planned) (n int) {
	for i := range p.Steps {
		n += arrays(p, i, i+1)
	}
	for _, g := range p.Groups {
		n += arrays(p, g.First, g.End)
		for i := g.First; i < g.End; i++ {
			n -= arrays(p, i, i+1)
		}
	}
	return n
}

// arrays counts what some steps read, each array once, and what they write.
func arrays(p *graph.Planned, first, end int) (n int) {
	read, wrote := map[device.Slot]bool{}, map[device.Slot]bool{}
	for i := first; i < end; i++ {
		for _, s := range p.Steps[i].In {
			read[s] = s.Space == device.Input || s.Space == device.Scratch || s.Space == device.Output
		}
		for _, s := range p.Steps[i].Out {
			wrote[s] = s.Space == device.Output || s.Space == device.Scratch
		}
	}
	for _, seen := range []map[device.Slot]bool{read, wrote} {
		for _, memory := range seen {
			if memory {
				n++
			}
		}
	}
	return n
}

// A group of ten steps reads and writes less than a fifth of the memory that the steps do alone.
func TestGroupsSaveTraffic(t *testing.T) {
	r := newRig(t, Config{})
	g := tenSteps(10, 1<<16)
	alone, group := planFused(r.Device, g, false), planFused(r.Device, g, true)
	require.Len(t, group.Groups, 1)
	require.Equal(t, 3, traffic(group))
	require.GreaterOrEqual(t, traffic(alone), 5*traffic(group))
	require.Zero(t, group.Arena)
}
