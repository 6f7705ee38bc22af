package metal

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/internal/sample"
)

// noting owns calls, of several streams, and keeps the first error.
type noting struct {
	mu  sync.Mutex
	err error
}

func (*noting) Ready() error { return nil }
func (o *noting) Done(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
}

// steps is a program with everything that can fail: memory, streams, compilation, 50 calls, copies, waits.
// It returns the first error and leaves nothing open.
func steps(d *Device) error {
	h, err := d.NewHeap(1 << 20)
	if err != nil {
		return err
	}
	defer h.Close()
	var streams [2]device.Stream
	for i := range streams {
		if streams[i], err = d.NewStream(); err != nil {
			return err
		}
		defer streams[i].Close()
	}
	r := &rig{Device: d, heap: h}
	o := &noting{}
	c := &device.Call{In: []device.Operand{r.of(1, 0, 3, 4), r.of(5, 6, 7, 8)}, Out: []device.Operand{r.of(0, 0, 0, 0)}, Owner: o}
	p, err := d.Compile(planOf(c))
	if err != nil {
		return err
	}
	defer p.Close()
	e, _ := d.NewEvent()
	calls := [2]*device.Call{c, r.aside(c)}
	for i := range 50 {
		streams[i%2].Run(p, calls[i%2])
		if i%10 == 9 {
			streams[i%2].Record(e)
			streams[1-i%2].Wait(e)
		}
	}
	words := &device.Call{In: c.In[:1], Out: c.Out, Owner: o}
	last := streams[0].Run(&program{kernel: counting{from: c.In[0]}}, words)
	copied := &device.Call{In: c.In[:1], Out: c.Out, Owner: o}
	last = max(last, streams[0].Copy(copied))
	streams[0].Sync(last)
	streams[1].Sync(25 + 5)
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// TestEachFailure makes everything that can fail do so in turn: an error each time, nothing left behind,
// and the next program runs. Where a compiler answers nothing at all, it refuses, and another kernel runs; where it
// says that memory is short, it does not.
func TestEachFailure(t *testing.T) {
	library := fakemetal.Library(t)
	t.Cleanup(func() { fakemetal.Reset(t) })
	for name, prefer := range map[string]Prefer{"shaders": PreferShaders, "graphs": PreferGraphs} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				sample.Skip(t, 5, "ways", int(prefer))
			}
			d, err := Open(Config{Library: library, Prefer: prefer, Linger: -1})
			require.NoError(t, err)
			fakemetal.Reset(t)
			defer d.Close()
			if prefer == PreferGraphs {
				needGraphs(t, d)
			}
			require.NoError(t, steps(d))
			settled := func() int64 { time.Sleep(5 * time.Millisecond); return fakemetal.Count(t, "live_objects") }
			before := settled()
			n, harmless := int64(1), 0
			for ; ; n++ {
				fakemetal.Reset(t)
				const outOfMemory = 12
				fakemetal.Fail(t, "any", n, outOfMemory)
				refused := d.Refusals()
				err := steps(d)
				if fakemetal.Count(t, "fallible") < n {
					require.NoError(t, err)
					break
				}
				if now := d.Refusals(); now.Shaders+now.Graphs > refused.Shaders+refused.Graphs {
					require.NoErrorf(t, err, "failure %d", n)
					require.Equalf(t, refused.SecondWay+50, now.SecondWay, "failure %d", n)
					harmless++
				} else {
					require.Errorf(t, err, "failure %d", n)
				}
				d.Retry()
				fakemetal.Reset(t)
				require.NoErrorf(t, steps(d), "after failure %d", n)
				require.Equalf(t, before, settled(), "objects left by failure %d", n)
			}
			require.Equal(t, 1, harmless, "the function of a shader, the executable of a graph")
			t.Logf("%d failures", n-1)
		})
	}
}
