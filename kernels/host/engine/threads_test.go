package engine

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/internal/sample"
)

// tally counts how often each piece is done.
type tally []atomic.Int32

func (c tally) Part(_ *device.Call, lo, hi int64) error {
	for ; lo < hi; lo++ {
		c[lo].Add(1)
	}
	return nil
}

// once is an error for a piece that was not done exactly once since the last look.
func (c tally) once(t *testing.T) {
	t.Helper()
	for i := range c {
		if n := c[i].Swap(0); n != 1 {
			t.Fatalf("piece %d of %d was done %d times", i, len(c), n)
		}
	}
}

// TestEachPieceIsDoneOnce lets several callers share a pool, so that workers are busy, asleep or watching when they are
// asked, and come late to calls that have ended.
func TestEachPieceIsDoneOnce(t *testing.T) {
	for _, count := range []int{1, 2, 3, 8} {
		pool := StartThreads(count)
		var callers sync.WaitGroup
		for caller := range 3 {
			callers.Go(func() {
				for i := range 2000 {
					work := make(tally, 1+(i*7+caller)%67)
					cost := int64([]int{LeastForThread, 2 * LeastForThread, LeastToWake, 100 * LeastForThread}[i%4])
					if err := pool.Each(work, nil, int64(len(work)), cost); err != nil {
						t.Error(err)
					}
					work.once(t)
					if i%500 == 499 {
						time.Sleep(2 * patience) // until the workers sleep
					}
				}
			})
		}
		callers.Wait()
		pool.Close()
	}
}

// meeting is work of two pieces that wait for each other: one thread alone would never end.
type meeting struct{ met sync.WaitGroup }

func (m *meeting) Part(_ *device.Call, lo, hi int64) error {
	for ; lo < hi; lo++ {
		m.met.Done()
		m.met.Wait()
	}
	return nil
}

// TestWorkersTakePart has as many pieces that wait for each other as there are threads, with workers that watch and with
// workers that sleep.
func TestWorkersTakePart(t *testing.T) {
	const count = 4
	pool := StartThreads(count)
	defer pool.Close()
	for _, asleepFirst := range []bool{false, true} {
		for i := range pool.workers {
			for asleepFirst && pool.workers[i].state.Load() != asleep {
				time.Sleep(patience)
			}
		}
		m := new(meeting)
		m.met.Add(count)
		require.NoError(t, pool.Each(m, nil, count, LeastToWake))
	}
}

// held is work whose last piece waits.
type held struct{ begun, end chan struct{} }

func (h held) Part(_ *device.Call, lo, hi int64) error {
	if hi == 2 {
		close(h.begun)
		<-h.end
	}
	return nil
}

// releases is a meeting that lets other work end first.
type releases struct {
	meeting
	once  sync.Once
	other held
}

func (r *releases) Part(c *device.Call, lo, hi int64) error {
	r.once.Do(func() { close(r.other.end) })
	return r.meeting.Part(c, lo, hi)
}

// TestBusyWorkersComeLater has a call that begins while the only worker, or the caller that shares with it, is held by another. It
// would never end if the thread that is free then did not come.
func TestBusyWorkersComeLater(t *testing.T) {
	pool := StartThreads(2)
	defer pool.Close()
	for range 100 {
		first := held{make(chan struct{}), make(chan struct{})}
		ended := make(chan error)
		go func() { ended <- pool.Each(first, nil, 2, LeastToWake) }()
		<-first.begun
		second := &releases{other: first}
		second.met.Add(2)
		require.NoError(t, pool.Each(second, nil, 2, LeastToWake))
		require.NoError(t, <-ended)
	}
}

// TestMoreCallsThanShelves has more calls at a time than can be offered to workers.
func TestMoreCallsThanShelves(t *testing.T) {
	pool := StartThreads(3)
	defer pool.Close()
	m := new(meeting)
	m.met.Add(2 * len(pool.shelves))
	var callers sync.WaitGroup
	for range 2 * len(pool.shelves) {
		callers.Go(func() {
			work := make(tally, 50)
			_ = m.Part(nil, 0, 1)
			for range 200 {
				if err := pool.Each(work, nil, int64(len(work)), LeastToWake); err != nil {
					t.Error(err)
				}
				work.once(t)
			}
		})
	}
	callers.Wait()
}

// TestSleepersAreLeftAlone has work that is not worth waking a worker for.
func TestSleepersAreLeftAlone(t *testing.T) {
	pool := StartThreads(2)
	defer pool.Close()
	for pool.workers[0].state.Load() != asleep {
		time.Sleep(patience)
	}
	work := make(tally, 100)
	require.NoError(t, pool.Each(work, nil, int64(len(work)), LeastToWake-1))
	work.once(t)
	require.EqualValues(t, asleep, pool.workers[0].state.Load())
}

// TestPatienceIsLearned has sleeps that are short, which make a worker watch longer up to a limit, and a long one, after which it
// watches as at first.
func TestPatienceIsLearned(t *testing.T) {
	w := worker{patience: patience}
	for _, want := range []time.Duration{2, 4, 8, 8} {
		w.learn(patience)
		require.Equal(t, want*patience, w.patience)
	}
	w.learn(mostPatience)
	require.Equal(t, mostPatience, w.patience)
	w.learn(mostPatience + 1)
	require.Equal(t, patience, w.patience)
}

// bomb panics in its last piece.
type bomb struct{ done tally }

func (b bomb) Part(c *device.Call, lo, hi int64) error {
	if err := b.done.Part(c, lo, hi); hi == int64(len(b.done)) {
		panic(err)
	}
	return nil
}

// TestThreadsSurvivePanics does the other pieces, and the next call.
func TestThreadsSurvivePanics(t *testing.T) {
	pool := StartThreads(4)
	defer pool.Close()
	for range 100 {
		b := bomb{make(tally, 100)}
		require.Equal(t, status.Internal, status.CodeOf(pool.Each(b, nil, 100, 100*LeastForThread)))
		b.done.once(t)
		require.NoError(t, pool.Each(b.done, nil, 100, 100*LeastForThread))
		b.done.once(t)
	}
}

// TestEachAllocatesNothing has calls that are shared and calls that are not.
func TestEachAllocatesNothing(t *testing.T) {
	if sample.UnderRace {
		t.Skip("the race detector makes sync.Pool forget")
	}
	pool := StartThreads(2)
	defer pool.Close()
	var work Splitter = make(tally, 64)
	for _, cost := range []int64{LeastForThread, 2 * LeastForThread, 100 * LeastForThread} {
		require.Zero(t, testing.AllocsPerRun(1000, func() { _ = pool.Each(work, nil, 64, cost) }), "cost %d", cost)
	}
}

// BenchmarkEach is what it takes to share work that costs nothing.
func BenchmarkEach(b *testing.B) {
	for name, pauseFor := range map[string]time.Duration{"watching": 0, "asleep": 4 * patience} {
		b.Run(name, func(b *testing.B) {
			pool := StartThreads(2)
			defer pool.Close()
			var work Splitter = make(tally, 8)
			var spent time.Duration
			for b.Loop() {
				time.Sleep(pauseFor)
				start := time.Now()
				_ = pool.Each(work, nil, 8, 100*LeastForThread)
				spent += time.Since(start)
			}
			b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N), "ns/call")
		})
	}
}
