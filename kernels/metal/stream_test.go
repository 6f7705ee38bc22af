package metal

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
)

// silent owns calls whose end is of no interest.
type silent struct{}

func (silent) Ready() error { return nil }
func (silent) Done(error)   {}

// sum is a program and a call of three tensors of n elements.
func (r *rig) sum(n int) (device.Program, *device.Call) {
	c := &device.Call{In: []device.Operand{r.of(random(n)...), r.of(random(n)...)}, Out: []device.Operand{r.of(random(n)...)}, Owner: silent{}}
	return r.compile(c), c
}

// TestWarmCall counts what a warm call costs: sends, commits, and nothing else.
func TestWarmCall(t *testing.T) {
	r := newRig(t, Config{})
	p, c := r.sum(64)
	s := r.stream
	for range 3 * mostDispatches * (mostInFlight + 2) { // fills every batch once
		s.Run(p, c)
	}
	s.Sync(s.submitted)
	fakemetal.Reset(t)
	const calls = 10 * mostDispatches
	for range calls {
		s.Run(p, c)
	}
	s.Sync(s.submitted)
	require.EqualValues(t, calls, fakemetal.Count(t, "dispatches"))
	require.EqualValues(t, calls/mostDispatches, fakemetal.Count(t, "commits"))
	require.Zero(t, fakemetal.Count(t, "buffers"))
	sends := float64(fakemetal.Count(t, "sends")) / calls
	require.LessOrEqual(t, sends, 8.0)
	t.Logf("%.2f sends a call, the command buffer's among them", sends)

	fakemetal.Reset(t)
	s.Sync(s.submitted)
	require.Zero(t, fakemetal.Count(t, "sends"), "idle Sync")
	require.Zero(t, testing.AllocsPerRun(2*mostDispatches, func() { s.Run(p, c) }))
}

// TestLingering commits what no caller waits for.
func TestLingering(t *testing.T) {
	r := newRig(t, Config{Linger: time.Millisecond})
	p, c := r.sum(8)
	ticket := r.stream.Run(p, c)
	require.Eventually(t, func() bool { return r.stream.Done() == ticket }, 10*time.Second, time.Millisecond)
}

// TestCommitsByBytes commits before there are many dispatches.
func TestCommitsByBytes(t *testing.T) {
	r := newRig(t, Config{})
	in := r.at(0, dtype.Float32, 1<<18) // 1 MiB
	c := &device.Call{In: []device.Operand{in, in}, Out: []device.Operand{r.at(1<<20, dtype.Float32, 1<<18)}, Owner: silent{}}
	p := r.compile(c)
	for range 28 {
		r.stream.Run(p, c)
	}
	require.EqualValues(t, 2, fakemetal.Count(t, "commits"), "84 MiB")
}

// TestInFlight never has more command buffers on their way than is good.
func TestInFlight(t *testing.T) {
	r := newRig(t, Config{})
	p, c := r.sum(8)
	s := r.stream
	for range 30 * mostDispatches {
		s.Run(p, c)
		s.mu.Lock()
		n := len(s.flight)
		s.mu.Unlock()
		require.LessOrEqual(t, n, mostInFlight)
	}
}

// TestWaits makes streams wait for each other in turn: each adds one to what the other has left.
func TestWaits(t *testing.T) {
	r := newRig(t, Config{})
	other := r.newStream()
	defer other.Close()
	streams := [2]*stream{r.stream, other}
	total, one := r.of(0), r.of(1)
	c := &device.Call{In: []device.Operand{total, one}, Out: []device.Operand{total}, Owner: silent{}}
	p := r.compile(c)
	const turns = 60
	for i := range turns {
		s := streams[i%2]
		s.Run(p, c)
		e, err := r.NewEvent()
		require.NoError(t, err)
		s.Record(e)
		streams[1-i%2].Wait(e)
		require.NoError(t, e.Close())
	}
	r.stream.Sync(r.stream.submitted)
	other.Sync(other.submitted)
	require.Equal(t, []float32{turns}, floats(&total))
}

// TestEventTimes are those of the command buffers' ends, in order.
func TestEventTimes(t *testing.T) {
	r := newRig(t, Config{})
	p, c := r.sum(8)
	last := int64(0)
	for range 5 {
		e, err := r.NewEvent()
		require.NoError(t, err)
		require.True(t, e.Done(), "not recorded")
		r.stream.Run(p, c)
		r.stream.Record(e)
		e.Sync()
		require.True(t, e.Done())
		ns, ok := e.Time()
		require.True(t, ok)
		require.Greater(t, ns, last)
		last = ns
	}
}

// foreignEvent is an event of another device.
type foreignEvent struct{ passed chan struct{} }

func (e foreignEvent) Done() bool {
	select {
	case <-e.passed:
		return true
	default:
		return false
	}
}
func (e foreignEvent) Sync()               { <-e.passed }
func (e foreignEvent) Time() (int64, bool) { return 0, false }
func (e foreignEvent) Close() error        { return nil }

// TestForeignEvent holds work back until another device says so, and not its caller.
func TestForeignEvent(t *testing.T) {
	r := newRig(t, Config{})
	p, c := r.sum(8)
	e := foreignEvent{make(chan struct{})}
	r.stream.Wait(e)
	out := floats(&c.Out[0])
	out[0] = 12345
	ticket := r.stream.Run(p, c)
	mark, _ := r.NewEvent()
	r.stream.Record(mark)
	time.Sleep(2 * time.Millisecond)
	require.Less(t, r.stream.Done(), ticket)
	require.EqualValues(t, 12345, out[0])
	close(e.passed)
	r.stream.Sync(ticket)
	require.Equal(t, floats(&c.In[0])[0]+floats(&c.In[1])[0], out[0])
}

// TestStopBeforeTheTurn: a call that was cancelled while its batch had to wait is not given to the GPU; those beside it are.
func TestStopBeforeTheTurn(t *testing.T) {
	r := newRig(t, Config{})
	p, cancelled := r.sum(8)
	_, other := r.sum(8)
	e := foreignEvent{make(chan struct{})}
	r.stream.Wait(e)
	out := floats(&cancelled.Out[0])
	out[0] = 12345
	end := newOwner()
	cancelled.Owner, cancelled.Stop = end, new(device.Stop)
	other.Stop = new(device.Stop)
	r.stream.Run(p, cancelled)
	ticket := r.stream.Run(p, other)
	cancelled.Stop.Request()
	fakemetal.Reset(t)
	close(e.passed)
	r.stream.Sync(ticket)
	require.Equal(t, status.Cancelled, status.CodeOf(<-end.ended))
	require.EqualValues(t, 1, fakemetal.Count(t, "dispatches"))
	require.EqualValues(t, 12345, out[0])
	require.Equal(t, floats(&other.In[0])[0]+floats(&other.In[1])[0], floats(&other.Out[0])[0])
}

// TestStopOfABatch: of a batch whose calls are all cancelled the GPU signals the end, in its turn. If the CPU did, the signal
// could come after that of a later batch, and the event would fall.
func TestStopOfABatch(t *testing.T) {
	r := newRig(t, Config{})
	p, c := r.sum(8)
	e := foreignEvent{make(chan struct{})}
	r.stream.Wait(e)
	end := newOwner()
	c.Owner, c.Stop = end, new(device.Stop)
	ticket := r.stream.Run(p, c)
	c.Stop.Request()
	fakemetal.Reset(t)
	close(e.passed)
	r.stream.Sync(ticket)
	require.Equal(t, status.Cancelled, status.CodeOf(<-end.ended))
	require.Zero(t, fakemetal.Count(t, "dispatches"))
	require.EqualValues(t, 1, fakemetal.Count(t, "commits"))
}

// TestReady hands the failure of an input to the call that was to read it, whatever the GPU did.
func TestReady(t *testing.T) {
	r := newRig(t, Config{})
	p, c := r.sum(8)
	lost := newOwner()
	lost.ready = status.Errorf(status.Math, "[divide] lost")
	c.Owner = lost
	ticket := r.stream.Run(p, c)
	r.stream.Sync(ticket)
	require.Equal(t, lost.ready, <-lost.ended)
}

// TestGPUFailure gives each call of a failed command buffer an error of its own name, releases all who
// wait, and stays usable.
func TestGPUFailure(t *testing.T) {
	r := newRig(t, Config{})
	other := r.newStream()
	defer other.Close()
	p, c := r.sum(8)
	fakemetal.Fail(t, "command_buffer", 1, 2)
	first, second := newOwner(), newOwner()
	c.Owner = first
	r.stream.Run(p, c)
	again := *c
	again.Owner = second
	r.stream.Run(p, &again)
	e, _ := r.NewEvent()
	r.stream.Record(e)
	other.Wait(e)
	third := newOwner()
	late := *c
	late.Owner = third
	other.Sync(other.Run(p, &late))
	for _, o := range []*owner{first, second} {
		err := <-o.ended
		require.Equal(t, status.Device, status.CodeOf(err))
		require.ErrorContains(t, err, "[add] the GPU stopped")
	}
	require.NoError(t, <-third.ended)
	after := newOwner()
	c.Owner = after
	r.stream.Sync(r.stream.Run(p, c))
	require.NoError(t, <-after.ended)
}

// TestNoMemory is an error that says how much was wanted.
func TestNoMemory(t *testing.T) {
	r := newRig(t, Config{})
	for _, what := range []string{"heap", "buffer"} {
		fakemetal.Fail(t, what, 1, 0)
		_, err := r.NewHeap(8 << 20)
		require.Equal(t, status.OutOfMemory, status.CodeOf(err), what)
		require.ErrorContains(t, err, "8388608")
	}
	h, err := r.NewHeap(8 << 20)
	require.NoError(t, err)
	require.Len(t, h.Bytes(), 8<<20)
	require.NoError(t, h.Close())
}

// bytesAt is n bytes of a heap, or of Go memory.
func (r *rig) bytesAt(offset, n int64) device.Operand { return r.at(offset, dtype.Uint8, n) }

func hostBytes(b []byte) device.Operand {
	return device.Operand{Addr: unsafe.Pointer(&b[0]), DType: dtype.Uint8, Layout: line(int64(len(b)))}
}

// TestCopies copies short and long, aligned and not, from and to memory that the GPU does not have, on an
// idle stream and between other work.
func TestCopies(t *testing.T) {
	for _, busy := range []bool{false, true} {
		for _, n := range []int64{1, 4096, 200_000} {
			for _, skew := range []int64{0, 1, 4} {
				t.Run(fmt.Sprintf("busy %v, %d bytes, skew %d", busy, n, skew), func(t *testing.T) {
					r := newRig(t, Config{})
					source, target := r.bytesAt(skew, n), r.bytesAt(1<<20, n)
					memory := r.heap.Bytes()
					for i := range n {
						memory[skew+i] = byte(i*7 + i/251)
					}
					if busy {
						r.used = 2 << 20
						p, c := r.sum(8)
						r.stream.Run(p, c)
					}
					back := make([]byte, n)
					for _, pair := range [][2]device.Operand{{target, source}, {hostBytes(back), target}} {
						c, o := call(pair[0], pair[1])
						r.stream.Sync(r.stream.Copy(c))
						require.NoError(t, <-o.ended)
					}
					require.Equal(t, memory[skew:skew+n], back)
					require.Equal(t, memory[skew:skew+n], memory[1<<20:1<<20+n])
				})
			}
		}
	}
}

// TestOverlappingCopies copies a range onto itself and onto ranges that it overlaps, which Metal's own copies
// refuse: the target gets what was in the source before.
func TestOverlappingCopies(t *testing.T) {
	const first = 1 << 20
	for _, busy := range []bool{false, true} {
		for _, n := range []int64{4096, 200_000} {
			for _, shift := range []int64{0, 4, -4, n / 2} {
				t.Run(fmt.Sprintf("busy %v, %d bytes, shift %d", busy, n, shift), func(t *testing.T) {
					r := newRig(t, Config{})
					source, target := r.bytesAt(first, n), r.bytesAt(first+shift, n)
					memory := r.heap.Bytes()
					for i := range n {
						memory[first+i] = byte(i*7 + i/251)
					}
					want := bytes.Clone(memory[first : first+n])
					if busy {
						r.used = 2 << 20
						p, c := r.sum(8)
						r.stream.Run(p, c)
					}
					c, o := call(target, source)
					r.stream.Sync(r.stream.Copy(c))
					require.NoError(t, <-o.ended)
					require.Equal(t, want, memory[first+shift:first+shift+n])
				})
			}
		}
	}
}

// TestCopyOrder copies what a call before it computes and a call after it overwrites, by way of memory
// that the GPU does not have.
func TestCopyOrder(t *testing.T) {
	r := newRig(t, Config{})
	total, one := r.of(0), r.of(1)
	c := &device.Call{In: []device.Operand{total, one}, Out: []device.Operand{total}, Owner: silent{}}
	p := r.compile(c)
	seen := make([]float32, 20)
	for i := range seen {
		r.stream.Run(p, c)
		to := device.Operand{Addr: unsafe.Pointer(&seen[i]), DType: dtype.Float32, Layout: line(1)}
		r.stream.Copy(&device.Call{In: []device.Operand{total}, Out: []device.Operand{to}, Owner: silent{}})
	}
	r.stream.Sync(r.stream.submitted)
	for i, v := range seen {
		require.EqualValues(t, i+1, v)
	}
}

// counting is a kernel that copies a word from the heap to where the CPU reads it.
type counting struct {
	foreign
	from device.Operand
}

// Encode encodes the copy.
func (k counting) Encode(e gpu.Encoder, _ *device.Call) error {
	from, _ := gpu.Locate(&k.from)
	buffer, offset, err := e.Word()
	if err != nil {
		return err
	}
	return e.Blit(from, gpu.Span{Buffer: buffer, Offset: offset}, 16)
}

// Finish reads the word.
func (k counting) Finish(c *device.Call, w gpu.Word) error {
	if c.Count = int64(w[0]); w[1] != 0 {
		return status.Errorf(status.Math, "integer division by zero")
	}
	return nil
}

// TestWords brings counts and faults from the GPU to the owners.
func TestWords(t *testing.T) {
	r := newRig(t, Config{})
	words := r.at(0, dtype.Int32, 4)
	memory := unsafe.Slice((*int32)(words.Addr), 4)
	p := &program{kernel: counting{from: words}}
	for _, want := range []struct{ count, fault int32 }{{7, 0}, {9, 1}, {0, 0}} {
		memory[0], memory[1] = want.count, want.fault
		c, o := call(words, words)
		r.stream.Sync(r.stream.Run(p, c))
		err := <-o.ended
		require.EqualValues(t, want.count, c.Count)
		require.Equal(t, want.fault != 0, err != nil)
	}
}

// TestForeignProgram refuses what another device compiled.
func TestForeignProgram(t *testing.T) {
	r := newRig(t, Config{})
	p, err := new(device.Null).Compile(nil)
	require.NoError(t, err)
	c, o := call(r.of(1), r.of(1))
	r.stream.Sync(r.stream.Run(p, c))
	require.ErrorContains(t, <-o.ended, "another device")
}

// TestEverythingIsGivenBack leaves no object behind.
func TestEverythingIsGivenBack(t *testing.T) {
	library := fakemetal.Library(t)
	cycle := func() {
		for _, prefer := range []Prefer{PreferShaders, PreferGraphs} {
			d, err := Open(Config{Library: library, Prefer: prefer, Linger: -1})
			require.NoError(t, err)
			r := &rig{Device: d, t: t}
			r.heap, err = d.NewHeap(room)
			require.NoError(t, err)
			r.stream = r.newStream()
			other := r.newStream()
			c := &device.Call{In: []device.Operand{r.of(1), r.of(2)}, Out: []device.Operand{r.of(0)}, Owner: silent{}}
			p, err := d.Compile(planOf(c))
			require.NoError(t, err)
			for range 100 {
				r.stream.Run(p, c)
			}
			e, _ := d.NewEvent()
			r.stream.Record(e)
			other.Wait(e)
			other.Run(p, c)
			require.NoError(t, other.Close())
			require.NoError(t, r.stream.Close())
			require.NoError(t, p.Close())
			require.NoError(t, r.heap.Close())
			require.NoError(t, d.Close())
		}
	}
	cycle()
	// The GPU lets go of a command buffer some time after it has said that it is done.
	settled := func() int64 { time.Sleep(20 * time.Millisecond); return fakemetal.Count(t, "live_objects") }
	before := settled()
	for range 3 {
		cycle()
	}
	require.Equal(t, before, settled())
}

// TestHammer submits from many goroutines to streams that wait for each other. Each goroutine counts in a number of its own, by
// a sum and a copy of it, and moves on to another stream by an event; all count in a number of each stream. A count is lost
// where two of these calls are out of order.
func TestHammer(t *testing.T) {
	for _, prefer := range []Prefer{PreferShaders, PreferGraphs} {
		t.Run(fmt.Sprint(prefer), func(t *testing.T) { hammer(t, prefer) })
	}
}

func hammer(t *testing.T, prefer Prefer) {
	const goroutines, rounds = 6, 300
	r := newRig(t, Config{Prefer: prefer, Linger: time.Millisecond})
	if prefer == PreferGraphs {
		needGraphs(t, r.Device)
	}
	streams := []*stream{r.stream, r.newStream(), r.newStream()}
	ones := make([]float32, 16)
	for i := range ones {
		ones[i] = 1
	}
	one := r.of(ones...)
	zero := func() device.Operand { return r.of(make([]float32, 16)...) }
	sum := func(x, out device.Operand) *device.Call {
		return &device.Call{In: []device.Operand{x, one}, Out: []device.Operand{out}, Owner: silent{}}
	}
	totals := []device.Operand{zero(), zero(), zero()}
	own := make([]device.Operand, goroutines)
	next := make([]device.Operand, goroutines)
	for g := range own {
		own[g], next[g] = zero(), zero()
	}
	inPlace, aside := r.compile(sum(totals[0], totals[0])), r.compile(sum(own[0], next[0]))
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range rounds {
				at := (g + i/10) % 3
				s := streams[at]
				s.Run(aside, sum(own[g], next[g]))
				ticket := s.Copy(&device.Call{In: []device.Operand{next[g]}, Out: []device.Operand{own[g]}, Owner: silent{}})
				s.Run(inPlace, sum(totals[at], totals[at]))
				switch i % 10 {
				case 3:
					runtime.Gosched()
				case 7:
					s.Sync(ticket)
				case 9:
					e, _ := r.NewEvent()
					s.Record(e)
					streams[(at+1)%3].Wait(e)
				}
			}
		})
	}
	wg.Wait()
	for _, s := range streams {
		s.Sync(s.submitted)
	}
	for _, s := range streams[1:] {
		require.NoError(t, s.Close())
	}
	require.Zero(t, fakemetal.Count(t, "early_waits"))
	counted := func(x device.Operand, want float32) {
		for _, v := range floats(&x) {
			require.InDelta(t, want, v, 0)
		}
	}
	for g := range own {
		counted(own[g], rounds)
	}
	for _, total := range totals {
		counted(total, goroutines*rounds/3)
	}
}

func BenchmarkRun(b *testing.B) {
	r := newRig(b, Config{})
	p, c := r.sum(8)
	for b.Loop() {
		r.stream.Run(p, c)
	}
	r.stream.Sync(r.stream.submitted)
	b.ReportMetric(float64(fakemetal.Count(b, "sends"))/float64(b.N), "sends/op")
}
