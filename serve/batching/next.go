package batching

import (
	"slices"
	"time"
)

// Worker is who waits in Next.
type Worker struct {
	woken chan struct{} // has room for one
	of    any
}

// NewWorker makes a worker for one goroutine. of is for the caller.
func NewWorker(of any) *Worker { return &Worker{woken: make(chan struct{}, 1), of: of} }

// Of is what NewWorker got.
func (w *Worker) Of() any { return w.of }

// Borrow takes a worker that waits, for an item that would be the next batch by itself at once; nil where there is none, or
// where the item has to go through the queue. The caller runs the batch as the worker would, and returns the worker.
func (q *Queue) Borrow(size int) *Worker {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := len(q.idle) - 1
	if at < 0 || q.length > 0 || q.closed {
		return nil
	}
	// It would wait for others where there is a delay, unless nothing may be added to it.
	alone := q.config.MaxBatch <= 1 || q.config.Delay == 0 || size >= q.largest || slices.Contains(q.config.Preferred, size)
	if !alone {
		return nil
	}
	w := q.idle[at]
	q.idle = q.idle[:at]
	return w
}

// Return ends Borrow: the worker takes what has come meanwhile, or waits again.
func (q *Queue) Return(w *Worker) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.idle = append(q.idle, w)
	if q.length > 0 || q.closed {
		q.wake()
	}
}

// wake wakes one of the workers that wait. The caller has the lock.
func (q *Queue) wake() {
	if at := len(q.idle) - 1; at >= 0 {
		w := q.idle[at]
		q.idle = q.idle[:at]
		w.woken <- struct{}{} // there is room: it is not woken again before it has looked
	}
}

// wait lets a worker wait until it is woken, or for a time where late is not nil. The caller has the lock, also afterwards.
func (q *Queue) wait(w *Worker, late <-chan time.Time) {
	q.idle = append(q.idle, w)
	q.mu.Unlock()
	defer q.mu.Lock()
	select {
	case <-w.woken:
		return
	case <-late:
	}
	q.mu.Lock()
	at := slices.Index(q.idle, w)
	if at >= 0 {
		q.idle = slices.Delete(q.idle, at, at+1)
	}
	q.mu.Unlock()
	// One that has left the list is woken already, or is lent and will be.
	if at < 0 {
		<-w.woken
	}
}

// Next waits for the next batch and takes it off the queue. It returns nil once the queue is closed and empty. into, which
// may be nil, is reused for the result.
func (q *Queue) Next(w *Worker, into []*Item) []*Item {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.length == 0 {
			if q.closed {
				// A timer that has been set holds the queue, and all that Expired refers to.
				if q.timer != nil {
					q.timer.Stop()
				}
				return nil
			}
			q.wait(w, nil)
			continue
		}
		// What is there is looked at anew each time: items may have come, left or expired meanwhile.
		n, wait := q.form(time.Now())
		if wait <= 0 || q.closed {
			return q.take(into[:0], max(n, 1))
		}
		// The wait is for more items or for the end of the delay, whichever comes first.
		timer := time.NewTimer(wait)
		q.wait(w, timer.C)
		timer.Stop()
	}
}

// form looks at the items in their order and says how many of them are the next batch, and how long to wait before they
// are. The queue is not empty.
func (q *Queue) form(now time.Time) (count int, wait time.Duration) {
	if q.config.MaxBatch <= 1 {
		return 1, 0
	}
	var (
		first   *Item
		oldest  time.Time
		size    int  // of the first count items
		best    int  // items of the largest preferred size, or of what comes closest below it
		bounded bool // no more items can be added
	)
	q.each(func(it *Item) bool {
		if first == nil {
			first, oldest = it, it.queued
		} else {
			// Nothing larger is preferred, so that what is there is as good as it gets. Items behind it may still be late.
			if size+it.Size > q.largest && best == 0 {
				best = count
			}
			// The item begins the next batch. Looking further would change the order of requests.
			if size+it.Size > q.config.MaxBatch || it.Key != first.Key {
				bounded = true
				return false
			}
		}
		size, count = size+it.Size, count+1
		if it.queued.Before(oldest) {
			oldest = it.queued
		}
		if slices.Contains(q.config.Preferred, size) {
			best = count
		}
		return true
	})
	// With priorities the first item need not be the oldest one.
	age := now.Sub(oldest)
	late := q.config.Delay > 0 && age >= q.config.Delay
	switch {
	case best > 0 && !late:
		return best, 0
	case bounded, size >= q.largest, late, q.config.Delay == 0:
		return count, 0
	}
	return count, q.config.Delay - age
}

// each calls f for the items in the order in which they leave, until it returns false.
func (q *Queue) each(f func(*Item) bool) {
	for _, l := range q.levels {
		for _, list := range [2][]*Item{l.items, l.delayed} {
			for _, it := range list {
				if !f(it) {
					return
				}
			}
		}
	}
}

// take removes the first n items.
func (q *Queue) take(into []*Item, n int) []*Item {
	for _, l := range q.levels {
		for _, list := range [2]*[]*Item{&l.items, &l.delayed} {
			// Levels are taken in their order, and within a level those that are late come last.
			m := min(n-len(into), len(*list))
			for _, it := range (*list)[:m] {
				it.level = nil
				into = append(into, it)
			}
			*list = drop(*list, m)
		}
	}
	q.length -= len(into)
	if q.length > 0 {
		q.wake() // another instance
	}
	return into
}

// drop is a list without its first n items. A list that becomes empty keeps its memory.
func drop(list []*Item, n int) []*Item {
	clear(list[:n])
	// The usual case is that all items leave: then nothing is allocated for the next ones.
	if n == len(list) {
		return list[:0]
	}
	return list[n:]
}

// expect makes sure that the queue is swept at a deadline.
func (q *Queue) expect(deadline time.Time) {
	if !q.soon.IsZero() && !deadline.Before(q.soon) {
		return
	}
	q.soon = deadline
	wait := time.Until(deadline) + time.Microsecond
	if q.timer == nil {
		q.timer = time.AfterFunc(wait, q.sweep)
		return
	}
	q.timer.Reset(wait)
}

// sweep moves the items whose time is over: behind all others, or out of the queue.
func (q *Queue) sweep() {
	now := time.Now()
	var expired []*Item
	q.mu.Lock()
	// The next deadline is found while the items are looked at.
	q.soon = time.Time{}
	for _, l := range q.levels {
		// Items keep their order, so that a sweep does not change who is first.
		kept := l.items[:0]
		for _, it := range l.items {
			switch {
			case it.deadline.IsZero() || now.Before(it.deadline):
				kept = append(kept, it)
				if !it.deadline.IsZero() {
					q.expect(it.deadline)
				}
			case l.policy.Delay:
				l.delayed = append(l.delayed, it)
			default:
				it.level = nil
				q.length--
				expired = append(expired, it)
			}
		}
		clear(l.items[len(kept):])
		l.items = kept
	}
	q.mu.Unlock()
	// The callback runs with no lock held: it may use the queue.
	for _, it := range expired {
		q.config.Expired(it)
	}
}
