package httpapi

import (
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// Room bounds the memory of the bodies and outputs of all requests together, of both protocols. A limit for each request alone says
// nothing about a thousand of them. A request that finds no room is refused and may be sent again: none waits while it holds memory, so that
// requests cannot block each other.
type Room struct {
	bound   int64
	used    atomic.Int64
	reclaim func(least int64) bool // see Reclaim
}

// NewRoom is room for so many bytes.
func NewRoom(bound int64) *Room { return &Room{bound: bound} }

// Take takes bytes, or is an error where there is no room for them. A nil Room has room for all.
func (r *Room) Take(bytes int64) error {
	if r == nil || r.add(bytes) {
		return nil
	}
	// What never finds room is no reason to take it from another client.
	if bytes <= r.bound && r.reclaim != nil && r.reclaim(max(r.bound/share, leastShare)) && r.add(bytes) {
		return nil
	}
	return inference.Errorf(inference.Unavailable, "Exceeds maximum memory of %d bytes for all requests together. Try again, or use --total-max-input-size to increase the limit.", r.bound)
}

// add takes bytes if there is room for them.
func (r *Room) add(bytes int64) bool {
	if r.used.Add(bytes) <= r.bound {
		return true
	}
	r.used.Add(-bytes)
	return false
}

// A client has to hold one of share parts of the room, and leastShare bytes, before it loses them.
const (
	share      = 64
	leastShare = 1 << 20
)

// Reclaim sets what is called where there is no room, from any goroutine: it reports whether it has given bytes back, by ending a
// client that holds least bytes of requests which have not arrived. It is set before the room is used.
func (r *Room) Reclaim(f func(least int64) bool) {
	if r != nil {
		r.reclaim = f
	}
}

// Hold takes bytes that are in memory already, whether there is room or not: others are refused then.
func (r *Room) Hold(bytes int64) {
	if r != nil {
		r.used.Add(bytes)
	}
}

// Give gives bytes back that were taken.
func (r *Room) Give(bytes int64) {
	if r != nil {
		r.used.Add(-bytes)
	}
}

// Used is the number of bytes that are taken.
func (r *Room) Used() int64 { return r.used.Load() }

// take takes bytes for the request, which are given back when it was answered.
func (c *call) take(bytes int64) error {
	err := c.api.Room.Take(bytes)
	if err == nil {
		c.held += bytes
	}
	return err
}
