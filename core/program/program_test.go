package program_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// shop makes programs and knows what became of them.
type shop struct {
	t            testing.TB
	cache        *program.Cache
	made, closed atomic.Int64
	size         int64 // of each program; 0: it does not say
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

func key(n int) device.Key { return device.Key{Class: uint64(n), Dims: fmt.Sprint(n % 7)} }

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

// TestBounds has ever new keys: entries and bytes stay below the limits, and what has gone is closed.
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

// TestWhatIsUsedStays keeps one program in use among ever new ones.
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

// TestHolders keeps programs open that have been evicted or cleared while somebody runs them.
func TestHolders(t *testing.T) {
	s := newShop(t, program.Config{Entries: 1})
	first, again := s.get(key(1), 0), s.get(key(1), 3)
	s.use(2)
	second := s.get(key(2), 1)
	s.cache.Clear()
	require.Zero(t, s.cache.Stats().Entries)
	require.Zero(t, s.closed.Load())
	first.Release(0)
	require.Zero(t, s.closed.Load(), "somebody else holds it")
	again.Release(3)
	require.EqualValues(t, 1, s.closed.Load())
	second.Release(1)
	require.EqualValues(t, 2, s.closed.Load())

	got := s.cache.Stats()
	require.EqualValues(t, 1, got.Evictions)
	require.EqualValues(t, 1, got.Cleared)
	require.EqualValues(t, 2, got.Hits)
}

// TestRefusals keeps what a device lacks and forgets what may be better next time.
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
	var heard []error
	c := program.New(program.Config{Failed: func(err error) { heard = append(heard, err) }})
	e, err := c.Get(key(1), 0, func() (device.Program, error) { return stuck{}, nil })
	require.NoError(t, err)
	e.Release(0)
	c.Clear()
	require.EqualError(t, errors.Join(heard...), "stuck")
}

// TestOneCompiles has many callers want the same program at once.
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

// TestPanicLetsOthersTry has a compiler break down while somebody waits for it.
func TestPanicLetsOthersTry(t *testing.T) {
	s := newShop(t, program.Config{})
	gate, over := make(chan struct{}), make(chan any)
	go func() {
		defer func() { over <- recover() }()
		_, _ = s.cache.Get(key(1), 0, func() (device.Program, error) {
			close(gate)
			panic("broken")
		})
	}()
	<-gate
	s.use(1)
	require.Equal(t, "broken", <-over)
	require.EqualValues(t, 1, s.made.Load())
}

// TestHammer has eight callers use, evict and clear at the same time. Nobody may see a program that is
// closed, every look-up is a hit or a miss, and in the end everything is closed once.
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
				e := s.get(key(rng.IntN(5+rng.IntN(8))), on)
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
	require.Equal(t, got.Evictions+got.Cleared, s.closed.Load())
	require.Equal(t, s.made.Load(), s.closed.Load()+got.Entries)
	s.cache.Clear()
	require.Equal(t, s.made.Load(), s.closed.Load())
}

func BenchmarkFind(b *testing.B) {
	s := newShop(b, program.Config{})
	s.use(1)
	b.RunParallel(func(pb *testing.PB) {
		k, on := key(1), program.Lane(rand.Uint32())
		for pb.Next() {
			s.get(k, on).Release(on)
		}
	})
}
