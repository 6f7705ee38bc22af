package grpcapi

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	protobuf "google.golang.org/protobuf/proto"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// TestTypedContentsAreCounted: what the text of a message says of its typed contents is what protobuf makes of it, in lists and
// alone, whatever stands before them.
func TestTypedContentsAreCounted(t *testing.T) {
	contents := &kserve.InferTensorContents{
		BoolContents: []bool{true, false}, IntContents: []int32{-1, 1, 1 << 30}, Int64Contents: []int64{-1, 0}, UintContents: []uint32{1 << 31, 0},
		Uint64Contents: []uint64{1<<64 - 1}, Fp32Contents: []float32{1, 2}, Fp64Contents: []float64{1, 2, 3}, BytesContents: [][]byte{{1}, {2}},
	}
	m := &kserve.ModelInferRequest{ModelName: "m", Inputs: []*kserve.ModelInferRequest_InferInputTensor{{Name: "x", Contents: contents}, {Name: "y", Contents: contents}}}
	text, err := protobuf.Marshal(m)
	require.NoError(t, err)
	const one = 2*(2*1+3*4+2*8+2*4+1*8+2*4+3*8) + 2*(64+2*1)
	require.EqualValues(t, 2*one, typedOf(m))
	require.EqualValues(t, 2*one, typedIn(text, fieldInputs, fieldContents))
	alone := []byte{3 << 3, 5, 3 << 3, 200, 1, 6<<3 | 5, 0, 0, 0, 0} // two of int64_contents and one of fp32_contents
	require.EqualValues(t, 2*(2*8+4), typedIn(alone))
	require.EqualValues(t, 2*8, typedIn([]byte{3 << 3, 5, 3<<3 | 2, 100, 1}), "a message that ends within a field")
}

// TestRoomOfTypedContents: a message of a mebibyte whose elements would take sixteen is refused before they do, in a call and in a
// stream, and however its fields stand.
func TestRoomOfTypedContents(t *testing.T) {
	const n = 1 << 20
	input := append(append(field(fieldName, []byte("x")), field(fieldType, []byte("INT64"))...), field(fieldContents, field(3, make([]byte, n)))...)
	text := append(field(fieldModel, []byte("m")), field(fieldInputs, input)...)
	for name, text := range map[string][]byte{"inputs": text, "inputs behind a number": append([]byte{9 << 3, 1}, text...)} {
		t.Run(name, func(t *testing.T) {
			for _, stream := range []bool{false, true} {
				room := httpapi.NewRoom(8 * n)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				m := &inferMessage{ModelInferRequest: &kserve.ModelInferRequest{}}
				to := any(m)
				if stream {
					to = m.ModelInferRequest
				}
				err := newCodec(room).Unmarshal(pieces(text, 1<<14), to)
				runtime.ReadMemStats(&after)
				if !stream {
					require.NoError(t, err, "the handler has it")
					err = m.refused
				}
				require.ErrorContains(t, err, "Exceeds maximum memory of 8388608 bytes for all requests together")
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(5*n), "copies of the text, and no list")
				require.Zero(t, room.Used())
			}
		})
	}
}

// TestRoomOfTypedContentsIsGivenBack: a request with typed contents holds room for them until it is answered.
func TestRoomOfTypedContentsIsGivenBack(t *testing.T) {
	for bytes, code := range map[int64]codes.Code{1 << 18: codes.Unavailable, 1 << 22: codes.OK} {
		room := httpapi.NewRoom(bytes)
		client, _ := served(t, func(c *Config) { c.Room = room })
		r := request(1<<15, 1)
		r.RawInputContents = nil
		r.Inputs[0].Contents = &kserve.InferTensorContents{Fp32Contents: make([]float32, 1<<15)}
		_, err := client.ModelInfer(t.Context(), r)
		require.Equal(t, code, status.Code(err), "%v", err)
		stream, err := client.ModelStreamInfer(t.Context())
		require.NoError(t, err)
		require.NoError(t, stream.Send(r))
		answer, err := stream.Recv()
		require.Equal(t, code == codes.OK, err == nil && answer.ErrorMessage == "", "%v %v", answer, err)
		require.NoError(t, stream.CloseSend()) // the headers of an open stream are counted
		require.Eventually(t, func() bool { return room.Used() == 0 }, 10*time.Second, time.Millisecond)
	}
}

// TestTensorsOfTypedContents: numbers that are too large for the type are cut, as in tritonserver.
func TestTensorsOfTypedContents(t *testing.T) {
	in := &kserve.ModelInferRequest_InferInputTensor{Name: "x", Datatype: "UINT16", Contents: &kserve.InferTensorContents{UintContents: []uint32{1, 65535, 65536, 1<<32 - 1}}}
	data, err := contents(in, tensors.Uint16, "m")
	require.NoError(t, err)
	require.Equal(t, []byte{1, 0, 255, 255, 0, 0, 255, 255}, data)
}

// TestTextsAreMemoryAndNoFields: a request may have more texts than fields; their memory counts before it is taken.
func TestTextsAreMemoryAndNoFields(t *testing.T) {
	const n = 2 * mostFields
	texts := append(append(field(fieldName, []byte("x")), field(fieldType, []byte("BYTES"))...), field(fieldContents, bytes.Repeat(field(fieldTexts, []byte("a")), n))...)
	text := append(field(fieldModel, []byte("m")), field(fieldInputs, texts)...)
	for size, fits := range map[int64]bool{n * 66: true, n*66 - 1: false} {
		room := httpapi.NewRoom(size)
		m := &inferMessage{ModelInferRequest: &kserve.ModelInferRequest{}}
		require.NoError(t, newCodec(room).Unmarshal(pieces(text, 1<<14), m))
		require.Equal(t, fits, m.refused == nil, "%v", m.refused)
		if fits {
			data, err := contents(m.Inputs[0], tensors.Bytes, "m")
			require.NoError(t, err)
			require.Equal(t, bytes.Repeat([]byte{1, 0, 0, 0, 'a'}, n), data)
			require.EqualValues(t, size, room.Used())
		}
		m.giveTyped()
		require.Zero(t, room.Used())
	}
}
