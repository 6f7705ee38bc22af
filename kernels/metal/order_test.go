package metal

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
)

// alone runs a test again as a process of its own, for which the mock is set up anew, and reports whether this is
// that process.
func alone(t *testing.T, environment ...string) bool {
	const inside = "METAL_TEST_ALONE"
	if os.Getenv(inside) != "" {
		return true
	}
	fakemetal.Library(t)
	test := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	test.Env = append(append(os.Environ(), inside+"=1"), environment...)
	text, err := test.CombinedOutput()
	require.NoError(t, err, "%s", text)
	return false
}

// gated holds a stream up by an event of another device until the gate is opened.
func gated(s *stream) (gate foreignEvent) {
	gate = foreignEvent{make(chan struct{})}
	s.Wait(gate)
	return gate
}

// TestNothingWaitsEarly has streams wait for the CPU and, in turn, for each other: no command buffer is committed before
// what it waits for, and none waits for the CPU.
func TestNothingWaitsEarly(t *testing.T) {
	r := newRig(t, Config{})
	streams := []*stream{r.stream, r.newStream(), r.newStream()}
	p, c := r.sum(16)
	calls := []*device.Call{c, r.aside(c), r.aside(c)}
	gate := gated(streams[0])
	e, _ := r.NewEvent()
	streams[0].Record(e)
	streams[1].Wait(e)
	streams[2].Wait(e)
	for i := range 30 * mostDispatches {
		s := streams[i%3]
		s.Run(p, calls[i%3])
		if i%7 == 0 {
			e, _ := r.NewEvent()
			s.Record(e)
			streams[(i+1)%3].Wait(e)
		}
		if i == 2*mostDispatches {
			time.Sleep(10 * time.Millisecond)
			assert.Zero(t, fakemetal.Count(t, "commits"), "all of it waits for the gate, or for the first stream")
			close(gate.passed)
		}
	}
	for _, s := range streams {
		s.Sync(s.submitted)
	}
	require.Zero(t, fakemetal.Count(t, "early_waits"))
	for _, s := range streams[1:] {
		require.NoError(t, s.Close())
	}
}

// TestNothingIsTracked uses memory of all kinds, by shaders and graphs: Metal would order what it tracks over all queues, by
// whole heaps, so that streams would wait for each other.
func TestNothingIsTracked(t *testing.T) {
	for name, prefer := range map[string]Prefer{"shaders": PreferShaders, "graphs": PreferGraphs} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{Prefer: prefer})
			needGraphs(t, r.Device)
			x, y := r.of(random(1000)...), r.of(make([]float32, 1000)...)
			number, _ := call(y, x, scalar(2, 1000))
			b := r.bench(t)
			b.ByGPU(op.MustByName("add"), number)
			floor, _ := call(y, x, x)
			b.ByGPU(op.MustByName("divide"), floor)
			big := r.at(0, dtype.Float32, 64<<10)
			c, _ := call(r.at(2<<20, dtype.Float32, 64<<10), big)
			r.stream.Sync(r.stream.Copy(c))
			require.NotZero(t, fakemetal.Count(t, "dispatches")+fakemetal.Count(t, "encoded_graphs"))
			require.Zero(t, fakemetal.Count(t, "tracked_uses"))
		})
	}
}

// TestGraphsTakeMemory has a graph whose intermediate results the device has no room for: the call is an error that says so, and
// the stream works on with the next.
func TestGraphsTakeMemory(t *testing.T) {
	if !alone(t, "FAKEMETAL_GRAPH_MEMORY=1", "FAKEMETAL_MEMORY=8912896") {
		return
	}
	r := newRig(t, Config{Prefer: PreferGraphs})
	needGraphs(t, r.Device)
	silu := op.MustByName("silu")
	run := func(n int64) error {
		c, o := call(r.at(2<<20, dtype.Float32, n), r.at(0, dtype.Float32, n))
		c.Op = silu.ID
		p, err := r.Compile(metaltest.Single(silu, c))
		require.NoError(t, err)
		r.stream.Sync(r.stream.Run(p, c))
		require.NoError(t, p.Close())
		return <-o.ended
	}
	err := run(256 << 10) // a MiB each
	require.Equal(t, status.OutOfMemory, status.CodeOf(err))
	require.ErrorContains(t, err, "[silu] the GPU stopped the command buffer: Insufficient Memory")
	require.NoError(t, run(1<<10))
	require.NoError(t, run(1<<10))
}

// TestLongWait waits for the CPU longer than a command buffer may.
func TestLongWait(t *testing.T) {
	if !alone(t, "FAKEMETAL_WATCHDOG_MS=200") {
		return
	}
	r := newRig(t, Config{})
	other := r.newStream()
	defer other.Close()
	p, c := r.sum(8)
	gate := gated(r.stream)
	o := newOwner()
	c.Owner = o
	r.stream.Run(p, c)
	e, _ := r.NewEvent()
	r.stream.Record(e)
	other.Wait(e)
	late := newOwner()
	again := *c
	again.Owner = late
	other.Run(p, &again)
	time.AfterFunc(time.Second, func() { close(gate.passed) })
	r.stream.Sync(r.stream.submitted)
	other.Sync(other.submitted)
	require.NoError(t, <-o.ended)
	require.NoError(t, <-late.ended)
}

// TestFaultInFlight has a command buffer fault with another behind it: that one fails and says behind what, what is
// still open does not, and the stream works on with another queue. Were they to overlap, either could be first.
func TestFaultInFlight(t *testing.T) {
	if !alone(t, "FAKEMETAL_OVERLAP=0") {
		return
	}
	r := newRig(t, Config{})
	p, c := r.sum(8)
	var owners []*owner
	run := func(n int) {
		for range n {
			o, own := newOwner(), *c
			own.Owner = o
			owners = append(owners, o)
			r.stream.Run(p, &own)
		}
	}
	queues := fakemetal.Count(t, "queues")
	fakemetal.Fail(t, "command_buffer", 1, 3)
	letGo := fakemetal.Hold(t)
	run(2*mostDispatches + 1)
	require.Eventually(t, func() bool { return fakemetal.Count(t, "commits") == 2 }, time.Minute, time.Millisecond)
	letGo()
	for i, o := range owners {
		if i == 2*mostDispatches {
			r.stream.Sync(r.stream.submitted)
		}
		err := <-o.ended
		require.Equal(t, i < 2*mostDispatches, err != nil, "call %d: %v", i, err)
		if err != nil {
			require.Equal(t, status.Device, status.CodeOf(err))
			require.ErrorContains(t, err, "PageFault")
		}
		if i >= mostDispatches && err != nil {
			require.ErrorContains(t, err, "it came behind one that failed: ")
		}
	}
	require.EqualValues(t, 1, fakemetal.Count(t, "queues")-queues)
	owners = nil
	run(1)
	r.stream.Sync(r.stream.submitted)
	require.NoError(t, <-owners[0].ended)
}

// TestProcessIsIgnored has more faults than macOS lets pass: the error names the first, and what helps.
func TestProcessIsIgnored(t *testing.T) {
	if !alone(t, "FAKEMETAL_PENALTY_MS=700") {
		return
	}
	r := newRig(t, Config{})
	p, c := r.sum(8)
	run := func() error {
		o := newOwner()
		c.Owner = o
		r.stream.Sync(r.stream.Run(p, c))
		return <-o.ended
	}
	for code := range 3 {
		fakemetal.Fail(t, "command_buffer", 1, code+1)
		require.ErrorContains(t, run(), "[add] the GPU stopped the command buffer")
	}
	for range 2 {
		err := run()
		require.Equal(t, status.Device, status.CodeOf(err))
		require.ErrorContains(t, err, "macOS takes no more work of this process for now: start a new process")
		require.ErrorContains(t, err, "The first failure was the GPU stopped the command buffer")
		require.ErrorContains(t, err, "Internal Error")
	}
	time.Sleep(time.Second)
	require.NoError(t, run(), "when the penalty is over")
}

// TestEmptyCommandBufferBehindGraph has a command buffer with nothing but a recorded event, or a wait for another
// stream, between a graph and an encoder that reads its result: the fence knows of neither, and the mock ends the
// process if nothing else puts them in order.
func TestEmptyCommandBufferBehindGraph(t *testing.T) {
	if !alone(t, "FAKEMETAL_STRICT=1") {
		return
	}
	r := newRig(t, Config{Prefer: PreferGraphs})
	needGraphs(t, r.Device)
	p, first := r.sum(8)
	other := r.newStream()
	time.AfterFunc(200*time.Millisecond, fakemetal.Hold(t)) // the graph may commit and wait
	r.stream.Run(p, first)
	e, _ := r.NewEvent()
	r.stream.Record(e) // ends the command buffer of the graph
	r.stream.Record(e) // one of its own
	second, read := call(r.of(make([]float32, 8)...), first.Out[0])
	r.stream.Copy(second)
	r.stream.Record(e)
	other.Wait(e)
	other.Record(e) // a command buffer that does nothing but wait
	third, again := call(r.of(make([]float32, 8)...), first.Out[0])
	other.Copy(third)
	other.Record(e)
	r.stream.Sync(r.stream.submitted)
	other.Sync(other.submitted)
	require.NoError(t, <-read.ended)
	require.NoError(t, <-again.ended)
	require.Equal(t, floats(&first.Out[0]), floats(&second.Out[0]))
	require.Equal(t, floats(&first.Out[0]), floats(&third.Out[0]))
	require.NoError(t, other.Close())
}
