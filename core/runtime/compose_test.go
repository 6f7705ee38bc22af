package runtime_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/kernels/host"
)

// composing is the emulated mps device with kernels of its own for concat along axis 0: copies of bytes one
// behind the other. It counts what it is asked to compile.
type composing struct {
	*host.Device
	composed, lowered atomic.Int64
}

func (d *composing) Composes(s *op.Step) bool { return s.Row.ID == op.IDConcat && s.Axes.First() == 0 }

// Compile lowers by itself what it composes: a plan of one step a part, on the memory of the call.
func (d *composing) Compile(p *device.Plan) (device.Program, error) {
	for i := range p.Steps {
		switch p.Steps[i].Call.Op {
		case op.IDConcat:
			d.composed.Add(1)
		case op.IDAssign:
			d.lowered.Add(1)
		}
	}
	if c := p.Single(); c != nil && c.Op != op.IDConcat {
		return d.Device.Compile(p)
	}
	var parts device.Plan
	parts.Arena = p.Arena
	for i := range p.Steps {
		parts.Steps = append(parts.Steps, split(&p.Steps[i])...)
	}
	return d.Device.Compile(&parts)
}

// split is a step as it is, or a concat along axis 0 of contiguous operands as copies.
func split(s *device.Step) (steps []device.Step) {
	if s.Call.Op != op.IDConcat {
		return []device.Step{*s}
	}
	to := device.Slot{Space: device.Output}
	if s.Out != nil {
		to = s.Out[0]
	}
	for i := range s.Call.In {
		from := device.Slot{Space: device.Input, Index: i}
		if s.In != nil {
			from = s.In[i]
		}
		in := s.Call.In[i]
		out := in
		in.Addr, in.Heap, out.Addr, out.Heap = nil, nil, nil, nil
		steps = append(steps, device.Step{
			Call: &device.Call{Op: op.IDAssign, In: []device.Operand{in}, Out: []device.Operand{out}},
			In:   []device.Slot{from}, Out: []device.Slot{to},
		})
		to.Offset += in.Numel() * in.DType.Size()
	}
	return steps
}

// Key tells shapes apart, because programs of concat are made for them.
func (d *composing) Key(id op.ID, c *device.Call) device.Key {
	k := d.Device.Key(id, c)
	if id == op.IDConcat {
		for i := range c.In {
			k.AppendRest([]byte{byte(c.In[i].Dims[0])})
		}
	}
	return k
}

// TestComposites: a kernel that a device has for a composite wins over the lowering, in calls and in programs, and
// gives the same. What the device does not compose is lowered.
func TestComposites(t *testing.T) {
	d := &composing{Device: host.New(host.Config{Async: true, InlineLimit: -1})}
	w := newWorldOn(t, d)
	x, y := w.f32(w.mps, []float32{1, 2}, 1, 2), w.f32(w.mps, []float32{3, 4, 5, 6}, 2, 2)
	want := []float32{1, 2, 3, 4, 5, 6}

	z := w.call("concat", of(x, y))
	require.Equal(t, want, w.floats(z))
	require.EqualValues(t, 1, d.composed.Load())
	require.Zero(t, d.lowered.Load())

	b := graph.NewBuilder()
	in := []graph.Value{b.Input(typed(dtype.Float32, 1, 2)), b.Input(typed(dtype.Float32, 2, 2))}
	joined, err := b.Call(op.ByID(op.IDConcat), in, nil)
	require.NoError(t, err)
	p := execute.New(w.mps, b.Build(joined...))
	defer p.Close()
	out, err := p.Run([]*runtime.Tensor{x, y}, nil)
	require.NoError(t, err)
	require.Equal(t, want, w.floats(out[0]))
	require.EqualValues(t, 1, p.Info().Steps)
	require.EqualValues(t, 2, d.composed.Load())
	require.Zero(t, d.lowered.Load())

	side := w.call("concat", of(y, y), integer(1))
	require.Equal(t, []float32{3, 4, 3, 4, 5, 6, 5, 6}, w.floats(side))
	require.EqualValues(t, 2, d.composed.Load())
	require.Positive(t, d.lowered.Load())
	w.free(x, y, z, out[0], side)
}
