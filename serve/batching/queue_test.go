package batching

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// push adds items of the sizes, named by their place.
func push(t *testing.T, q *Queue, sizes ...int) {
	t.Helper()
	for i, n := range sizes {
		require.NoError(t, q.Push(&Item{Size: n, Value: i}))
	}
}

// sizes are those of a batch.
func sizes(batch []*Item) (all []int) {
	for _, it := range batch {
		all = append(all, it.Size)
	}
	return all
}

// TestBatches: what is taken of items that are all there, as Triton's scheduler would.
func TestBatches(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		given  []int
		want   string
	}{
		"each alone":              {Config{}, []int{1, 1}, "[[1] [1]]"},
		"as many as fit":          {Config{MaxBatch: 4, Preferred: []int{4}}, []int{1, 1, 1, 1, 1}, "[[1 1 1 1] [1]]"},
		"sizes that do not fit":   {Config{MaxBatch: 4, Preferred: []int{4}}, []int{3, 2, 2}, "[[3] [2 2]]"},
		"preferred sizes":         {Config{MaxBatch: 8, Preferred: []int{2, 4}}, []int{1, 1, 1, 1, 1, 1, 1}, "[[1 1 1 1] [1 1] [1]]"},
		"below the smallest":      {Config{MaxBatch: 8, Preferred: []int{4}}, []int{1, 1}, "[[1 1]]"},
		"above the preferred":     {Config{MaxBatch: 8, Preferred: []int{4}}, []int{3, 3}, "[[3] [3]]"},
		"one larger than allowed": {Config{MaxBatch: 2, Preferred: []int{2}}, []int{2, 2}, "[[2] [2]]"},
	} {
		t.Run(name, func(t *testing.T) {
			q := New(c.config)
			push(t, q, c.given...)
			var got [][]int
			for q.Len() > 0 {
				got = append(got, sizes(q.Next(NewWorker(nil), nil)))
			}
			require.Equal(t, c.want, fmt.Sprint(got))
		})
	}
}

// TestShapesDivideBatches: an item of another key begins a batch.
func TestShapesDivideBatches(t *testing.T) {
	q := New(Config{MaxBatch: 8, Preferred: []int{8}})
	for _, key := range []string{"a", "a", "b", "a"} {
		require.NoError(t, q.Push(&Item{Size: 1, Key: key}))
	}
	require.Len(t, q.Next(NewWorker(nil), nil), 2)
	require.Len(t, q.Next(NewWorker(nil), nil), 1)
	require.Len(t, q.Next(NewWorker(nil), nil), 1)
}

// TestDelay: an item waits for others, and no longer than it may.
func TestDelay(t *testing.T) {
	q := New(Config{MaxBatch: 2, Preferred: []int{2}, Delay: 30 * time.Millisecond})
	push(t, q, 1)
	start := time.Now()
	require.Len(t, q.Next(NewWorker(nil), nil), 1)
	require.GreaterOrEqual(t, time.Since(start), 25*time.Millisecond)

	q = New(Config{MaxBatch: 2, Preferred: []int{2}, Delay: time.Hour})
	push(t, q, 1)
	time.AfterFunc(5*time.Millisecond, func() { _ = q.Push(&Item{Size: 1}) })
	require.Len(t, q.Next(NewWorker(nil), nil), 2)
}

// TestLateBatchesAreNoLarger: items that have waited for the whole delay leave at once, and still no more than fit a batch.
func TestLateBatchesAreNoLarger(t *testing.T) {
	q := New(Config{MaxBatch: 4, Preferred: []int{4}, Delay: time.Microsecond})
	push(t, q, 3, 2)
	time.Sleep(time.Millisecond)
	require.Equal(t, []int{3}, sizes(q.Next(NewWorker(nil), nil)))
	require.Equal(t, []int{2}, sizes(q.Next(NewWorker(nil), nil)))
}

// TestFullBatchesDoNotWait: a batch that nothing is preferred to leaves before the delay ends, with preferred sizes and without.
func TestFullBatchesDoNotWait(t *testing.T) {
	for name, c := range map[string]struct {
		preferred, sizes []int
		count            int
		waits            bool
	}{
		"room for another item":      {nil, []int{3}, 1, true},
		"full of one item":           {nil, []int{4}, 1, false},
		"full of two":                {nil, []int{1, 3}, 2, false},
		"less than is preferred":     {[]int{2}, []int{1}, 1, true},
		"one item above what is":     {[]int{2}, []int{3}, 1, false},
		"full, and a next one":       {nil, []int{1, 3, 1}, 2, false},
		"the next one does not fit":  {nil, []int{3, 2}, 1, false},
		"no full batch of preferred": {[]int{3}, []int{1, 1}, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			q := New(Config{MaxBatch: 4, Preferred: c.preferred, Delay: time.Hour})
			push(t, q, c.sizes...)
			count, wait := q.form(time.Now())
			require.Equal(t, c.waits, wait > 0)
			require.Equal(t, c.count, count)
		})
	}
}

// TestPriorities: items of a higher level leave first; those of levels that there are not are of the last.
func TestPriorities(t *testing.T) {
	q := New(Config{Levels: 2, Default: 2})
	for i, p := range []uint64{0, 2, 1, 99} {
		require.NoError(t, q.Push(&Item{Size: 1, Priority: p, Value: i}))
	}
	var order []any
	for q.Len() > 0 {
		order = append(order, q.Next(NewWorker(nil), nil)[0].Value)
	}
	require.Equal(t, []any{2, 0, 1, 3}, order)
}

// TestDelayOfLowPriorities: the delay counts from the oldest item that the batch would have, which is not its first one where
// items of a higher priority have come later.
func TestDelayOfLowPriorities(t *testing.T) {
	const delay = time.Minute
	now := time.Now()
	for name, c := range map[string]struct {
		ages []time.Duration // of items; the priority of the first one is the lowest
		key  string          // of the last item, which is the first of the batch
		want time.Duration   // that is left
	}{
		"the low one is late":           {[]time.Duration{delay, time.Second}, "", 0},
		"the low one is almost late":    {[]time.Duration{delay - time.Second, 0}, "", time.Second},
		"the high one is late":          {[]time.Duration{time.Second, delay}, "", 0},
		"the oldest is in the middle":   {[]time.Duration{time.Second, delay - 2*time.Second, 0}, "", 2 * time.Second},
		"what does not join counts not": {[]time.Duration{delay, 0}, "other", 0}, // nothing more can be added to the first
	} {
		t.Run(name, func(t *testing.T) {
			levels := uint64(len(c.ages))
			q := New(Config{MaxBatch: 8, Preferred: []int{8}, Delay: delay, Levels: levels, Default: 1})
			for i, age := range c.ages {
				it := &Item{Size: 1, Priority: levels - uint64(i)}
				if i == len(c.ages)-1 {
					it.Key = c.key
				}
				require.NoError(t, q.Push(it))
				it.queued = now.Add(-age)
			}
			count, wait := q.form(now)
			require.Equal(t, c.want, max(wait, 0))
			if c.key == "" {
				require.Equal(t, len(c.ages), count)
			}
		})
	}
}

// TestBound: a full level refuses items, others do not.
func TestBound(t *testing.T) {
	q := New(Config{Levels: 2, Default: 1, Policies: map[uint64]Policy{1: {Bound: 1}}})
	push(t, q, 1)
	require.ErrorIs(t, q.Push(&Item{Size: 1}), ErrFull)
	require.NoError(t, q.Push(&Item{Size: 1, Priority: 2}))
}

// TestTimeouts: an item whose time is over is expired at once, or comes after all others.
func TestTimeouts(t *testing.T) {
	expired := make(chan *Item, 2)
	q := New(Config{Policy: Policy{Timeout: time.Hour, Override: true}, Expired: func(it *Item) { expired <- it }})
	require.NoError(t, q.Push(&Item{Size: 1, Timeout: 5 * time.Millisecond, Value: "short"}))
	require.NoError(t, q.Push(&Item{Size: 1, Timeout: 2 * time.Hour}))
	require.Equal(t, "short", (<-expired).Value)
	require.Equal(t, 1, q.Len())

	q = New(Config{Policy: Policy{Timeout: time.Millisecond, Delay: true}})
	push(t, q, 1)
	time.Sleep(20 * time.Millisecond)
	require.NoError(t, q.Push(&Item{Size: 1, Value: "late"}))
	require.Equal(t, "late", q.Next(NewWorker(nil), nil)[0].Value)
	require.Equal(t, 0, q.Next(NewWorker(nil), nil)[0].Value)
}

// TestBorrow: a worker that waits is lent for an item that would wait for nothing, and takes nothing until it is back.
func TestBorrow(t *testing.T) {
	q := New(Config{MaxBatch: 4, Preferred: []int{2, 4}, Delay: time.Hour})
	require.Nil(t, q.Borrow(2), "no worker waits")
	taken := make(chan []*Item)
	worker := NewWorker("a")
	go func() {
		for batch := q.Next(worker, nil); batch != nil; batch = q.Next(worker, nil) {
			taken <- batch
		}
		close(taken)
	}()
	var w *Worker
	require.Eventually(t, func() bool { w = q.Borrow(2); return w != nil }, 5*time.Second, time.Millisecond)
	require.Equal(t, "a", w.Of())
	require.Nil(t, q.Borrow(2), "it is lent")
	require.NoError(t, q.Push(&Item{Size: 4}))
	select {
	case <-taken:
		t.Fatal("a worker that is lent has taken a batch")
	case <-time.After(20 * time.Millisecond):
	}
	q.Return(w)
	require.Len(t, <-taken, 1)
	require.Eventually(t, func() bool { w = q.Borrow(4); return w != nil }, 5*time.Second, time.Millisecond)
	q.Return(w)
	require.Nil(t, q.Borrow(1), "one item may wait for others")
	require.NoError(t, q.Push(&Item{Size: 1}))
	require.Nil(t, q.Borrow(2), "another one is first")
	q.Close()
	require.Len(t, <-taken, 1)
	_, more := <-taken
	require.False(t, more)
	require.Nil(t, q.Borrow(2), "the queue is closed")
}

// TestRemove: an item leaves once.
func TestRemove(t *testing.T) {
	q := New(Config{})
	it := &Item{Size: 1}
	require.NoError(t, q.Push(it))
	require.True(t, q.Remove(it))
	require.False(t, q.Remove(it))
	require.Zero(t, q.Len())
	q.Close()
	require.Nil(t, q.Next(NewWorker(nil), nil))
	require.ErrorIs(t, q.Push(it), ErrClosed)
}

// TestEveryItemLeavesOnce: producers, consumers and timeouts at one time lose nothing and give nothing twice.
func TestEveryItemLeavesOnce(t *testing.T) {
	const producers, each = 8, 500
	var left atomic.Int64
	leave := func(it *Item) {
		if it.Value.(*atomic.Bool).Swap(true) {
			t.Error("an item has left twice")
		}
		left.Add(1)
	}
	q := New(Config{
		MaxBatch: 4, Preferred: []int{2, 4}, Delay: 100 * time.Microsecond, Levels: 3, Default: 2,
		Policy: Policy{Timeout: 300 * time.Microsecond}, Expired: leave,
	})
	var consumers, pushers sync.WaitGroup
	for range 3 {
		consumers.Go(func() {
			w := NewWorker(nil)
			for batch := q.Next(w, nil); batch != nil; batch = q.Next(w, batch) {
				for _, it := range batch {
					leave(it)
				}
			}
		})
	}
	for p := range producers {
		pushers.Go(func() {
			for i := range each {
				// A worker that is lent takes nothing, and is back before the next turn.
				if w := q.Borrow(2); w != nil {
					if i%5 == 0 {
						time.Sleep(50 * time.Microsecond)
					}
					q.Return(w)
				}
				it := &Item{Size: 1 + i%3, Key: fmt.Sprint(i % 2), Priority: uint64(i % 5), Value: new(atomic.Bool)}
				if err := q.Push(it); err != nil {
					t.Error(err)
				}
				if (i+p)%7 == 0 && q.Remove(it) {
					leave(it)
				}
			}
		})
	}
	pushers.Wait()
	q.Close()
	consumers.Wait()
	require.Eventually(t, func() bool { return left.Load() == producers*each }, 5*time.Second, time.Millisecond)
}

// TestNoTimerIsLeft: a queue that has ended holds nothing, however late the items that were in it could have expired.
func TestNoTimerIsLeft(t *testing.T) {
	q := New(Config{Policy: Policy{Timeout: time.Hour}})
	push(t, q, 1)
	w := NewWorker(nil)
	require.Len(t, q.Next(w, nil), 1)
	q.Close()
	require.Nil(t, q.Next(w, nil))
	require.False(t, q.timer.Stop(), "the timer still runs")
}

// TestRemovedItemsAreForgotten: the memory of a list does not hold the items that have left it, and with them their requests.
func TestRemovedItemsAreForgotten(t *testing.T) {
	q := New(Config{})
	items := []*Item{{Size: 1}, {Size: 1}, {Size: 1}}
	for _, it := range items {
		require.NoError(t, q.Push(it))
	}
	for _, it := range slices.Backward(items) {
		require.True(t, q.Remove(it))
	}
	list := q.levels[0].items
	for _, it := range list[:cap(list)] {
		require.Nil(t, it)
	}
}
