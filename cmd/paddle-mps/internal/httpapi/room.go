package httpapi

import (
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/serve"
)

// Room bounds the memory of the bodies and outputs of all requests together, of both protocols. A limit for each request alone says
// nothing about a thousand of them. A request that finds no room is refused and may be sent again: none waits while it holds memory, so that
// requests cannot block each other.
type Room struct {
	bound int64
	used  atomic.Int64
}

// NewRoom is room for so many bytes.
func NewRoom(bound int64) *Room { return &Room{bound: bound} }

// Take takes bytes, or is an error where there is no room for them. A nil Room has room for all.
func (r *Room) Take(bytes int64) error {
	if r == nil || r.used.Add(bytes) <= r.bound {
		return nil
	}
	r.used.Add(-bytes)
	return serve.Errorf(serve.Unavailable, "Exceeds maximum memory of %d bytes for all requests together. Try again, or use --total-max-input-size to increase the limit.", r.bound)
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
