package program_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// shop compiles programs and counts those that it made and that were closed.
type shop struct {
	t            testing.TB
	cache        *program.Cache
	made, closed atomic.Int64
	size         int64 // of each program; 0: it is not device.Sized
}

func newShop(t testing.TB, c program.Config) *shop {
	s := &shop{t: t}
	c.Failed = func(err error) { t.Errorf("close: %v", err) }
	s.cache = program.New(c)
	return s
}

// made is a program of the shop.
type made struct {
	shop   *shop
	closed atomic.Bool
}

func (p *made) Workspace(*device.Call) int64 { return 0 }

func (p *made) Close() error {
	p.shop.closed.Add(1)
	if p.closed.Swap(true) {
		return errors.New("closed twice")
	}
	return nil
}

// sized is a program that says how large it is.
type sized struct{ *made }

func (p sized) Bytes() int64 { return p.shop.size }

func (s *shop) compile() (device.Program, error) {
	s.made.Add(1)
	p := &made{shop: s}
	if s.size > 0 {
		return sized{p}, nil
	}
	return p, nil
}

func key(n int) device.Key { return device.Key{Class: uint64(n), Rest: fmt.Sprint(n % 7)} }

// get holds the entry of a key as the runtime does.
func (s *shop) get(k device.Key, on program.Lane) *program.Entry {
	if e := s.cache.Find(&k, on); e != nil {
		return e
	}
	e, err := s.cache.Get(k, on, s.compile)
	require.NoError(s.t, err)
	return e
}

func (s *shop) use(n int) { s.get(key(n), 0).Release(0) }

func TestHitsAndMisses(t *testing.T) {
	s := newShop(t, program.Config{})
	for range 5 {
		s.use(1)
		s.use(2)
	}
	got := s.cache.Stats()
	require.Positive(t, got.CompileTime)
	require.Positive(t, got.Bytes)
	got.CompileTime, got.Bytes = 0, 0
	require.Equal(t, program.Stats{Entries: 2, Hits: 8, Misses: 2, Compilations: 2}, got)

	s.cache.ResetAccumulated()
	s.use(2)
	got = s.cache.Stats()
	require.Equal(t, program.Stats{Entries: 2, Bytes: got.Bytes, Hits: 1}, got)

	s.cache.Clear()
	got = s.cache.Stats()
	require.Equal(t, program.Stats{Hits: 1, Cleared: 2}, got)
	require.EqualValues(t, 2, s.closed.Load())
}

// TestBounds uses a new key each time: entries and bytes stay within the limits, and what is evicted is
// closed.
func TestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		limits  program.Config
		size    int64
		entries int64 // that fit
	}{
		"entries":       {program.Config{Entries: 10}, 100, 10},
		"bytes":         {program.Config{Bytes: 1000}, 100, 10},
		"both":          {program.Config{Entries: 10, Bytes: 500}, 100, 5},
		"one":           {program.Config{Entries: 1}, 0, 1},
		"all too large": {program.Config{Bytes: 10}, 100, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, c.limits)
			s.size = c.size
			for n := range 1000 {
				s.use(n)
				got := s.cache.Stats()
				require.LessOrEqual(t, got.Entries, c.entries)
				require.LessOrEqual(t, got.Bytes, max(c.entries*c.size, 1<<20))
			}
			got := s.cache.Stats()
			require.Equal(t, c.entries, got.Entries)
			require.Equal(t, 1000-c.entries, got.Evictions)
			require.Equal(t, got.Evictions, s.closed.Load())
			s.cache.Clear()
			require.EqualValues(t, 1000, s.closed.Load())
			require.Zero(t, s.cache.Stats().Bytes)
		})
	}
}

// TestWhatIsUsedStays uses one program again and again among new ones.
func TestWhatIsUsedStays(t *testing.T) {
	s := newShop(t, program.Config{Entries: 4})
	for n := range 200 {
		s.use(-1)
		s.use(n)
	}
	got := s.cache.Stats()
	require.EqualValues(t, 201, got.Misses)
	require.EqualValues(t, 199, got.Hits)
}

// TestReferences evicts and clears programs that are in use: they are closed with the last reference.
func TestReferences(t *testing.T) {
	s := newShop(t, program.Config{Entries: 1})
	first, again := s.get(key(1), 0), s.get(key(1), 3)
	s.use(2)
	second := s.get(key(2), 1)
	s.cache.Clear()
	require.Zero(t, s.cache.Stats().Entries)
	require.Zero(t, s.closed.Load())
	first.Release(0)
	require.Zero(t, s.closed.Load(), "there is another reference")
	again.Release(3)
	require.EqualValues(t, 1, s.closed.Load())
	second.Release(1)
	require.EqualValues(t, 2, s.closed.Load())

	got := s.cache.Stats()
	require.EqualValues(t, 1, got.Evictions)
	require.EqualValues(t, 1, got.Cleared)
	require.EqualValues(t, 2, got.Hits)
}

// TestRefusals keeps the answer that a device lacks a program, and forgets errors that may be temporary.
func TestRefusals(t *testing.T) {
	for code, kept := range map[status.Code]bool{
		status.Unsupported: true, status.OutOfMemory: false, status.Device: false, status.Internal: false,
	} {
		s := newShop(t, program.Config{})
		tries := 0
		refuse := func() (device.Program, error) {
			tries++
			return nil, status.Errorf(code, "[compile] no")
		}
		for range 3 {
			e, err := s.cache.Get(key(1), 0, refuse)
			if kept {
				require.NoError(t, err)
				_, err = e.Program()
				e.Release(0)
			}
			require.Equal(t, code, status.CodeOf(err))
		}
		got := s.cache.Stats()
		want := program.Stats{Misses: 3, Compilations: 3, Failures: 3, CompileTime: got.CompileTime}
		if kept {
			want = program.Stats{Entries: 1, Hits: 2, Misses: 1, Compilations: 1, Failures: 1, CompileTime: got.CompileTime}
		}
		require.Equal(t, want, got)
		require.EqualValues(t, want.Compilations, tries)
	}
}

// stuck is a program that cannot be closed.
type stuck struct{ device.Program }

func (stuck) Close() error { return errors.New("stuck") }

func TestFailedCloseIsReported(t *testing.T) {
	var reported []error
	c := program.New(program.Config{Failed: func(err error) { reported = append(reported, err) }})
	e, err := c.Get(key(1), 0, func() (device.Program, error) { return stuck{}, nil })
	require.NoError(t, err)
	e.Release(0)
	c.Clear()
	require.EqualError(t, errors.Join(reported...), "stuck")
}

// TestOneCompiles has many callers ask for the same program at once.
func TestOneCompiles(t *testing.T) {
	s := newShop(t, program.Config{})
	gate := make(chan struct{})
	slow := func() (device.Program, error) {
		<-gate
		return s.compile()
	}
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			e, err := s.cache.Get(key(1), program.Lane(i), slow)
			if err != nil {
				t.Error(err)
				return
			}
			e.Release(program.Lane(i))
		})
	}
	require.Eventually(t, func() bool { return s.cache.Stats().Misses == 8 }, 10*time.Second, time.Millisecond)
	s.use(2) // others compile meanwhile
	close(gate)
	callers.Wait()
	got := s.cache.Stats()
	require.EqualValues(t, 2, got.Compilations)
	require.EqualValues(t, 9, got.Misses)
	require.Zero(t, got.Hits)
}

// TestPanicLetsOthersTry has a compiler panic, or end its goroutine, while another caller waits for it.
func TestPanicLetsOthersTry(t *testing.T) {
	for name, breakDown := range map[string]func(){"panic": func() { panic("broken") }, "goexit": goruntime.Goexit} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, program.Config{})
			gate, over := make(chan struct{}), make(chan error, 1)
			go func() {
				var err error
				defer func() { over <- err }()
				_, err = s.cache.Get(key(1), 0, func() (device.Program, error) {
					close(gate)
					breakDown()
					return nil, nil
				})
			}()
			<-gate
			s.use(1)
			if err := <-over; name == "panic" {
				require.Equal(t, status.Internal, status.CodeOf(err))
				require.ErrorContains(t, err, "the compiler panicked: broken\n")
				require.ErrorContains(t, err, "program_test.go", "where")
			}
			require.EqualValues(t, 1, s.made.Load())
			require.EqualValues(t, 1, s.cache.Stats().Failures)
		})
	}
}

// TestNoResult has a compiler return neither a program nor an error.
func TestNoResult(t *testing.T) {
	s := newShop(t, program.Config{})
	_, err := s.cache.Get(key(1), 0, func() (device.Program, error) { return nil, nil })
	require.Equal(t, status.Internal, status.CodeOf(err))
	require.Zero(t, s.cache.Stats().Entries)
}

// TestHammer has eight callers use, evict and clear at the same time, through Get and TryGet. No caller may
// get a program that is closed, every look-up is a hit or a miss, and in the end everything is closed once.
func TestHammer(t *testing.T) {
	const callers, rounds = 8, 3000
	s := newShop(t, program.Config{Entries: 6})
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			on := program.Lane(rng.IntN(3))
			for range rounds {
				if rng.IntN(500) == 0 {
					s.cache.Clear()
				}
				k, look := key(rng.IntN(5+rng.IntN(8))), s.get
				if rng.IntN(2) == 0 {
					look = s.tryGet
				}
				e := look(k, on)
				p, err := e.Program()
				if err != nil || p.(*made).closed.Load() {
					t.Errorf("got a closed program (%v)", err)
				}
				e.Release(on)
			}
		})
	}
	wg.Wait()
	got := s.cache.Stats()
	require.LessOrEqual(t, got.Entries, int64(6))
	require.EqualValues(t, callers*rounds, got.Hits+got.Misses)
	require.Eventually(t, func() bool { // a compilation of TryGet wakes its callers before it closes what it evicted
		return got.Evictions+got.Cleared == s.closed.Load()
	}, 10*time.Second, time.Millisecond)
	require.Equal(t, s.made.Load(), s.closed.Load()+got.Entries)
	s.cache.Close()
	require.Equal(t, s.made.Load(), s.closed.Load())
}

// TestAllLiveProgramsAreFound fills a cache to its bound: from then on each look-up finds its program
// without a lock, while entries that have been evicted are not found.
func TestAllLiveProgramsAreFound(t *testing.T) {
	const most = program.DefaultEntries
	s := newShop(t, program.Config{})
	for n := range 3 * most {
		s.use(n)
	}
	for n := range 3 * most {
		k := key(n)
		e := s.cache.Find(&k, 0)
		if live := n >= 2*most; live != (e != nil) {
			t.Fatalf("program %d of %d: found %v, live %v", n, 3*most, e != nil, live)
		}
		if e != nil {
			e.Release(0)
		}
	}
	require.EqualValues(t, most, s.cache.Stats().Hits)
}

func BenchmarkFind(b *testing.B) {
	for _, live := range []int{1, 16, 128, 1000, 4096} {
		b.Run(fmt.Sprintf("live=%d", live), func(b *testing.B) {
			s := newShop(b, program.Config{})
			keys := make([]device.Key, live)
			for i, n := range rand.Perm(live) {
				keys[i] = key(n)
				s.use(n)
			}
			b.RunParallel(func(pb *testing.PB) {
				on := program.Lane(rand.Uint32())
				for i := 0; pb.Next(); i++ {
					s.get(keys[i%live], on).Release(on)
				}
			})
		})
	}
}
