package profile

import (
	"cmp"
	"slices"
)

// chunk is how many events a ring makes room for at a time: 80 KiB and a little more.
const chunk = 1 << 10

// ring is a recording under way: the latest events. It grows by chunks up to its limit.
type ring struct {
	start  int64
	limit  int
	chunks [][]event
	pushed int // events so far, dropped ones included
}

func newRing(limit int) *ring { return &ring{start: Now(), limit: limit} }

// push adds an event, in place of the oldest one where the ring is full.
func (r *ring) push(e *event) {
	i := r.pushed % r.limit
	if i/chunk == len(r.chunks) {
		r.chunks = append(r.chunks, make([]event, min(chunk, r.limit-i)))
	}
	r.chunks[i/chunk][i%chunk] = *e
	r.pushed++
}

// Recording is what was recorded, in the order of a trace: by the beginning, and what contains before what it contains.
type Recording struct {
	start, end int64
	events     []event
	limit      int
	dropped    int
}

// Dropped is how many events had no room.
func (r *Recording) Dropped() int { return r.dropped }

// finish makes the recording. Of spans that are equally long, the one that was recorded later contains the other, because
// a span is recorded when it ends.
func (r *ring) finish(end int64) *Recording {
	kept := min(r.pushed, r.limit)
	first := r.pushed - kept
	order := make([]int, kept)
	for i := range order {
		order[i] = first + i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := r.at(a), r.at(b)
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(y.end, x.end), cmp.Compare(b, a))
	})
	made := &Recording{start: r.start, end: end, events: make([]event, kept), limit: r.limit, dropped: first}
	for i, n := range order {
		made.events[i] = *r.at(n)
	}
	return made
}

// at is the event with a number, which is still in the ring.
func (r *ring) at(n int) *event {
	i := n % r.limit
	return &r.chunks[i/chunk][i%chunk]
}
