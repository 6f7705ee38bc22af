package grpcapi

import (
	"runtime"
	"sync/atomic"

	"google.golang.org/grpc/mem"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
)

// A method returns before its response is sent. gRPC keeps the response until the client has opened its window, which it may
// never do, and has no limit on what such clients make it keep.

// uncounted is the size of parts that are not counted: gRPC itself keeps as much of each call.
const uncounted = 2 << 10

// unsent is a part of a response, which is held in the room of all requests until the transport has no use for it.
func (c codec) unsent(data []byte) mem.Buffer {
	if c.room == nil || len(data) < uncounted {
		return mem.SliceBuffer(data)
	}
	h := &held{room: c.room, bytes: &atomic.Int64{}}
	h.bytes.Store(int64(len(data)))
	c.room.Hold(int64(len(data)))
	// The transport of a connection that ends does not free all buffers: those that it forgets are collected.
	runtime.AddCleanup(h, func(bytes *atomic.Int64) { c.room.Give(bytes.Swap(0)) }, h.bytes)
	return mem.NewBuffer(&data, h)
}

// held is a pool of one buffer: gRPC puts it back when it is sent, or when its stream has ended.
type held struct {
	room  *httpapi.Room
	bytes *atomic.Int64 // 0 when they have been given back
}

// Get is not called: nothing is taken from this pool.
func (h *held) Get(length int) *[]byte {
	b := make([]byte, length)
	return &b
}

// Put gives the bytes back.
func (h *held) Put(*[]byte) { h.room.Give(h.bytes.Swap(0)) }
