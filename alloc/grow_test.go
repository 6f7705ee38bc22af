package alloc

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/stretchr/testify/require"
)

func TestHardLimit(t *testing.T) {
	a, source := whole(t, Config{Hard: 20 * miB})
	mustAlloc(t, a, 7*miB, nil)
	mustAlloc(t, a, 8*miB, nil)
	b := mustAlloc(t, a, 4*miB, nil)
	require.Equal(t, int64(20*miB), source.bytes, "the last heap is what is left")
	_, err := a.Alloc(2*miB, nil)
	require.Equal(t, status.OutOfMemory, status.CodeOf(err))
	require.EqualError(t, err, "[alloc] 2.00 MiB requested (2097152 bytes); allocated 19.00 MiB, "+
		"reserved 20.00 MiB, cached 1.00 MiB, limit 20.00 MiB, largest free run 1.00 MiB: the limit is exceeded")
	require.Equal(t, int64(1), a.Stats().OOMs)
	free(t, a, b)
	mustAlloc(t, a, 2*miB, nil)

	a.SetLimits(0, 0)
	mustAlloc(t, a, 64*miB, nil)
	require.NoError(t, check(a))
}

// Memory that another goroutine is just giving back is not missing.
func TestWaitsForHeapsBeingClosed(t *testing.T) {
	a, source := whole(t, Config{Hard: 8 * miB})
	started, finish := make(chan bool), make(chan bool)
	source.onClose = func() {
		started <- true
		<-finish
	}
	free(t, a, mustAlloc(t, a, 8*miB, nil))
	go a.EmptyCache()
	<-started
	time.AfterFunc(10*time.Millisecond, func() { finish <- true })
	mustAlloc(t, a, 8*miB, nil)
}

// Each step that makes room is taken only when those before it did not help.
func TestMakingRoom(t *testing.T) {
	const limit = 16 * miB
	t.Run("idle heaps", func(t *testing.T) {
		s := &fakeStream{}
		a, source := whole(t, Config{Hard: limit + 8*miB})
		x, y, z := mustAlloc(t, a, 8*miB, nil), mustAlloc(t, a, 8*miB, nil), mustAlloc(t, a, 256, s)
		free(t, a, x)
		free(t, a, y)
		free(t, a, z, Use{s, s.submit()})
		mustAlloc(t, a, 16*miB, nil)
		require.Equal(t, 2, source.open)
		require.Equal(t, int64(1), a.Stats().Retries)
		require.Zero(t, s.syncs.Load())
	})
	t.Run("finished work", func(t *testing.T) {
		s := &fakeStream{}
		a, _ := whole(t, Config{Hard: limit})
		free(t, a, mustAlloc(t, a, 16*miB, s), Use{s, s.submit()})
		s.finish(1)
		mustAlloc(t, a, 16*miB, nil)
		require.Zero(t, s.syncs.Load())
		require.Zero(t, a.Stats().Retries)
	})
	t.Run("pending work", func(t *testing.T) {
		s1, s2 := &fakeStream{}, &fakeStream{}
		a, _ := whole(t, Config{Hard: limit})
		s1.onSync = func() { a.Stats() } // would hang if a lock were held
		x, y := mustAlloc(t, a, 8*miB, s1), mustAlloc(t, a, 8*miB, s2)
		free(t, a, x, Use{s1, s1.submit()})
		free(t, a, y, Use{s1, s1.submit()}, Use{s2, s2.submit()})
		mustAlloc(t, a, 16*miB, nil)
		require.Equal(t, uint64(2), s1.Done())
		require.Equal(t, uint64(1), s2.Done())
	})
	t.Run("reclaim", func(t *testing.T) {
		var a *Allocator
		var hoard []*Block
		calls := 0
		a, _ = whole(t, Config{Hard: limit, Reclaim: func(need int64) bool {
			calls++
			require.Equal(t, int64(12*miB), need)
			b, err := a.Alloc(256, nil) // no lock is held
			require.NoError(t, err)
			a.Free(b, nil)
			a.Free(hoard[0], nil)
			hoard = hoard[1:]
			return true
		}})
		hoard = append(hoard, mustAlloc(t, a, 4*miB, nil), mustAlloc(t, a, 3*miB, nil), mustAlloc(t, a, 3*miB, nil))
		mustAlloc(t, a, 12*miB, nil)
		require.Equal(t, 3, calls)
	})
	t.Run("reclaim that does not help", func(t *testing.T) {
		calls := 0
		a, _ := whole(t, Config{Hard: limit, Reclaim: func(int64) bool { calls++; return true }})
		_, err := a.Alloc(17*miB, nil)
		require.Equal(t, status.OutOfMemory, status.CodeOf(err))
		require.Equal(t, maxReclaims, calls)
	})
}

func TestAgeing(t *testing.T) {
	var clock fakeClock
	a, source := whole(t, Config{MaxAge: time.Minute, Now: clock.now})
	x, y := mustAlloc(t, a, 8*miB, nil), mustAlloc(t, a, 8*miB, nil)
	free(t, a, x)
	require.Zero(t, a.Age())
	clock.ns.Add(int64(40 * time.Second))
	free(t, a, y)
	require.Zero(t, a.Age())
	clock.ns.Add(int64(20 * time.Second))
	require.Equal(t, int64(8*miB), a.Age(), "the first is a minute old")
	clock.ns.Add(int64(39 * time.Second))
	require.Zero(t, a.Age())
	x = mustAlloc(t, a, 256, nil)
	free(t, a, x)
	clock.ns.Add(int64(time.Second))
	require.Zero(t, a.Age(), "use makes it young again")
	a.maxAge = 0
	require.Zero(t, a.Age(), "no age is too old")
	a.maxAge = int64(time.Second)
	clock.ns.Add(int64(time.Second))
	require.Equal(t, int64(8*miB), a.Age())
	require.Zero(t, source.open)
	require.NoError(t, check(a))
}

func TestAgeingByCalls(t *testing.T) {
	var clock fakeClock
	a, source := whole(t, Config{MaxAge: time.Minute, Now: clock.now})
	big := mustAlloc(t, a, 16*miB, nil)
	small := mustAlloc(t, a, 10*miB, nil)
	mustAlloc(t, a, 22*miB, nil)
	free(t, a, big)
	free(t, a, small)
	for range 3 {
		for range checkEvery {
			a.Free(mustAlloc(t, a, 9*miB, nil), nil)
		}
		clock.ns.Add(int64(time.Hour))
	}
	require.Equal(t, 1, source.calls-source.open)
}

func TestSoftLimit(t *testing.T) {
	var clock fakeClock
	a, source := whole(t, Config{Soft: 20 * miB, MaxAge: time.Hour, Now: clock.now})
	x, y, z := mustAlloc(t, a, 8*miB, nil), mustAlloc(t, a, 8*miB, nil), mustAlloc(t, a, 8*miB, nil)
	require.Equal(t, int64(24*miB), source.bytes, "the soft limit refuses nothing")
	oldest := y.Heap
	free(t, a, y)
	free(t, a, z)
	require.Equal(t, int64(8*miB), a.Age(), "only down to the limit, the oldest first")
	require.Zero(t, a.Age())
	for _, h := range a.heaps {
		require.NotSame(t, oldest, h.mem)
	}
	mustAlloc(t, a, 12*miB, nil)
	require.Equal(t, int64(40*miB), source.bytes, "idle heaps go before another comes")
	free(t, a, x)
}

// The source fails at every call in turn, until the program gets through without a failure.
func TestSourceFailsAtEveryCall(t *testing.T) {
	stuck := status.Errorf(status.Device, "[fake] stuck")
	for _, failFor := range []error{nil, stuck, errors.New("other")} {
		n := 1
		for ; ; n++ {
			source := &fakeSource{failAt: n, failFor: failFor, blind: true}
			a := New(Config{Source: source})
			failed := allocateAll(t, a)
			require.NoError(t, check(a))
			require.LessOrEqual(t, failed, 1, "call %d", n)
			if failFor != nil { // want of memory may be made good by a shorter heap
				require.Equal(t, n <= source.calls, failed == 1, "call %d", n)
			}
			require.NoError(t, a.Close())
			require.Zero(t, source.open)
			if source.calls < n {
				break
			}
		}
		t.Logf("%v: %d calls failed", failFor, n-1)
		require.Greater(t, n, 5)
	}
}

// allocateAll runs a program that needs several heaps, and counts the allocations that failed.
func allocateAll(t *testing.T, a *Allocator) (failed int) {
	var blocks []*Block
	for _, size := range []int64{1, 7 * miB, 2 * miB, 9 * miB, 40 * miB, 300 * miB, 8 * miB, 200 * miB, 1 << 30} {
		b, err := a.Alloc(size, nil)
		if err != nil {
			require.Nil(t, b)
			failed++
			b, err = a.Alloc(size, nil)
			require.NoError(t, err, "the next call works")
		}
		blocks = append(blocks, b)
	}
	for _, b := range blocks {
		a.Free(b, nil)
	}
	return failed
}

func TestSourceThatRefuses(t *testing.T) {
	source := &fakeSource{limit: 3 * miB}
	a := New(Config{Source: source})
	b := mustAlloc(t, a, 2*miB, nil)
	require.Equal(t, int64(2*miB), source.bytes, "a shorter heap than usual is better than none")
	_, err := a.Alloc(2*miB, nil)
	require.Equal(t, status.OutOfMemory, status.CodeOf(err))
	require.ErrorContains(t, err, "no limit, largest free run 0 B: [fake] no")
	free(t, a, b)
	mustAlloc(t, a, 3*miB, nil)
}

// Sixteen goroutines share an allocator that is often out of memory, with work on four streams.
func TestHammer(t *testing.T) {
	const workers, rounds, limit = 16, 1500, 48 * miB
	source := &fakeSource{}
	streams := [4]*fakeStream{{}, {}, {}, {}}
	a := New(Config{
		Source: source, Hard: limit, Soft: limit / 2, MaxAge: time.Microsecond,
		Reclaim: func(int64) bool { return false },
	})
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() { hammer(t, a, streams[:], uint64(w), rounds) })
	}
	wait.Wait()
	require.NoError(t, check(a))
	require.Zero(t, a.Stats().Allocated.Current)
	require.Zero(t, a.Stats().BadFrees)
	require.NoError(t, a.Close())
	require.Zero(t, source.open)
}

// A dedicated heap serves requests of nearly its size, and smaller ones only when there is no other memory.
func TestDedicatedHeaps(t *testing.T) {
	a := New(Config{Source: &fakeSource{blind: true, limit: 104 * miB}})
	first := mustAlloc(t, a, 100*miB, nil)
	free(t, a, first)
	for _, c := range []struct {
		size      int64
		dedicated bool
	}{{100 * miB, true}, {90 * miB, true}, {miB, false}} {
		b := mustAlloc(t, a, c.size, nil)
		require.Equal(t, c.dedicated, b.heap.dedicated, "size %d", c.size)
		free(t, a, b)
	}
	held := mustAlloc(t, a, 90*miB, nil)
	b := mustAlloc(t, a, 9*miB, nil) // there is no more memory for a heap: what 90 MiB left is cut
	require.True(t, b.heap.dedicated)
	free(t, a, b)
	free(t, a, held)
	require.NoError(t, a.Close())
}

// A smaller request gets a heap of its own, so that the dedicated one serves the next request of its size.
func TestDedicatedHeapsStayWhole(t *testing.T) {
	a := New(Config{Source: &fakeSource{blind: true}})
	free(t, a, mustAlloc(t, a, 100*miB, nil))
	small := mustAlloc(t, a, 40*miB, nil)
	require.Nil(t, small.prev)
	require.Nil(t, small.next)
	free(t, a, small)
	require.NoError(t, a.Close())
}

// What idle heaps hold is bounded by what the program once had in use.
func TestIdleHeapsMakeRoomForNewOnes(t *testing.T) {
	source := &fakeSource{blind: true}
	a := New(Config{Source: source})
	for _, size := range []int64{100, 150, 200, 300, 400} {
		free(t, a, mustAlloc(t, a, size*miB, nil))
		peak := size * miB
		require.LessOrEqual(t, source.bytes, peak+peak/20+slack, "after %d MiB", size)
	}
	require.Equal(t, int64(400*miB), a.Stats().Active.Peak)
	require.Equal(t, int64(400*miB), source.bytes, "200 and 300 went for 400")
	require.NoError(t, a.Close())
}

// Memory that is freed is given out again at the same address: its pages have been touched.
func TestFreedMemoryComesBack(t *testing.T) {
	a := New(Config{Source: &fakeSource{}})
	for _, size := range []int64{256, 5000, miB, 7 * miB, 20 * miB, 64 * miB} {
		first := mustAlloc(t, a, size, nil)
		at := first.Addr
		free(t, a, first)
		again := mustAlloc(t, a, size, nil)
		require.Equal(t, at, again.Addr, "size %d", size)
		free(t, a, again)
	}
	require.NoError(t, a.Close())
}
