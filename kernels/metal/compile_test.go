package metal

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
)

// While the compiler is busy with one program, others run on all streams, and others are compiled.
func TestCompilingDelaysNoOtherCall(t *testing.T) {
	for name, prefer := range map[string]Prefer{"shaders": PreferShaders, "graphs": PreferGraphs} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{Prefer: prefer})
			if prefer == PreferGraphs {
				needGraphs(t, r.Device)
			}
			other := r.newStream()
			defer other.Close()
			ready, c := r.sum(8)
			busy, release := make(chan struct{}), make(chan struct{})
			var first atomic.Bool
			r.Compiling = func() {
				if first.CompareAndSwap(false, true) {
					close(busy)
					<-release
				}
			}
			compiled := make(chan error, 1)
			x := r.of(random(8)...)
			go func() {
				slow, err := r.Compile(metaltest.Single(op.MustByName("tanh"), &device.Call{In: []device.Operand{x}, Out: []device.Operand{x}}))
				if err == nil {
					err = slow.Close()
				}
				compiled <- err
			}()
			<-busy
			passed := make(chan struct{})
			go func() {
				defer close(passed)
				for _, s := range []*stream{r.stream, other} {
					s.Sync(s.Run(ready, c))
				}
				quick, err := r.Compile(metaltest.Single(op.MustByName("exp"), &device.Call{In: []device.Operand{x}, Out: []device.Operand{x}}))
				if err == nil {
					err = quick.Close()
				}
				if err != nil {
					t.Error(err)
				}
			}()
			select {
			case <-passed:
			case <-time.After(time.Minute):
				t.Error("a call waits for the compiler of another one")
			}
			close(release)
			require.NoError(t, <-compiled)
			<-passed
		})
	}
}
