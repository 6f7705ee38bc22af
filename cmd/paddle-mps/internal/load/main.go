// Command load sends inferences to a server from several concurrent clients, compares every byte of the answers, and
// prints the result as JSON. It is the gRPC client of `./build.sh bench serve`, and the client of the soak tests.
//
//	load [-grpc] [-clients 16] [-seconds 3] [-requests N] [-bytes 64] [-model m] [-batched] [-any] HOST:PORT
//
// The model must be the identity from input x to output y, both FP32 with one dimension of any size. Each request
// has different elements, so that an answer to another request is detected. Refused requests are counted, and their
// durations are kept separately. -batched adds a batch dimension of 1 to the shape. -any accepts any contents of the
// answer, for models that compute something.
//
// HTTP uses a plain connection, with the tensor in binary form after the JSON; gRPC uses grpc-go. Both keep one
// connection per client. The first request of a client includes the time to connect.
//
// SIGINT ends it as the time does. The exit status is 0 whatever the server answers: the caller evaluates the numbers.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// options are those of the command line.
type options struct {
	grpc, any      bool
	batched        bool
	clients, bytes int
	seconds        float64
	requests       int64
	model, address string
}

// client sends one request at a time.
type client interface {
	// infer sends data and returns what came back; refused where the server has no room.
	// What came back may be overwritten by the next call.
	infer(ctx context.Context, data []byte) (back []byte, refused bool, err error)
	// close ends its connection.
	close()
}

// result is what is printed. Times are microseconds.
type result struct {
	Requests   int64   `json:"requests"` // that were answered
	Refused    int64   `json:"refused"`
	Failed     int64   `json:"failed"`
	Wrong      int64   `json:"wrong"`
	Seconds    float64 `json:"seconds"`
	P50        float64 `json:"p50"`
	P99        float64 `json:"p99"`
	RefusedP50 float64 `json:"refused_p50"`
	Error      string  `json:"error,omitempty"` // the first one
}

// main reads the command line, sends the requests and prints the result.
func main() {
	var o options
	flag.BoolVar(&o.grpc, "grpc", false, "ask over gRPC and not over HTTP")
	flag.BoolVar(&o.any, "any", false, "take answers of whatever contents")
	flag.BoolVar(&o.batched, "batched", false, "send batches of one")
	flag.IntVar(&o.clients, "clients", 16, "clients at a time")
	flag.IntVar(&o.bytes, "bytes", 64, "bytes of the tensor of a request")
	flag.Float64Var(&o.seconds, "seconds", 3, "how long; 0: until so many requests were sent, or SIGINT")
	flag.Int64Var(&o.requests, "requests", 1<<62, "how many requests at most")
	flag.StringVar(&o.model, "model", "m", "the model to ask")
	flag.Parse()
	if o.address = flag.Arg(0); flag.NArg() != 1 || o.bytes < 8 || o.bytes%4 != 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := run(ctx, &o)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// run sends the requests of all clients, until ctx ends at the latest. A request that is on its way is waited for.
func run(ctx context.Context, o *options) (*result, error) {
	var (
		r       result
		mu      sync.Mutex
		all     sync.WaitGroup
		took    []time.Duration
		refused []time.Duration
		sent    atomic.Int64
	)
	// Each client keeps its own numbers, so that they do not wait for each other.
	start := time.Now()
	for range o.clients {
		c, err := o.dial()
		if err != nil {
			return nil, err
		}
		all.Go(func() {
			defer c.close()
			one := worker{options: o, client: c, sent: &sent, start: start}
			one.work(ctx)
			mu.Lock()
			defer mu.Unlock()
			r.Failed, r.Wrong = r.Failed+one.failed, r.Wrong+one.wrong
			took, refused = append(took, one.took...), append(refused, one.refused...)
			if r.Error == "" {
				r.Error = one.first
			}
		})
	}
	all.Wait()
	r.Seconds = time.Since(start).Seconds()
	r.Requests, r.Refused = int64(len(took)), int64(len(refused))
	r.P50, r.P99, r.RefusedP50 = percentile(took, 50), percentile(took, 99), percentile(refused, 50)
	return &r, nil
}

// shape is that of the tensor of a request.
func (o *options) shape() []int64 {
	if o.batched {
		return []int64{1, int64(o.bytes / 4)}
	}
	return []int64{int64(o.bytes / 4)}
}

// dial makes a client.
func (o *options) dial() (client, error) {
	if o.grpc {
		return dialGRPC(o)
	}
	return dialHTTP(o)
}

// worker is one client and what it has seen.
type worker struct {
	*options
	client        client
	sent          *atomic.Int64
	start         time.Time
	took, refused []time.Duration
	failed, wrong int64
	first         string
}

// work sends requests until there have been enough.
func (w *worker) work(ctx context.Context) {
	data := make([]byte, w.bytes)
	for {
		// The number of a request is what its tensor has, and counts those of all clients.
		n := w.sent.Add(1)
		if n > w.requests || ctx.Err() != nil || w.seconds > 0 && time.Since(w.start).Seconds() > w.seconds {
			return
		}
		// Half a number is in the first element and half in the second: both are small enough to be no NaN.
		binary.LittleEndian.PutUint32(data, uint32(n)&0xFFFFFF)
		binary.LittleEndian.PutUint32(data[4:], uint32(n>>24))
		at := time.Now()
		back, refused, err := w.client.infer(context.Background(), data)
		passed := time.Since(at)
		// A refusal is an answer too, but no inference.
		switch {
		case refused:
			w.refused = append(w.refused, passed)
			continue
		case err != nil:
			w.failed++
		case !w.any && !bytes.Equal(back, data):
			w.wrong++
			err = fmt.Errorf("%d bytes came back for request %d, which are not those that were sent", len(back), n)
		default:
			w.took = append(w.took, passed)
		}
		if err != nil && w.first == "" {
			w.first = err.Error()
		}
	}
}

// percentile is one of durations in microseconds.
func percentile(all []time.Duration, p int) float64 {
	if len(all) == 0 {
		return 0
	}
	// No value is made up between two that were measured.
	slices.Sort(all)
	return float64(all[min(len(all)*p/100, len(all)-1)].Nanoseconds()) / 1000
}
