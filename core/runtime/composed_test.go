package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host"
)

// planWatcher is a device that notes how many steps the plans have that it compiles, and refuses those of several on demand.
type planWatcher struct {
	*host.Device
	steps   []int
	refuses bool
}

func (d *planWatcher) Compile(p *device.Plan) (device.Program, error) {
	d.steps = append(d.steps, len(p.Steps))
	if d.refuses && len(p.Steps) > 1 {
		before, err := d.Device.Compile(&device.Plan{Steps: p.Steps[:1], Arena: p.Arena})
		if err != nil {
			return nil, err
		}
		return nil, &device.StepError{Step: 1, Before: before, Err: status.Errorf(status.Unsupported, "[elu] not here")}
	}
	return d.Device.Compile(p)
}

// The second call of a composite is one program, whose steps are a group; those that follow compile nothing. The results are those
// of the first call, bit for bit.
func TestCompositesBecomeOneProgram(t *testing.T) {
	for _, refuses := range []bool{false, true} {
		d := &planWatcher{Device: host.New(host.Config{}), refuses: refuses}
		w := newWorldOn(t, d)
		x := w.f32(w.mps, []float32{-2, -0.5, 0, 1.5}, 4)
		var first []float32
		for n := range 5 {
			d.steps = nil
			y := w.call("elu", of(x), op.Value{Kind: op.Float, F: 1.5})
			got := w.floats(y)
			w.free(y)
			switch n {
			case 0:
				first = got
				require.NotContains(t, d.steps, 5)
			case 1: // it is made step by step once more, and the recipe is kept
				require.Empty(t, d.steps)
			case 2:
				require.Equal(t, []int{5}, d.steps, "clip, expm1, a product, a comparison and a choice")
			default:
				require.Empty(t, d.steps)
			}
			require.Equal(t, first, got)
		}
		w.free(x)
	}
}
