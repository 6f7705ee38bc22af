package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host"
)

// choosy is the emulated mps device, which finds out when it compiles that it does not take some groups.
type choosy struct {
	*host.Device
	takes    func(group []device.Step) bool
	compiled int
}

func (d *choosy) Compile(p *device.Plan) (device.Program, error) {
	d.compiled++
	for _, g := range p.Groups {
		if !d.takes(p.Steps[g.First:g.End]) {
			return nil, &device.StepError{Step: g.First, Err: status.Errorf(status.Unsupported, "a group of %d steps", g.End-g.First)}
		}
	}
	return d.Device.Compile(p)
}

// A group that the device refuses is divided until it takes the rest; other groups of the program stay as they are.
func TestRefusedGroups(t *testing.T) {
	// Two groups, of 40 steps and of 12, with a product between; step 13 of the first is exp.
	b := graph.NewBuilder()
	must := func(name string, in ...graph.Value) graph.Value {
		out, err := b.Call(op.MustByName(name), in, nil)
		require.NoError(t, err)
		return out[0]
	}
	x := b.Input(typed(dtype.Float32, 4, 4))
	v := x
	for i := range 40 {
		v = must("multiply", v, b.Scalar(double(1.0/64)))
		if i == 12 {
			v = must("exp", v)
		}
	}
	v = must("matmul", v, x)
	for range 12 {
		v = must("add", v, x)
	}
	g := b.Build(v)
	for name, c := range map[string]struct {
		takes           func([]device.Step) bool
		groups, grouped int
		most            int // compilations
	}{
		"all":              {func([]device.Step) bool { return true }, 2, 53, 1},
		"up to 16":         {func(s []device.Step) bool { return len(s) <= 16 }, 5, 53, 4},
		"none with an exp": {func(s []device.Step) bool { return !has(s, op.IDExp) }, 5, 50, 7},
		"none":             {func([]device.Step) bool { return false }, 0, 0, 26},
	} {
		t.Run(name, func(t *testing.T) {
			d := &choosy{Device: host.New(host.Config{Async: true, InlineLimit: -1}), takes: c.takes}
			w := newWorldOn(t, d)
			p := execute.New(w.mps, g)
			defer p.Close()
			reference := execute.New(w.cpu, g)
			defer reference.Close()
			values := func(c *runtime.Context, p *execute.Program) []float32 {
				in := w.filled(c, 1, 4, 4)
				out := w.run(p, in)
				defer w.free(append(out, in)...)
				return w.floats(out[0])
			}
			require.Equal(t, values(w.cpu, reference), values(w.mps, p))
			require.LessOrEqual(t, d.compiled, c.most)
			require.Equal(t, c.groups, p.Info().Groups)
			require.Equal(t, c.grouped, p.Info().Grouped)
			require.Zero(t, p.Info().CPUSteps)
		})
	}
}

func has(steps []device.Step, id op.ID) bool {
	for i := range steps {
		if steps[i].Call.Op == id {
			return true
		}
	}
	return false
}
