// Package grpcapi implements the inference protocol over gRPC: KServe v2 with the extensions of Triton Inference
// Server, and gRPC's health protocol.
//
// Methods are grouped in files by subject. infer.go converts a message to a request of package serve and the
// response to a message, without copying tensors that the message holds in binary form. Error messages and codes are
// those of tritonserver.
//
// Features that the server lacks (CUDA memory) are refused by name.
//
// # Calls
//
// Every call goes through an interceptor, which checks the header of a restricted group, converts errors of package
// serve to status codes, and converts a panic to an error. Methods therefore return errors unchanged.
//
// # Tensors
//
// Inputs are in raw_input_contents, in the order of the inputs, or in the typed contents of each input; a message
// with both is refused. Outputs are always raw. The bytes of an input are copied once out of the receive buffer
// (codec.go), and those of an output are sent from the server's memory. tritonclient uses only raw contents; KServe
// clients may use typed ones.
//
// # Shared memory
//
// An input with the parameter shared_memory_region is copied out of the region before the request is passed to the
// server, and an output with one is copied into it afterwards (memory.go). HTTP shares these regions. The raw
// contents of such an output are empty, so that those of other outputs keep their positions.
//
// The regions of outputs are held while the request runs, so unregistering them in between does not remove them.
// Inputs in shared memory count against the message limit and the limit of all requests, although they are not in the
// message: a region may be larger than all memory.
//
// # Streams
//
// A stream is a sequence of inferences on one call. They run concurrently, up to a limit, and are answered in order.
// An error of one of them is a response with a message and its id. Each response has the parameter
// triton_final_response, because a request has exactly one response here. At shutdown, a stream ends with
// UNAVAILABLE after its requests are answered.
//
// # Limits
//
// A message has at most --grpc-max-input-size bytes, also decompressed: gRPC refuses a larger one before reading it. At
// most one message per processor is decompressed at a time (decompress.go), so that many small ones cannot exhaust
// memory. A message has at most 65,536 fields, nested ones included but for texts of bytes_contents, and 64 KiB unless it is an inference or a load
// (codec.go).
// A connection has at most 4,096 concurrent calls. Each has at most 16 KiB of headers, and counts with what it takes in
// memory while it is open (counted.go). A connection is closed if its handshake takes more than 20 s, or if its client does
// not answer a ping. The message of a call must arrive within a minute (arrival.go).
//
// All requests in memory together, including those of HTTP, have at most --total-max-input-size bytes. A message counts
// while it arrives (counted.go): a connection that exceeds the limit meanwhile is closed. The elements of typed contents
// count with the memory that they take (typed.go), and strings with what a run makes of them. Outputs count until the client
// has read them, for which it has a minute and the time of its size at 32 KiB a second: then the connection is closed
// (unsent.go). The unanswered requests of a stream are limited to the bytes of one message, or to one request. Where a
// request finds no room, the connection whose open calls and unfinished messages take most is closed.
//
// # Traces
//
// A sampled call (package traces) is traced from the arrival of its headers until its response is passed to the
// transport. The handler of an inference is our own (codec.go), so that its trace can end when the codec has written
// the response. A call that is not sampled costs one atomic load. Requests of a stream are traced one by one.
//
// The wait for a call starts when its headers have arrived, because nothing earlier is visible here.
//
// # Cancellation
//
// A call that its client cancels is removed from the model's queue. If its batch is already running, it runs to the
// end, and gRPC drops the answer.
package grpcapi

import (
	"context"
	"crypto/tls"
	"math"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip" // of requests
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/sharedmemory"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/traces"
	"github.com/paddle-mps/paddle-mps/serve"
	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// Config is what the API needs to know.
type Config struct {
	Server     *serve.Server
	Name       string   // of the server, for its metadata
	Version    string   // likewise
	Extensions []string // likewise
	MaxInput   int64    // the largest message in bytes
	Restricted map[string]httpapi.Restriction
	Settings   *httpapi.Settings
	Regions    *sharedmemory.Regions
	TLS        *tls.Config    // nil: none
	Traces     *traces.Tracer // nil: there are none
	Room       *httpapi.Room  // of all requests together; nil: there is no bound
}

// API answers requests.
type API struct {
	kserve.UnimplementedGRPCInferenceServiceServer
	health.UnimplementedHealthServer
	Config
}

// Limits of connections.
const (
	streams     = 4096             // calls of one connection at a time
	headerBytes = 16 << 10         // of a call, as HTTP/2 counts them; the largest that the gRPC of tritonserver takes
	handshake   = 20 * time.Second // until a connection is one of HTTP/2
	pings       = 10 * time.Second // the least time between pings of a client,clients of tritonserver send one in 5 minutes
	dead        = 2 * time.Minute  // of silence, after which a connection is asked whether it is alive
)

// Sizes that make small calls cheap. By default gRPC estimates the bandwidth: it sends a ping with nearly every small message and
// waits for the client's answer, which costs both sides a write and a read. Windows of a fixed size need no estimate. A message that
// is larger than the window of its stream gets a larger one once its length is known, and what has arrived is counted in any case.
const (
	streamWindow     = 1 << 20  // bytes that a client may send of a call before anything reads it
	connectionWindow = 16 << 20 // likewise of all calls together: the most that gRPC's estimate would give

	// Goroutines that are kept for calls, because a new one would copy its growing stack several times, a fifth of the time of a
	// small call. Calls beyond these get goroutines of their own.
	workers = 64
)

// New makes a server of gRPC with the API.
func New(c Config) *grpc.Server {
	a := &API{Config: c}
	// Limits first: they hold for every call before any code of ours sees it. A response may be as large as gRPC allows.
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(int(c.MaxInput)), grpc.MaxSendMsgSize(math.MaxInt32), grpc.MaxConcurrentStreams(streams),
		grpc.MaxHeaderListSize(headerBytes), grpc.ConnectionTimeout(handshake),
		grpc.StaticStreamWindowSize(streamWindow), grpc.StaticConnWindowSize(connectionWindow),
		grpc.NumStreamWorkers(workers),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pings, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: dead, Timeout: handshake}),
		grpc.ForceServerCodecV2(newCodec(c.Room)), newDecompressor(c.MaxInput).option(), grpc.InTapHandle(a.limited),
		grpc.UnaryInterceptor(a.unary), grpc.StreamInterceptor(a.stream),
	}
	var encrypted credentials.TransportCredentials
	if c.TLS != nil {
		encrypted = credentials.NewTLS(c.TLS)
	}
	options = append(options, grpc.Creds(newCounting(encrypted, c.Room)))
	// The health protocol is on the same port, for those who balance load.
	s := grpc.NewServer(options...)
	s.RegisterService(service(), a)
	health.RegisterHealthServer(s, a)
	return s
}

// groups are the groups of methods that can be restricted.
var groups = map[string]string{
	"ServerLive": "health", "ServerReady": "health", "ModelReady": "health", "Check": "health", "List": "health", "Watch": "health",
	"ServerMetadata": "metadata", "ModelMetadata": "metadata",
	"ModelInfer": "inference", "ModelStreamInfer": "inference",
	"ModelConfig": "model-config", "ModelStatistics": "statistics",
	"RepositoryIndex": "model-repository", "RepositoryModelLoad": "model-repository", "RepositoryModelUnload": "model-repository",
	"SystemSharedMemoryStatus": "shm-memory", "SystemSharedMemoryRegister": "shm-memory", "SystemSharedMemoryUnregister": "shm-memory",
	"CudaSharedMemoryStatus": "shm-memory", "CudaSharedMemoryRegister": "shm-memory", "CudaSharedMemoryUnregister": "shm-memory",
	"TraceSetting": "trace", "LogSettings": "logging",
}

// allowed refuses a call without the header that its group asks for.
func (a *API) allowed(ctx context.Context, method string) error {
	// Usually nothing is restricted, and a call pays nothing for it.
	if len(a.Restricted) == 0 {
		return nil
	}
	// The name of a method comes as /SERVICE/METHOD.
	for i := len(method) - 1; i >= 0; i-- {
		if method[i] == '/' {
			method = method[i+1:]
			break
		}
	}
	want, restricted := a.Restricted[groups[method]]
	if !restricted {
		return nil
	}
	for _, got := range metadata.ValueFromIncomingContext(ctx, want.Header) {
		if got == want.Value {
			return nil
		}
	}
	return status.Errorf(codes.Unavailable, "This protocol is restricted, expecting header '%s'", want.Header)
}

// unary answers a call; an error gets its code, and a fault of ours is an error of the call and not the end of the server.
func (a *API) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (response any, err error) {
	// Interceptors are around every method, so that no method needs this.
	defer recovered(&err)
	arrived(ctx)
	plain(ctx)
	if err := a.allowed(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	response, err = handle(ctx, request)
	return response, coded(err)
}

// stream is unary for streams.
func (a *API) stream(server any, s grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) (err error) {
	defer recovered(&err)
	plain(s.Context())
	if err := a.allowed(s.Context(), info.FullMethod); err != nil {
		return err
	}
	return coded(handle(server, s))
}

// plain asks for a response that is not compressed, as tritonserver does without --grpc-infer-response-compression-level. gRPC
// would compress it because the request is, into memory that unsent does not see.
func plain(ctx context.Context) {
	_ = grpc.SetSendCompressor(ctx, encoding.Identity) // a call that has ended gets no response
}

// recovered makes an error of a panic.
func recovered(err *error) {
	if fault := recover(); fault != nil {
		*err = status.Errorf(codes.Internal, "the call has failed: %v", fault)
	}
}

// byCode are the codes of errors.
var byCode = map[inference.Code]codes.Code{
	inference.Unknown: codes.Unknown, inference.Internal: codes.Internal, inference.NotFound: codes.NotFound, inference.InvalidArg: codes.InvalidArgument,
	inference.Unavailable: codes.Unavailable, inference.Unsupported: codes.Unimplemented, inference.AlreadyExists: codes.AlreadyExists, inference.Cancelled: codes.Canceled,
}

// coded is an error with its code.
func coded(err error) error {
	if err == nil {
		return nil
	}
	// Errors of gRPC itself, such as those of a stream, have their code already.
	if _, is := status.FromError(err); is {
		return err
	}
	e := inference.From(err)
	return status.Error(byCode[e.Code], e.Text)
}

// versionOf reads the version of a request; "" is the latest one.
func versionOf(text string) (int64, error) {
	if text == "" {
		return -1, nil
	}
	// Versions are texts in the protocol and numbers everywhere else. Like C++'s stoll, of which tritonserver makes use, this
	// reads the number that the text begins with.
	digits := strings.TrimLeft(text, " \t\n\v\f\r")
	sign := len(digits) - len(strings.TrimLeft(digits, "+-"))
	end := len(digits) - len(strings.TrimLeft(digits[sign:], "0123456789"))
	n, err := strconv.ParseInt(digits[:end], 10, 64)
	if err != nil {
		return 0, inference.Errorf(inference.InvalidArg, "failed to get model version from specified version string '%s' (details: stol), version should be an integral value > 0", text)
	}
	if n < 0 {
		return 0, inference.Errorf(inference.InvalidArg, "invalid model version specified '%s' , version should be an integral value > 0", text)
	}
	return n, nil
}
