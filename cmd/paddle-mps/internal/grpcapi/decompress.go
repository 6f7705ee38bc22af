package grpcapi

import (
	"compress/gzip"
	"io"
	"runtime"
	"sync"

	"google.golang.org/grpc"
)

// decompressor decompresses messages of gzip, as many at a time as there are processors. gRPC would decompress those of all
// calls at once, and each of them may become a thousand times as large before its size is known.
type decompressor struct {
	limit int64         // of a message; gRPC refuses what is larger
	slots chan struct{} // one for each message that may be on its way
}

// newDecompressor is the decompressor of a server.
func newDecompressor(limit int64) *decompressor {
	// More would take memory and no less time.
	return &decompressor{limit, make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// bound is the option for the decompressor.
func (d *decompressor) bound() grpc.ServerOption {
	//lint:ignore SA1019 a compressor that is registered is that of all servers and clients of the process, and knows no limit
	return grpc.RPCDecompressor(d)
}

// Type is the encoding.
func (*decompressor) Type() string { return "gzip" }

// readers are those of messages before.
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
