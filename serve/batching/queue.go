// Package batching forms batches: it is the queue from which the instances of a model take them.
//
// A [Queue] has one level for each priority. [Queue.Push] adds an [Item]. [Queue.Next] returns the items of the next
// batch by the policy of dynamic batching: a preferred size as soon as it is reached, or whatever is queued once the
// oldest item has waited for the maximum delay, and only items of one shape.
//
// The rules are those of Triton Inference Server's scheduler. The invariant: an item leaves the queue exactly once,
// by Next, by [Queue.Remove] or, when it times out, by the callback Expired. The length of each queue is bounded.
//
// The package knows no tensors: an item has a size, and a key that is equal for shapes that can be batched together.
//
// Instances call Next, each with its [Worker], whenever they are free; there is no other thread. If several
// instances are free, each takes its own batch, so a delay helps only while all instances are busy.
//
// Waking an instance takes longer than many a model runs. If a request would immediately form a batch by itself,
// [Queue.Borrow] therefore lends a waiting worker to the goroutine of the request, which runs the batch itself,
// without a switch of goroutines.
package batching

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrFull is returned by Push where the level has as many items as its policy allows.
//
//lint:ignore ST1005 it is Triton's text
var ErrFull = errors.New("Exceeds maximum queue size")

// ErrClosed is returned by Push after Close.
var ErrClosed = errors.New("the queue is closed")

// Bound is the number of items of a level whose policy names none.
const Bound = 1 << 16

// Item is a request in the queue.
type Item struct {
	Size     int           // of its batch, at least 1
	Key      string        // items with different keys do not share a batch
	Priority uint64        // 1 is the highest; 0: the default one
	Timeout  time.Duration // that the request asks for; 0: none
	Value    any           // of the caller

	queued   time.Time
	deadline time.Time // zero: none
	level    *level    // nil once the item has left
}

// Policy is how one level treats its items.
type Policy struct {
	Bound    int           // items at most; 0: Bound
	Timeout  time.Duration // longest time in the queue; 0: any
	Override bool          // whether items may ask for a shorter one
	Delay    bool          // whether items whose time is over come after all others; else they are Expired
}

// Config describes a queue.
type Config struct {
	MaxBatch  int           // largest sum of sizes; 0 or 1: each item is a batch
	Preferred []int         // sizes of batches that are worth no waiting
	Delay     time.Duration // how long an item may wait for others
	Levels    uint64        // of priority; 0: one
	Default   uint64        // the level of items that name none
	Policy    Policy        // of levels without their own
	Policies  map[uint64]Policy
	// Expired is called for each item whose time is over, with no lock held.
	Expired func(*Item)
}

// level is the queue of one priority.
type level struct {
	policy  Policy
	items   []*Item
	delayed []*Item // whose time was over, with policy Delay
}

// Queue is a queue of items. It may be used from any goroutine.
type Queue struct {
	config  Config
	largest int // preferred size

	mu     sync.Mutex
	idle   []*Worker // that wait in Next and are not lent; the last one is woken first
	levels []*level
	length int
	soon   time.Time // the first deadline; zero: none
	timer  *time.Timer
	closed bool
}

// New makes a queue.
func New(c Config) *Queue {
	q := &Queue{config: c, largest: max(c.MaxBatch, 1)}
	if len(c.Preferred) > 0 {
		q.largest = 0
		for _, n := range c.Preferred {
			q.largest = max(q.largest, n)
		}
	}
	for n := range max(c.Levels, 1) {
		policy, own := c.Policies[n+1]
		if !own {
			policy = c.Policy
		}
		if policy.Bound <= 0 {
			policy.Bound = Bound
		}
		q.levels = append(q.levels, &level{policy: policy})
	}
	return q
}

// Len is the number of items.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.length
}

// Push adds an item; ErrFull or ErrClosed where it cannot.
func (q *Queue) Push(it *Item) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	// Items that are late still take room: a bound on the queue is one on its memory.
	l := q.levels[q.levelOf(it.Priority)]
	if len(l.items)+len(l.delayed) >= l.policy.Bound {
		return ErrFull
	}
	it.queued, it.level = time.Now(), l
	timeout := l.policy.Timeout
	if l.policy.Override && it.Timeout > 0 && it.Timeout < timeout {
		timeout = it.Timeout
	}
	if it.deadline = (time.Time{}); timeout > 0 {
		it.deadline = it.queued.Add(timeout)
		q.expect(it.deadline)
	}
	l.items = append(l.items, it)
	q.length++
	q.wake()
	return nil
}

// levelOf is the index of the level of a priority. One above the levels is the last, as in Triton.
func (q *Queue) levelOf(priority uint64) int {
	if priority == 0 {
		priority = max(q.config.Default, 1)
	}
	return int(min(priority, uint64(len(q.levels)))) - 1
}

// Remove takes an item out before it is part of a batch; false where it has left already.
func (q *Queue) Remove(it *Item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if it.level == nil {
		return false
	}
	// It is in one of the two lists; the other one stays as it is.
	it.level.items = without(it.level.items, it)
	it.level.delayed = without(it.level.delayed, it)
	it.level = nil
	q.length--
	return true
}

// without is a list without an item.
func without(list []*Item, it *Item) []*Item {
	i := slices.Index(list, it)
	if i < 0 {
		return list
	}
	return slices.Delete(list, i, i+1)
}

// Close ends Push; Next returns what is left, and then nil.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for len(q.idle) > 0 {
		q.wake()
	}
}
