package program_test

import (
	goruntime "runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// tryGet is get for callers that go elsewhere to wait.
func (s *shop) tryGet(k device.Key, on program.Lane) *program.Entry {
	e, job := s.cache.TryGet(k, on, s.compile)
	if job == nil {
		return e
	}
	e, err := job.Wait(on)
	require.NoError(s.t, err)
	return e
}

// TestTryGetDoesNotWait has a compiler that blocks. TryGet returns all the same, on every call; Get and
// Wait wait for the one compilation; and it is over for all of them at once.
func TestTryGetDoesNotWait(t *testing.T) {
	s := newShop(t, program.Config{})
	gate := make(chan struct{})
	slow := func() (device.Program, error) {
		<-gate
		return s.compile()
	}
	e, first := s.cache.TryGet(key(1), 0, slow)
	require.Nil(t, e)
	e, second := s.cache.TryGet(key(1), 0, slow)
	require.Nil(t, e)
	require.Same(t, first, second, "joined")
	select {
	case <-first.Done():
		t.Fatal("over before the compiler has returned")
	default:
	}
	require.NoError(t, first.Err())
	s.use(2) // other programs compile meanwhile

	var callers sync.WaitGroup
	for i, wait := range []func(program.Lane) (*program.Entry, error){
		first.Wait,
		func(on program.Lane) (*program.Entry, error) { return s.cache.Get(key(1), on, slow) },
	} {
		callers.Go(func() {
			e, err := wait(program.Lane(i))
			if err != nil {
				t.Error(err)
				return
			}
			e.Release(program.Lane(i))
		})
	}
	close(gate)
	callers.Wait()
	<-first.Done()
	require.NoError(t, first.Err())
	e, job := s.cache.TryGet(key(1), 0, slow)
	require.Nil(t, job)
	e.Release(0)
	require.EqualValues(t, 2, s.cache.Stats().Compilations)
}

// TestTryGetIsCounted counts a look-up once, whether it is completed by Wait, or by a second look-up.
func TestTryGetIsCounted(t *testing.T) {
	s := newShop(t, program.Config{})
	s.tryGet(key(1), 0).Release(0)
	got := s.cache.Stats()
	require.Equal(t, [2]int64{0, 1}, [2]int64{got.Hits, got.Misses})
	_, job := s.cache.TryGet(key(2), 0, s.compile)
	<-job.Done()
	s.use(2)
	got = s.cache.Stats()
	require.Equal(t, [2]int64{1, 2}, [2]int64{got.Hits, got.Misses})
}

// TestTryGetFailures has the compiler fail in each way: callers that wait get the error, only
// status.Unsupported is kept, and the next look-up compiles again.
func TestTryGetFailures(t *testing.T) {
	for name, c := range map[string]struct {
		fail func() error
		want status.Code
	}{
		"memory": {func() error { return status.Errorf(status.OutOfMemory, "[compile] no") }, status.OutOfMemory},
		"panic":  {func() error { panic("broken") }, status.Internal},
		"goexit": {func() error { goruntime.Goexit(); return nil }, status.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, program.Config{})
			_, job := s.cache.TryGet(key(1), 0, func() (device.Program, error) { return nil, c.fail() })
			_, err := job.Wait(0)
			require.Equal(t, c.want, status.CodeOf(err))
			require.Equal(t, err, job.Err())
			require.Zero(t, s.cache.Stats().Entries)
			s.tryGet(key(1), 0).Release(0)
			require.EqualValues(t, 1, s.cache.Stats().Failures)
		})
	}
	s := newShop(t, program.Config{})
	_, job := s.cache.TryGet(key(1), 0, func() (device.Program, error) {
		return nil, status.Errorf(status.Unsupported, "[compile] no")
	})
	e, err := job.Wait(0)
	require.NoError(t, err)
	require.NoError(t, job.Err())
	_, err = e.Program()
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	e.Release(0)
}

// TestWaitAfterEviction gets a program that was compiled, evicted and closed before the caller came.
func TestWaitAfterEviction(t *testing.T) {
	s := newShop(t, program.Config{})
	_, job := s.cache.TryGet(key(1), 0, s.compile)
	<-job.Done()
	s.cache.Clear()
	require.EqualValues(t, 1, s.closed.Load(), "no reference keeps it")
	e, err := job.Wait(0)
	require.NoError(t, err)
	p, err := e.Program()
	require.NoError(t, err)
	require.False(t, p.(*made).closed.Load())
	e.Release(0)
	got := s.cache.Stats()
	require.Equal(t, [3]int64{0, 1, 2}, [3]int64{got.Hits, got.Misses, got.Compilations})
}

// TestCloseWaits closes the cache while a compilation runs that no caller waits for.
func TestCloseWaits(t *testing.T) {
	s := newShop(t, program.Config{})
	gate := make(chan struct{})
	_, job := s.cache.TryGet(key(1), 0, func() (device.Program, error) {
		<-gate
		return s.compile()
	})
	closed := make(chan struct{})
	go func() {
		s.cache.Close()
		close(closed)
	}()
	select {
	case <-closed:
		t.Fatal("closed while a compilation runs")
	case <-job.Done():
		t.Fatal("over before the compiler has returned")
	default:
	}
	close(gate)
	<-closed
	require.EqualValues(t, 1, s.closed.Load())
}
