package grpcapi

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/serve"
)

// served is a client of a server with the model m, which negates vectors of floats, and the address of the server.
func served(t testing.TB, change func(*Config)) (client kserve.GRPCInferenceServiceClient, address string) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "m", "1"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "m", "1", "model.onnx"), onnxtest.Unary("Neg", onnxtest.Float, -1, -1), 0o644))
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{}), NoMPS: "there is none"})
	require.NoError(t, err)
	s := serve.New(serve.Options{Runtime: rt, Repositories: []string{folder}, DefaultMaxBatch: 4, Control: serve.ControlExplicit, Load: []string{"m"}})
	require.NoError(t, s.Start())
	c := Config{Server: s, Name: "triton", MaxInput: 1 << 26, Settings: httpapi.NewSettings(httpapi.Logging{}, func(httpapi.Logging) {})}
	if change != nil {
		change(&c)
	}
	server := New(c)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	connection, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(1<<30), grpc.MaxCallSendMsgSize(1<<30)))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, connection.Close())
		server.Stop()
		require.NoError(t, <-ended)
		s.Close()
		require.NoError(t, rt.Close())
	})
	return kserve.NewGRPCInferenceServiceClient(connection), l.Addr().String()
}

// request is one of n floats that are all x.
func request(n int, x byte) *kserve.ModelInferRequest {
	return &kserve.ModelInferRequest{
		ModelName: "m", Id: "a", RawInputContents: [][]byte{bytes.Repeat([]byte{0, 0, x, 0x3F}, n)},
		Inputs: []*kserve.ModelInferRequest_InferInputTensor{{Name: "x", Datatype: "FP32", Shape: []int64{1, int64(n)}}},
	}
}

// TestInfer: small and large tensors come back negated, whatever memory they are in.
func TestInfer(t *testing.T) {
	client, _ := served(t, nil)
	for _, n := range []int{1, 16, smallTensor / 4, smallTensor, 1 << 20, 0} {
		for x := range byte(5) {
			r, err := client.ModelInfer(t.Context(), request(n, x))
			require.NoError(t, err)
			require.Equal(t, []int64{1, int64(n)}, r.Outputs[0].Shape)
			require.Equal(t, bytes.Repeat([]byte{0, 0, x, 0xBF}, n), append([]byte{}, r.RawOutputContents[0]...))
			require.Equal(t, "m 1 a", strings.Join([]string{r.ModelName, r.ModelVersion, r.Id}, " "))
		}
	}
}

// TestForms: typed contents, parameters, classification and errors.
func TestForms(t *testing.T) {
	client, _ := served(t, nil)
	typed := request(2, 0x80)
	typed.RawInputContents = nil
	typed.Inputs[0].Contents = &kserve.InferTensorContents{Fp32Contents: []float32{1, 2}}
	typed.Outputs = []*kserve.ModelInferRequest_InferRequestedOutputTensor{{
		Name:       "y",
		Parameters: map[string]*kserve.InferParameter{"classification": {ParameterChoice: &kserve.InferParameter_Int64Param{Int64Param: 1}}},
	}}
	r, err := client.ModelInfer(t.Context(), typed)
	require.NoError(t, err)
	require.Equal(t, "BYTES", r.Outputs[0].Datatype)
	require.Equal(t, "\x0b\x00\x00\x00-1.000000:0", string(r.RawOutputContents[0]))

	for _, c := range []struct {
		change func(*kserve.ModelInferRequest)
		code   codes.Code
		says   string
	}{
		{func(r *kserve.ModelInferRequest) { r.ModelName = "n" }, codes.NotFound, "unknown model: 'n'"},
		{func(r *kserve.ModelInferRequest) { r.ModelVersion = "x" }, codes.InvalidArgument, "integral value > 0"},
		{func(r *kserve.ModelInferRequest) { r.RawInputContents = nil }, codes.InvalidArgument, "unable to find data"},
		{func(r *kserve.ModelInferRequest) { r.ModelVersion = " 7x" }, codes.NotFound, "version 7 is not found"},
		{func(r *kserve.ModelInferRequest) {
			r.Outputs = []*kserve.ModelInferRequest_InferRequestedOutputTensor{{Name: "y", Parameters: map[string]*kserve.InferParameter{"classification": {ParameterChoice: &kserve.InferParameter_Int64Param{}}}}}
		}, codes.InvalidArgument, "expected >= 0"},
		{func(r *kserve.ModelInferRequest) {
			r.Parameters = map[string]*kserve.InferParameter{"a": {}}
		}, codes.InvalidArgument, "expected int64_param, bool_param, or string_param."},
		{func(r *kserve.ModelInferRequest) {
			r.Parameters = map[string]*kserve.InferParameter{"timeout": {ParameterChoice: &kserve.InferParameter_Uint64Param{}}}
		}, codes.InvalidArgument, "'timeout' parameter, expected int64_param."},
		{func(r *kserve.ModelInferRequest) {
			r.Inputs = append(r.Inputs, r.Inputs[0])
			r.RawInputContents = append(r.RawInputContents, r.RawInputContents[0])
		}, codes.InvalidArgument, "input 'x' already exists in request"},
		{func(r *kserve.ModelInferRequest) { r.Inputs[0].Shape = []int64{1 << 62, 4} }, codes.InvalidArgument, "batch-size must be <= 4"},
		{func(r *kserve.ModelInferRequest) { r.Inputs[0].Shape = []int64{1, 1 << 62} }, codes.InvalidArgument, "exceed maximum size"},
		{func(r *kserve.ModelInferRequest) { r.Inputs[0].Shape = []int64{1, -1} }, codes.InvalidArgument, "should be specified"},
		{func(r *kserve.ModelInferRequest) { r.Inputs[0].Shape = make([]int64, 2000) }, codes.Internal, "more than 1024 dimensions"},
		{func(r *kserve.ModelInferRequest) {
			r.Parameters = map[string]*kserve.InferParameter{"timeout": {ParameterChoice: &kserve.InferParameter_BoolParam{}}}
		}, codes.InvalidArgument, "expected int64_param"},
	} {
		one := request(2, 0x80)
		c.change(one)
		_, err := client.ModelInfer(t.Context(), one)
		require.Equal(t, c.code, status.Code(err), err)
		require.ErrorContains(t, err, c.says)
	}
}

// TestManyFields: empty inputs take two bytes each in a message, and must not take a gigabyte in the server.
func TestManyFields(t *testing.T) {
	for _, field := range []string{"\x2a\x00", "\x32\x00", "\x3a\x00"} {
		err := newCodec(nil).Unmarshal(mem.BufferSlice{mem.SliceBuffer(strings.Repeat(field, 1<<20))}, &kserve.ModelInferRequest{})
		require.ErrorIs(t, err, errMany)
	}
}

// TestStream: requests of a stream are answered in order, and an error does not end it.
func TestStream(t *testing.T) {
	client, _ := served(t, nil)
	s, err := client.ModelStreamInfer(t.Context())
	require.NoError(t, err)
	for i := range 100 {
		one := request(i+1, 0x80)
		if i%10 == 3 {
			one.Inputs[0].Name = "z"
		}
		require.NoError(t, s.Send(one))
	}
	require.NoError(t, s.CloseSend())
	for i := range 100 {
		r, err := s.Recv()
		require.NoError(t, err)
		require.Equal(t, "a", r.InferResponse.Id)
		if i%10 == 3 {
			require.Contains(t, r.ErrorMessage, "unexpected inference input 'z'")
			continue
		}
		require.Equal(t, int64(i+1), r.InferResponse.Outputs[0].Shape[1])
	}
	_, err = s.Recv()
	require.Error(t, err)
}

// TestStreamEndsWithTheServer: a stream on which nothing happens does not hold up the end of the server.
func TestStreamEndsWithTheServer(t *testing.T) {
	var server *serve.Server
	client, _ := served(t, func(c *Config) { server = c.Server })
	s, err := client.ModelStreamInfer(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Send(request(1, 0x80)))
	_, err = s.Recv()
	require.NoError(t, err)
	server.Exit()
	_, err = s.Recv()
	require.Equal(t, codes.Unavailable, status.Code(err), err)
}

// TestRoomOfAStream: requests that are not answered are read no further than a bound, and a large one goes alone.
func TestRoomOfAStream(t *testing.T) {
	r := newRoom(10)
	r.enter(100)
	entered := make(chan struct{})
	go func() { r.enter(6); close(entered) }()
	select {
	case <-entered:
		t.Fatal("there is no room")
	case <-time.After(20 * time.Millisecond):
	}
	r.leave(100)
	<-entered
	r.enter(4)

	// The bound of the server is that of a message.
	client, _ := served(t, func(c *Config) { c.MaxInput = 1 << 16 })
	s, err := client.ModelStreamInfer(t.Context())
	require.NoError(t, err)
	go func() {
		for range 50 {
			_ = s.Send(request(10000, 0x80)) // what is missing is seen below
		}
	}()
	for range 50 {
		answer, err := s.Recv()
		require.NoError(t, err)
		require.Empty(t, answer.ErrorMessage)
	}
}

// frame is one of HTTP/2.
func frame(kind, flags byte, stream uint32, payload string) string {
	n := len(payload)
	return string([]byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags, byte(stream >> 24), byte(stream >> 16), byte(stream >> 8), byte(stream)}) + payload
}

// TestMessagesThatDoNotArrive: a client that sends a part of a message, and no more, loses its call.
func TestMessagesThatDoNotArrive(t *testing.T) {
	clock := newClock(t)
	client, address := served(t, nil)
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	headers := ""
	for _, h := range [][2]string{
		{":method", "POST"},
		{":scheme", "http"},
		{":path", kserve.GRPCInferenceService_ModelInfer_FullMethodName},
		{":authority", "a"},
		{"content-type", "application/grpc"},
		{"te", "trailers"},
	} {
		headers += "\x00" + string(rune(len(h[0]))) + h[0] + string(rune(len(h[1]))) + h[1]
	}
	_, err = c.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, "") + frame(1, 4, 1, headers) + frame(0, 0, 1, "\x00\x00\x10\x00\x00part")))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return slices.Equal(clock.running(), []time.Duration{arrival}) }, time.Minute, time.Millisecond)
	clock.expire()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
	// The answer is the end of stream 1: its trailers, or a reset.
	for {
		head := make([]byte, 9)
		_, err := io.ReadFull(c, head)
		require.NoError(t, err, "the call is still there")
		_, err = io.CopyN(io.Discard, c, int64(head[0])<<16|int64(head[1])<<8|int64(head[2]))
		require.NoError(t, err)
		if head[8] == 1 && (head[3] == 1 || head[3] == 3) {
			break
		}
	}
	// The time is that of the message: a call whose message was there takes as long as it needs.
	_, err = client.ModelInfer(t.Context(), request(1, 0x80))
	require.NoError(t, err)
	require.Empty(t, clock.running())
}

// TestRestricted: a group that asks for a header refuses calls without it.
func TestRestricted(t *testing.T) {
	client, _ := served(t, func(c *Config) {
		c.Restricted = map[string]httpapi.Restriction{"inference": {Header: "triton-grpc-protocol-key", Value: "secret"}}
	})
	_, err := client.ModelInfer(t.Context(), request(1, 0))
	require.Equal(t, codes.Unavailable, status.Code(err))
	require.ErrorContains(t, err, "expecting header 'triton-grpc-protocol-key'")
	_, err = client.ServerLive(t.Context(), &kserve.ServerLiveRequest{})
	require.NoError(t, err)
}

// TestModels: what the server says about its models, and loads and unloads.
func TestModels(t *testing.T) {
	client, _ := served(t, nil)
	ctx := t.Context()
	m, err := client.ModelMetadata(ctx, &kserve.ModelMetadataRequest{Name: "m"})
	require.NoError(t, err)
	require.Equal(t, "FP32", m.Inputs[0].Datatype)
	c, err := client.ModelConfig(ctx, &kserve.ModelConfigRequest{Name: "m", Version: "1"})
	require.NoError(t, err)
	require.EqualValues(t, 4, c.Config.MaxBatchSize)
	_, err = client.ModelInfer(ctx, request(1, 0))
	require.NoError(t, err)
	s, err := client.ModelStatistics(ctx, &kserve.ModelStatisticsRequest{Name: "m"})
	require.NoError(t, err)
	require.EqualValues(t, 1, s.ModelStats[0].InferenceStats.Success.Count)
	_, err = client.RepositoryModelLoad(ctx, &kserve.RepositoryModelLoadRequest{ModelName: "..", Parameters: map[string]*kserve.ModelRepositoryParameter{}})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	_, err = client.RepositoryModelUnload(ctx, &kserve.RepositoryModelUnloadRequest{ModelName: "m"})
	require.NoError(t, err)
	ready, err := client.ServerReady(ctx, &kserve.ServerReadyRequest{})
	require.NoError(t, err)
	require.True(t, ready.Ready)
	_, err = client.ModelInfer(ctx, request(1, 0))
	require.Equal(t, codes.NotFound, status.Code(err))
	_, err = client.ModelStatistics(ctx, &kserve.ModelStatisticsRequest{Name: "m"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	_, err = client.RepositoryIndex(ctx, &kserve.RepositoryIndexRequest{RepositoryName: "other"})
	require.Equal(t, codes.Unimplemented, status.Code(err))
	_, err = client.CudaSharedMemoryStatus(ctx, &kserve.CudaSharedMemoryStatusRequest{Name: "a"})
	require.Equal(t, codes.NotFound, status.Code(err))
	_, err = client.LogSettings(ctx, &kserve.LogSettingsRequest{Settings: map[string]*kserve.LogSettingsRequest_SettingValue{"log_info": {}}})
	require.ErrorContains(t, err, "expect boolean for 'log_info'")
	for name, want := range map[string]string{"config": "expected string_param.", "file:1/model.onnx": "expected bytes_param.", "x": "unrecognized load parameter 'x'."} {
		_, err = client.RepositoryModelLoad(ctx, &kserve.RepositoryModelLoadRequest{ModelName: "m", Parameters: map[string]*kserve.ModelRepositoryParameter{name: {}}})
		require.ErrorContains(t, err, want)
	}
	_, err = client.TraceSetting(ctx, &kserve.TraceSettingRequest{})
	require.Error(t, err)
}

// TestCancelledCalls: a thousand calls that are cancelled at once do no harm.
func TestCancelledCalls(t *testing.T) {
	client, _ := served(t, nil)
	for range 1000 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _, _ = client.ModelInfer(ctx, request(16, 0x80)) }()
		cancel()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := client.ModelInfer(ctx, request(16, 0x80))
	require.NoError(t, err)
}

// pieces is a message as the transport has it: in pieces of a size.
func pieces(text []byte, size int) (all mem.BufferSlice) {
	for len(text) > size {
		all, text = append(all, mem.SliceBuffer(text[:size])), text[size:]
	}
	return append(all, mem.SliceBuffer(text))
}

// shortest is unknown fields with their numbers in as few bytes as they take. The codec writes them so, and protobuf keeps longer ones.
func shortest(fields []byte) (made []byte) {
	for len(fields) > 0 {
		number, kind, n := protowire.ConsumeTag(fields)
		made, fields = protowire.AppendTag(made, number, kind), fields[n:]
		n = protowire.ConsumeFieldValue(number, kind, fields)
		switch kind {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(fields)
			made = protowire.AppendVarint(made, v)
		case protowire.BytesType:
			v, _ := protowire.ConsumeBytes(fields)
			made = protowire.AppendBytes(made, v)
		default:
			made = append(made, fields[:n]...)
		}
		fields = fields[n:]
	}
	return made
}

// FuzzMessage: what the codec reads is what protobuf reads, and what it writes protobuf reads as the same.
func FuzzMessage(f *testing.F) {
	seed, err := proto.Marshal(request(3, 0x80))
	require.NoError(f, err)
	f.Add(seed, 4)
	f.Add(protowire.AppendVarint(protowire.AppendTag(seed, 9, protowire.VarintType), 5), 100)
	f.Add([]byte("\x2a\x06\x1a\x04\x01\x02\x80\x01\x22\x04\x0a\x00\x12\x00"), 1)
	f.Add([]byte("\x2a\x02\x18\x05\x0a\x01\xff\x3a\x00\x32\x03\x0a\x01y"), 2)
	f.Add([]byte("\x92\x92\x92\x00\x92\x00\x00\x7f\xda[\xf8*\x02\x18\x05\n\x05\xff:\x002\x03HHHHHH\n\x01y"), -44)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		got, want := &kserve.ModelInferRequest{}, &kserve.ModelInferRequest{}
		mine := newCodec(nil).Unmarshal(pieces(text, max(size, 1)), got)
		theirs := proto.Unmarshal(text, want)
		if (mine == nil) != (theirs == nil) && mine != errDims {
			t.Fatalf("%v; protobuf says %v", mine, theirs)
		}
		if mine == nil {
			for _, m := range []*kserve.ModelInferRequest{got, want} {
				m.ProtoReflect().SetUnknown(shortest(m.ProtoReflect().GetUnknown()))
			}
			if !proto.Equal(got, want) {
				t.Fatalf("%v; protobuf has %v", got, want)
			}
		}
		// The same fields make a response.
		response := &kserve.ModelInferResponse{ModelName: strings.ToValidUTF8(string(text), ""), RawOutputContents: [][]byte{text, nil, bytes.Repeat(text, 100)}}
		sent, err := newCodec(nil).Marshal(outgoing{message: response})
		require.NoError(t, err)
		back := &kserve.ModelInferResponse{}
		require.NoError(t, proto.Unmarshal(sent.Materialize(), back))
		require.True(t, proto.Equal(response, back))
	})
}

// BenchmarkInfer is a request of 64 bytes over a connection.
func BenchmarkInfer(b *testing.B) {
	client, _ := served(b, nil)
	one := request(16, 0x80)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.ModelInfer(b.Context(), one); err != nil {
			b.Fatal(err)
		}
	}
}
