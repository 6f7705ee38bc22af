package grpcapi

import (
	"compress/gzip"
	"io"
	"runtime"
	"sync"

	"google.golang.org/grpc"
)

// decompressor decompresses gzip messages, at most one per processor at a time. gRPC alone would decompress those of all calls
// at once, and a message can grow to a thousand times its size before that size is known.
type decompressor struct {
	limit int64         // of a message; gRPC refuses what is larger
	slots chan struct{} // one for each message that may be on its way
}

// newDecompressor is the decompressor of a server.
func newDecompressor(limit int64) *decompressor {
	// More at a time would take more memory and not less time.
	return &decompressor{limit, make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// option makes a server use the decompressor.
func (d *decompressor) option() grpc.ServerOption {
	//lint:ignore SA1019 a compressor that is registered is that of all servers and clients of the process, and knows no limit
	return grpc.RPCDecompressor(d)
}

// Type is the encoding.
func (*decompressor) Type() string { return "gzip" }

// readers are gzip readers that are used again.
var readers sync.Pool

// Do decompresses a message, up to one byte more than it may have.
func (d *decompressor) Do(from io.Reader) ([]byte, error) {
	d.slots <- struct{}{}
	defer func() { <-d.slots }()
	z, used := readers.Get().(*gzip.Reader)
	if !used {
		z = new(gzip.Reader)
	}
	defer readers.Put(z)
	if err := z.Reset(from); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, d.limit+1))
}
