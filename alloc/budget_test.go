package alloc

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// pair is two allocators of one memory.
func pair(t *testing.T, budget int64, c Config) (b *Budget, x, y *Allocator) {
	b = NewBudget(budget)
	c.Budget = b
	c.Source = &fakeSource{blind: true}
	x = New(c)
	c.Source = &fakeSource{blind: true}
	y = New(c)
	t.Cleanup(func() {
		require.Equal(t, budget-b.Left(), x.Stats().Reserved.Current+y.Stats().Reserved.Current)
	})
	return b, x, y
}

func TestBudgetIsShared(t *testing.T) {
	b, x, y := pair(t, 64*miB, Config{Hard: 48 * miB})
	mine := mustAlloc(t, x, 40*miB, nil)
	require.EqualValues(t, 24*miB, b.Left())

	_, err := x.Alloc(16*miB, nil)
	require.ErrorContains(t, err, "the limit is exceeded", "its own")
	require.NotContains(t, err.Error(), "together")
	_, err = y.Alloc(32*miB, nil)
	require.Equal(t, status.OutOfMemory, status.CodeOf(err))
	require.ErrorContains(t, err, "the limit of 64.00 MiB for all devices that share this memory is exceeded")

	mustAlloc(t, y, 20*miB, nil)
	require.Zero(t, b.Left(), "a heap as long as what is left, not as long as usual")
	free(t, x, mine)
	require.EqualValues(t, 40*miB, x.EmptyCache())
	mustAlloc(t, y, 8*miB, nil)
}

// TestRelinquish returns idle heaps, and waits for streams only where there are none.
func TestRelinquish(t *testing.T) {
	b, x, y := pair(t, 64*miB, Config{})
	s := &fakeStream{}
	idle, pending := mustAlloc(t, x, 8*miB, nil), mustAlloc(t, x, 40*miB, s)
	require.False(t, x.Relinquish(), "all of it is in use")
	free(t, x, idle)
	free(t, x, pending, Use{s, s.submit()})
	_, err := y.Alloc(60*miB, nil)
	require.Equal(t, status.OutOfMemory, status.CodeOf(err))

	require.True(t, x.Relinquish())
	require.Zero(t, s.syncs.Load(), "an idle heap needs no waiting")
	require.EqualValues(t, 24*miB, b.Left())
	require.True(t, x.Relinquish())
	require.EqualValues(t, 64*miB, b.Left())
	mustAlloc(t, y, 60*miB, nil)
	require.False(t, x.Relinquish())
}

// TestBudgetOfRefusedHeaps returns what was claimed for heaps that the system did not give.
func TestBudgetOfRefusedHeaps(t *testing.T) {
	b := NewBudget(64 * miB)
	a := New(Config{Source: &fakeSource{limit: 4 * miB, blind: true}, Budget: b})
	_, err := a.Alloc(6*miB, nil)
	require.Equal(t, status.OutOfMemory, status.CodeOf(err))
	require.EqualValues(t, 64*miB, b.Left())
	mustAlloc(t, a, 3*miB, nil)
	require.EqualValues(t, 61*miB, b.Left(), "a heap of 8 MiB was refused, one as long as the block given")
}

func TestNoBudget(t *testing.T) {
	var none *Budget
	require.Nil(t, NewBudget(0))
	require.EqualValues(t, MaxSize, none.Left())
	mustAlloc(t, New(Config{Source: &fakeSource{blind: true}}), miB, nil)
}

// TestBudgetHammer has two allocators fight for one memory: together they never have more than there is.
func TestBudgetHammer(t *testing.T) {
	b, x, y := pair(t, 96*miB, Config{})
	var wg sync.WaitGroup
	for i := range 4 {
		a, other := x, y
		if i%2 == 1 {
			a, other = y, x
		}
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 2))
			for range 300 {
				block, err := a.Alloc(1+rng.Int64N(40*miB), nil)
				if err != nil {
					other.Relinquish()
					continue
				}
				if b.taken.Load() > b.limit {
					t.Error("more is reserved than there is")
				}
				a.Free(block, nil)
			}
		})
	}
	wg.Wait()
	x.EmptyCache()
	y.EmptyCache()
	require.EqualValues(t, 96*miB, b.Left())
}
