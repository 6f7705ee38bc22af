package host

import (
	"errors"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// step is a kernel that a test steers.
type step struct {
	engine.Simple
	do func() error
}

func (s step) Run(*engine.Threads, *device.Call) error { return s.do() }

// submit runs a function as a piece of work of a stream.
func submit(s device.Stream, do func() error) *owner {
	o := newOwner()
	l := dims(1)
	s.Run(&program{step{do: do}}, &device.Call{Out: []device.Operand{{Layout: l}}, Owner: o})
	return o
}

func TestStreamKeepsOrder(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		var order []int
		for i := range 3 * queueLength { // more than the queue holds
			submit(r.stream, func() error {
				order = append(order, i)
				return nil
			})
		}
		require.NoError(t, submit(r.stream, func() error { return nil }).wait())
		require.Len(t, order, 3*queueLength)
		for i, v := range order {
			require.Equal(t, i, v)
		}
	})
}

// TestQueueTakesWhatComes holds a queue up while it grows, twice, from wherever its ring begins.
func TestQueueTakesWhatComes(t *testing.T) {
	r := newRig(t, Config{Async: true, InlineLimit: -1})
	for range 2 {
		gate, order := make(chan struct{}), []int(nil)
		submit(r.stream, func() error { <-gate; return nil })
		for i := range 5 * queueLength {
			submit(r.stream, func() error {
				order = append(order, i)
				return nil
			})
		}
		last := submit(r.stream, func() error { return nil })
		close(gate)
		require.NoError(t, last.wait())
		require.Len(t, order, 5*queueLength)
		for i, v := range order {
			require.Equal(t, i, v)
		}
	}
}

// TestSyncWakesEveryone has many wait for different tickets, late ones first.
func TestSyncWakesEveryone(t *testing.T) {
	r := newRig(t, Config{Async: true, InlineLimit: -1})
	const count = 50
	gates := make(chan struct{})
	for range count {
		submit(r.stream, func() error { <-gates; return nil })
	}
	var waiting sync.WaitGroup
	for ticket := device.Ticket(count); ticket > 0; ticket-- {
		waiting.Go(func() {
			r.stream.Sync(ticket)
			if r.stream.Done() < ticket {
				t.Errorf("woken at %d, before %d", r.stream.Done(), ticket)
			}
		})
	}
	for range count {
		gates <- struct{}{}
	}
	waiting.Wait()
}

func TestStreamCountsTickets(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		require.Zero(t, r.stream.Done())
		want := device.Ticket(0)
		number := func() device.Ticket { // of the next piece of work; always 0 where nothing is queued
			if r.Info().Async {
				want++
			}
			return want
		}
		for range 5 {
			o := newOwner()
			got := r.stream.Run(&program{step{do: func() error { return nil }}}, &device.Call{Out: []device.Operand{{Layout: dims(1)}}, Owner: o})
			require.Equal(t, number(), got)
			require.NoError(t, o.wait())
		}
		e := must(r.NewEvent())
		require.Equal(t, number(), r.stream.Record(e))
		r.stream.Sync(want)
		require.Equal(t, want, r.stream.Done())
		require.True(t, e.Done())
	})
}

// TestStreamManyCallers has callers race; on a queue their work must never run at the same time.
func TestStreamManyCallers(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		var running, total atomic.Int64
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				for range 200 {
					submit(r.stream, func() error {
						if running.Add(1) != 1 && r.Info().Async {
							return errors.New("two pieces of work run at once")
						}
						total.Add(1)
						running.Add(-1)
						return nil
					})
				}
			})
		}
		callers.Wait()
		require.NoError(t, submit(r.stream, func() error { return nil }).wait())
		require.EqualValues(t, 1600, total.Load())
	})
}

func TestStreamSurvivesErrorsAndPanics(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		why := status.Errorf(status.Math, "[step] failed")
		require.Equal(t, error(why), submit(r.stream, func() error { return why }).wait())
		err := submit(r.stream, func() error { panic("oh") }).wait()
		require.Equal(t, status.Internal, status.CodeOf(err))
		require.ErrorContains(t, err, "oh")
		require.NoError(t, submit(r.stream, func() error { return nil }).wait())
	})
}

// TestStreamSkipsWhatIsNotReady hands the owner's error back without running.
func TestStreamSkipsWhatIsNotReady(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		o := newOwner()
		o.ready = status.Errorf(status.Device, "[step] an input was lost")
		ran := false
		r.stream.Run(&program{step{do: func() error { ran = true; return nil }}}, &device.Call{Out: []device.Operand{{Layout: dims(1)}}, Owner: o})
		require.Equal(t, o.ready, o.wait())
		require.False(t, ran)
	})
}

// gated is what work waits for until it is opened: at the latest when the test ends, so that one that fails ends too.
func gated(t *testing.T) (gate <-chan struct{}, open func()) {
	c := make(chan struct{})
	open = sync.OnceFunc(func() { close(c) })
	t.Cleanup(open)
	return c, open
}

// TestEvents orders two streams and takes times from the worker.
func TestEvents(t *testing.T) {
	for name, config := range modes {
		if !config.Async {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{Async: true, InlineLimit: -1, Threads: config.Threads})
			other := must(r.NewStream())
			gate, open := gated(t)
			e := must(r.NewEvent())
			require.True(t, e.Done(), "never recorded")
			_, ok := e.Time()
			require.False(t, ok)

			first := submit(r.stream, func() error { <-gate; return nil })
			r.stream.Record(e)
			other.Wait(e)
			ran := make(chan struct{})
			second := submit(other, func() error { close(ran); return nil })
			require.False(t, e.Done())
			select {
			case <-ran:
				t.Fatal("the second stream did not wait")
			case <-time.After(5 * time.Millisecond):
			}
			before := time.Since(engine.Epoch)
			open()
			require.NoError(t, first.wait())
			require.NoError(t, second.wait())
			e.Sync()
			require.True(t, e.Done())
			ns, ok := e.Time()
			require.True(t, ok)
			require.GreaterOrEqual(t, ns, int64(before))
			require.NoError(t, e.Close())
			require.NoError(t, other.Close())
		})
	}
}

// TestWaitTakesThePointAlong records an event again while a goroutine waits for the first point.
func TestWaitTakesThePointAlong(t *testing.T) {
	r := newRig(t, Config{Async: true, InlineLimit: -1})
	other := must(r.NewStream())
	defer func() { require.NoError(t, other.Close()) }()
	gate, open := gated(t)
	e := must(r.NewEvent())
	r.stream.Record(e)
	other.Wait(e)
	blocked := submit(r.stream, func() error { <-gate; return nil })
	r.stream.Record(e)
	require.NoError(t, submit(other, func() error { return nil }).wait())
	require.False(t, e.Done())
	open()
	require.NoError(t, blocked.wait())
	e.Sync()
}

// TestTimesOfEventsAreOfTheLastPoint records an event again before the first point has passed.
func TestTimesOfEventsAreOfTheLastPoint(t *testing.T) {
	r := newRig(t, Config{Async: true, InlineLimit: -1})
	gate, open := gated(t)
	last, openLast := gated(t)
	e := must(r.NewEvent())
	first := submit(r.stream, func() error { <-gate; return nil })
	r.stream.Record(e)
	between := submit(r.stream, func() error { return nil })
	second := submit(r.stream, func() error { <-last; return nil })
	r.stream.Record(e)
	open()
	require.NoError(t, first.wait())
	require.NoError(t, between.wait()) // the first point has passed
	_, ok := e.Time()
	require.False(t, ok, "the time of the first point")
	openLast()
	require.NoError(t, second.wait())
	e.Sync()
	_, ok = e.Time()
	require.True(t, ok)
}

// TestWaitWithoutWorker holds back a stream of the cpu place until a queue has come to a point.
func TestWaitWithoutWorker(t *testing.T) {
	queue, direct := newRig(t, Config{Async: true, InlineLimit: -1}), newRig(t, Config{})
	gate := make(chan struct{})
	e := must(queue.NewEvent())
	var passed atomic.Bool
	submit(queue.stream, func() error { <-gate; passed.Store(true); return nil })
	queue.stream.Record(e)
	time.AfterFunc(time.Millisecond, func() { close(gate) })
	direct.stream.Wait(e)
	require.NoError(t, submit(direct.stream, func() error {
		if !passed.Load() {
			return errors.New("ran too early")
		}
		return nil
	}).wait())
}

func TestCopy(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		x, y := of(dtype.Float32, dims(70000), 1, 2, 3), of(dtype.Float32, dims(70000), 0)
		o := newOwner()
		r.stream.Copy(&device.Call{In: operands(x), Out: operands(y), Owner: o})
		require.NoError(t, o.wait())
		require.Equal(t, x.memory, y.memory)

		o = newOwner()
		r.stream.Copy(&device.Call{In: operands(x), Out: operands(of(dtype.Float32, dims(3), 0)), Owner: o})
		require.Equal(t, status.Internal, status.CodeOf(o.wait()))
	})
}

func TestProgramOfAnotherDevice(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		o := newOwner()
		r.stream.Run(nil, &device.Call{Out: []device.Operand{{Layout: dims(1)}}, Owner: o})
		require.Equal(t, status.Internal, status.CodeOf(o.wait()))
	})
}

func TestCompileTakesOneOperator(t *testing.T) {
	_, err := newRig(t, Config{}).Compile(&device.Plan{})
	require.Equal(t, status.Unsupported, status.CodeOf(err))
}

func TestKeys(t *testing.T) {
	r := newRig(t, Config{})
	l := dims(2)
	key := func(name string, out dtype.DType, in ...dtype.DType) device.Key {
		c := &device.Call{Out: []device.Operand{{DType: out, Layout: l}}}
		for _, d := range in {
			c.In = append(c.In, device.Operand{DType: d, Layout: l})
		}
		id := op.MustByName(name).ID
		require.Zero(t, testing.AllocsPerRun(10, func() { r.Key(id, c) }))
		return r.Key(id, c)
	}
	require.Equal(t, key("cast", dtype.Int8, dtype.Bool), key("cast", dtype.Int8, dtype.Bool))
	require.NotEqual(t, key("cast", dtype.Int8, dtype.Bool), key("cast", dtype.Bool, dtype.Int8))
	require.NotEqual(t, key("cast", dtype.Int8, dtype.Bool), key("assign", dtype.Int8, dtype.Bool))

	many := slices.Repeat([]dtype.DType{dtype.Float32}, 20)
	first, last := slices.Clone(many), slices.Clone(many)
	first[0], last[19] = dtype.Int8, dtype.Int8
	keys := []device.Key{
		key("concat", dtype.Float32, many...), key("concat", dtype.Float32, many[1:]...),
		key("concat", dtype.Float32, first...), key("concat", dtype.Float32, last...),
	}
	for i := range keys {
		require.NotContains(t, keys[:i], keys[i], "calls with many operands")
	}
}

// asked is a device behind its interface, as the runtime calls it.
var asked device.Device

// BenchmarkKey is part of what every call pays: of an operator without a choice of variants, and with one.
func BenchmarkKey(b *testing.B) {
	asked = newRig(b, Config{}).Device
	for _, id := range []op.ID{op.IDAdd, op.IDMatmul} {
		b.Run(op.ByID(id).Name, func(b *testing.B) {
			l := dims(2, 2)
			c := &device.Call{Op: id, In: operands(of(dtype.Float32, l), of(dtype.Float32, l)), Out: operands(of(dtype.Float32, l))}
			for b.Loop() {
				asked.Key(id, c)
			}
		})
	}
}

func TestHeap(t *testing.T) {
	d := newRig(t, Config{}).Device
	for _, size := range []int64{1, 4096, 100000, hugeHeap + 1} {
		h, err := d.NewHeap(size)
		require.NoError(t, err)
		mem := h.Bytes()
		require.Len(t, mem, int(size))
		require.Zero(t, uintptr(unsafe.Pointer(&mem[0]))%uintptr(os.Getpagesize()))
		require.Zero(t, mem[0]|mem[size-1])
		mem[0], mem[size-1] = 1, 1
		require.NoError(t, h.Close())
		require.NoError(t, h.Close(), "twice")
	}
	for size, code := range map[int64]status.Code{0: status.Invalid, -1: status.Invalid, math.MaxInt64: status.OutOfMemory, 1 << 60: status.OutOfMemory} {
		_, err := d.NewHeap(size)
		require.Equal(t, code, status.CodeOf(err))
	}
}

func TestInfo(t *testing.T) {
	d := New(Config{UUID: [16]byte{1}, Async: true, Threads: 3})
	defer func() { require.NoError(t, d.Close()) }()
	i := d.Info()
	require.NotEmpty(t, i.Name)
	require.Equal(t, "host", i.Backend)
	require.Greater(t, i.TotalMemory, int64(64<<20))
	require.Less(t, i.Recommended, i.TotalMemory)
	require.Equal(t, [16]byte{1}, i.UUID)
	require.Equal(t, 3, i.Processors)
	require.True(t, i.Async && i.BFloat16)
}

// TestRunDoesNotAllocate covers the warm path of each family, in lanes and out of them.
func TestRunDoesNotAllocate(t *testing.T) {
	if sample.UnderRace {
		t.Skip("the race detector makes sync.Pool forget at random")
	}
	r := newRig(t, Config{Threads: 1})
	flat, odd := dims(30, 40), layouts(30, 40)["transposed"]
	x, y, out := of(dtype.Float32, flat, 1), place(dtype.Float32, odd, 0, 2), of(dtype.Float32, flat)
	for name, c := range map[string]*device.Call{
		"add":     {In: operands(x, y), Out: operands(out)},
		"exp":     {In: operands(y), Out: operands(out)},
		"assign":  {In: operands(y), Out: operands(out)},
		"softmax": {In: operands(x), Out: operands(out), Axes: 2},
		"sum":     {In: operands(y), Out: operands(of(dtype.Float32, dims(30, 1))), Axes: 2},
		"cumsum":  {In: operands(y), Out: operands(out), Axes: 2},
		"layer_norm": {
			In:  []device.Operand{y.Operand, place(dtype.Float32, layouts(40)["padded"], 0, 1).Operand, {}},
			Out: []device.Operand{out.Operand, {}}, Axes: 2,
			Attrs: op.Attrs{op.LayerNormEpsilon: decimal(1e-5), op.LayerNormCentered: whole(1)},
		},
		"matmul":  {In: operands(x, of(dtype.Float32, dims(40, 40), 1)), Out: operands(out)},
		"full":    {Out: operands(out), Attrs: op.Attrs{{}, whole(1), {}}},
		"uniform": {Out: operands(out), Attrs: op.Attrs{{}, decimal(0), decimal(1), {}}},
	} {
		c.Owner = quiet{}
		p := must(r.compile(name, c))
		allocs := testing.AllocsPerRun(50, func() { r.stream.Run(p, c) })
		require.LessOrEqual(t, allocs, 0.2, name) // a pool may be emptied in between
	}
}
