// Package grpcapi is the inference protocol over gRPC: KServe v2 with the extensions of Triton Inference Server, and the
// health protocol of gRPC.
//
// Methods are in the files by what they are about; infer.go turns a message into a request of package serve and its
// response into a message, without a copy of tensors where the message has them in binary form. Messages of errors and
// codes are those of tritonserver.
//
// What the server lacks (CUDA memory) is refused by name.
//
// # Calls
//
// Every call goes through an interceptor, which asks for the header of a restricted group, turns errors of package serve
// into status codes, and makes an error of a panic. Methods therefore return errors as they get them.
//
// # Tensors
//
// Inputs are in raw_input_contents, in the order of the inputs, or in the typed contents of each input; a message with both
// is refused. Outputs are always raw. The bytes of an input are copied once out of what was received (codec.go), and those of
// an output are sent from the memory that the server made. tritonclient uses raw contents alone; clients of KServe may use typed ones.
//
// # Shared memory
//
// An input with the parameter shared_memory_region is copied out of the region before the request goes to the server, and an
// output with one is copied in after it (memory.go). Regions are those that HTTP has too. A message with such an output has
// empty raw contents for it, so that the contents of the others keep their places.
//
// The regions of outputs are held while the request runs: an unregistration in between does not take them away. Inputs in
// shared memory count against the limit of a message and that of all requests, though they are not in it: a region may be
// larger than all memory.
//
// # Streams
//
// A stream is a sequence of inferences on one call. They run at one time, up to a number, and are answered in order. An
// error of one of them is a response with a message and its id. Each response has the parameter triton_final_response,
// because a request has one response here. When the server ends, a stream ends with UNAVAILABLE once what it has sent is
// answered.
//
// # Limits
//
// A message has at most --grpc-max-input-size bytes, decompressed too: gRPC refuses a larger one before it is read. At most
// one message per processor is decompressed at a time (decompress.go), so that many small ones cannot take all memory. A message
// has at most 65,536 fields, those within it counted, and one that is neither an inference nor a load has 64 KiB (codec.go). A
// connection has at most 4,096 calls at a time, and headers of 64 KiB. One that has not finished its handshake after 20 s
// is closed, and so is one whose client does not answer a ping. The message of a call has to be there within a minute
// (arrival.go). All requests that have arrived have at most --total-max-input-size bytes together, with those of HTTP; gRPC does
// not say how large a message is before it is there. A stream holds at most as many bytes of requests that are not answered as one message may have, or one request.
//
// # Traces
//
// A call that is sampled (package traces) is traced from the moment its headers were there until its response was handed to the
// transport. The handler of an inference is ours (codec.go), so that its trace can end where the codec has written the response;
// a call that is not sampled pays one atomic load for all of it. Requests of a stream are traced one by one.
//
// What a trace calls the wait for a call begins when its headers are there, as nothing before that can be seen here.
//
// # Cancellation
//
// A call that its client cancels leaves the queue of the model. Once its batch runs, it runs to the end, and the answer is
// dropped by gRPC.
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
	_ "google.golang.org/grpc/encoding/gzip" // a compressor that clients may choose
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/sharedmemory"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/traces"
	"github.com/paddle-mps/paddle-mps/serve"
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
	headerBytes = 64 << 10         // of a call
	handshake   = 20 * time.Second // until a connection is one of HTTP/2
	pings       = 10 * time.Second // the least time between pings of a client,clients of tritonserver send one in 5 minutes
	dead        = 2 * time.Minute  // of silence, after which a connection is asked whether it is alive
)

// New makes a server of gRPC with the API.
func New(c Config) *grpc.Server {
	a := &API{Config: c}
	// Limits first: they hold for every call before any code of ours sees it. A response may be as large as gRPC allows.
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(int(c.MaxInput)), grpc.MaxSendMsgSize(math.MaxInt32), grpc.MaxConcurrentStreams(streams),
		grpc.MaxHeaderListSize(headerBytes), grpc.ConnectionTimeout(handshake),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pings, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: dead, Timeout: handshake}),
		grpc.ForceServerCodecV2(newCodec()), newDecompressor(c.MaxInput).option(), grpc.InTapHandle(a.limited),
		grpc.UnaryInterceptor(a.unary), grpc.StreamInterceptor(a.stream),
	}
	if c.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(c.TLS)))
	}
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
	if err := a.allowed(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	response, err = handle(ctx, request)
	return response, coded(err)
}

// stream is unary for streams.
func (a *API) stream(server any, s grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) (err error) {
	defer recovered(&err)
	if err := a.allowed(s.Context(), info.FullMethod); err != nil {
		return err
	}
	return coded(handle(server, s))
}

// recovered makes an error of a panic.
func recovered(err *error) {
	if fault := recover(); fault != nil {
		*err = status.Errorf(codes.Internal, "the call has failed: %v", fault)
	}
}

// byCode are the codes of errors.
var byCode = map[serve.Code]codes.Code{
	serve.Unknown: codes.Unknown, serve.Internal: codes.Internal, serve.NotFound: codes.NotFound, serve.InvalidArg: codes.InvalidArgument,
	serve.Unavailable: codes.Unavailable, serve.Unsupported: codes.Unimplemented, serve.AlreadyExists: codes.AlreadyExists, serve.Cancelled: codes.Canceled,
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
	e := serve.From(err)
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
		return 0, serve.Errorf(serve.InvalidArg, "failed to get model version from specified version string '%s' (details: stol), version should be an integral value > 0", text)
	}
	if n < 0 {
		return 0, serve.Errorf(serve.InvalidArg, "invalid model version specified '%s' , version should be an integral value > 0", text)
	}
	return n, nil
}
