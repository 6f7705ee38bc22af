package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// suspect is a variable of a random program with the result that a model predicts: the value of all its elements,
// or the failure because of which it was not computed.
type suspect struct {
	tensor *runtime.Tensor
	number float32
	why    string
}

// TestFailuresFollowTheData makes a tenth of the calls of random programs on several streams fail. Every read of a
// variable returns its value, or the failure of the call that should have computed it or one of its inputs; and
// the device reports a failure if and only if there was one.
func TestFailuresFollowTheData(t *testing.T) {
	for seed := range uint64(20) {
		w, device := newSteeredWorld(t, -1)
		device.each = naps(seed)
		rng := rand.New(rand.NewPCG(seed, 3))
		streams, failures := w.streams(3), 0
		var vars []suspect
		for i := range 4 {
			v := float32(i + 1)
			vars = append(vars, suspect{tensor: w.f32(w.mps, []float32{v, v, v}, 3), number: v})
		}
		larger := op.MustByName("maximum")
		for step := range 60 {
			x, y, fate := vars[rng.IntN(len(vars))], vars[rng.IntN(len(vars))], suspect{}
			fate.number = max(x.number, y.number)
			switch {
			case rng.IntN(10) == 0:
				failures++
				fate.why = fmt.Sprintf("[maximum] failure %d", step)
				device.next(func() error { return status.Errorf(status.Device, "%s", fate.why) })
			case x.why != "":
				device.next(naps(uint64(step)))
				fate.why = x.why
			default:
				device.next(naps(uint64(step)))
				fate.why = y.why
			}
			on := streams[rng.IntN(len(streams))]
			if target := rng.IntN(2 * len(vars)); target < len(vars) {
				fate.tensor = vars[target].tensor
				require.NoError(t, eager.CallInto(w.rt, larger, of(x.tensor, y.tensor), nil, fate.tensor, on))
				vars[target] = fate
			} else {
				z, err := eager.Binary(w.rt, larger, runtime.Operand{Tensor: x.tensor}, runtime.Operand{Tensor: y.tensor}, on)
				require.NoError(t, err)
				fate.tensor = z
				vars = append(vars, fate)
			}
			if rng.IntN(10) == 0 {
				vars[rng.IntN(len(vars))].check(w)
			}
		}
		for _, v := range vars {
			v.check(w)
			v.check(w)
		}
		require.Equal(t, failures > 0, w.mps.Synchronize() != nil, "seed %d", seed)
		require.NoError(t, w.mps.Synchronize())
		for _, v := range vars {
			w.free(v.tensor)
		}
	}
}

// check reads a variable.
func (v *suspect) check(w *world) {
	if v.why == "" {
		require.Equal(w, []float32{v.number, v.number, v.number}, w.floats(v.tensor))
		return
	}
	require.EqualError(w, v.tensor.Read(make([]byte, 12)), v.why)
}
