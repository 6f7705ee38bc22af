package grpcapi

// Large tensors decide what an inference costs. Protobuf needs a message in one piece, and copies its bytes fields out of
// that: two copies before the server has seen the request, and one more for the response. Here the pieces that the
// transport has received are read one after the other: the bytes of a tensor go into memory of their own, which is aligned
// for the kernels, and those of a response are handed to the transport where they are.
//
// FuzzMessage holds the codec against protobuf: what one of them takes the other takes with the same contents. What the
// codec refuses beside that has limits of its own: fields of a request, and dimensions of a shape.

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	protobuf "google.golang.org/protobuf/proto"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/traces"
)

// codec is the form of messages on the wire. It reads and writes inferences itself: protobuf would copy each tensor twice,
// and take memory for each field. All other messages, and fields of inferences that few requests have, are protobuf's.
type codec struct {
	encoding.CodecV2
	room *httpapi.Room // of all requests together; see typed.go
}

// newCodec is the codec of a server.
func newCodec(room *httpapi.Room) codec { return codec{encoding.GetCodecV2(proto.Name), room} }

// inferMessage is a request whose large tensors are in memory that is used again, if it is freed.
type inferMessage struct {
	*kserve.ModelInferRequest
	freed  bool  // whether it will be
	size   int64 // of the message
	fields int   // of the message and within them; see count
	memory []*[]byte

	room    *httpapi.Room
	typed   int64 // bytes of room that typed contents have taken
	refused error // there was no room for them, and the message was not read
}

// tensorMemory is memory of tensors that were answered, of at least smallTensor bytes.
var tensorMemory sync.Pool

// The sizes of tensors whose memory is used again. The memory of the largest one must not be kept forever.
const (
	smallTensor = 32 << 10
	largeTensor = 16 << 20
)

// tensor is memory for a tensor of n bytes.
func (m *inferMessage) tensor(n int) []byte {
	if !m.freed || n < smallTensor || n > largeTensor {
		return make([]byte, n)
	}
	// Requests are mostly of one size. What is too small is left to the garbage collector.
	b, _ := tensorMemory.Get().(*[]byte)
	if b == nil || cap(*b) < n {
		made := make([]byte, n)
		b = &made
	}
	m.memory = append(m.memory, b)
	return (*b)[:n:n]
}

// free gives the memory back. The request was answered.
func (m *inferMessage) free() {
	for _, b := range m.memory {
		tensorMemory.Put(b)
	}
	m.memory, m.RawInputContents = nil, nil
}

// service is the service with a handler of its own for inferences, which gives their memory back.
func service() *grpc.ServiceDesc {
	// The description that was generated is shared: its list of methods is copied before one of them changes.
	d := kserve.GRPCInferenceService_ServiceDesc
	d.Methods = slices.Clone(d.Methods)
	for i := range d.Methods {
		if d.Methods[i].MethodName == "ModelInfer" {
			d.Methods[i].Handler = inferHandler
		}
	}
	return &d
}

// inferHandler is what protobuf generates for ModelInfer, for a request with memory.
func inferHandler(api any, ctx context.Context, read func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
	m := &inferMessage{ModelInferRequest: &kserve.ModelInferRequest{}, freed: true}
	defer m.free() // the response has none of it
	defer m.giveTyped()
	if err := read(m); err != nil {
		return nil, err
	}
	if m.refused != nil {
		return nil, coded(m.refused)
	}
	room := api.(*API).Room
	if err := room.Take(m.size); err != nil {
		return nil, coded(err)
	}
	defer room.Give(m.size)
	info := &grpc.UnaryServerInfo{Server: api, FullMethod: kserve.GRPCInferenceService_ModelInfer_FullMethodName}
	var t *traces.Request
	response, err := intercept(ctx, m.ModelInferRequest, info, func(ctx context.Context, request any) (any, error) {
		return api.(*API).infer(ctx, request.(*kserve.ModelInferRequest), &t)
	})
	t.Now("GRPC_SEND_START")
	if err != nil {
		wasSent(t)
		return nil, err
	}
	return outgoing{response, connectionOf(ctx), t}, nil
}

// Unmarshal reads a message.
func (c codec) Unmarshal(data mem.BufferSlice, to any) error {
	switch m := to.(type) {
	// The handlers of inferences make these; every other message is one of protobuf.
	case *inferMessage:
		m.room = c.room
		err := m.read(data)
		if m.refused != nil {
			return nil // the handler has the error, with its code
		}
		return err
	case *kserve.ModelInferRequest: // of a stream, which counts it from here on
		one := inferMessage{ModelInferRequest: m, room: c.room}
		defer one.giveTyped()
		return one.read(data)
	}
	// Other messages are small, but for the files of a load: protobuf takes up to 64 bytes for one of a message.
	if m, is := to.(*kserve.RepositoryModelLoadRequest); is {
		text := data.Materialize()
		if count(text, nil) > mostFields {
			return errMany
		}
		return protobuf.Unmarshal(text, m)
	}
	if data.Len() > mostOther {
		return errLarge
	}
	return c.CodecV2.Unmarshal(data, to)
}

// Numbers of the fields of a request that are read here; see grpc_service.proto.
const (
	fieldModel   = 1
	fieldVersion = 2
	fieldID      = 3
	fieldInputs  = 5
	fieldOutputs = 6
	fieldRaw     = 7

	fieldName     = 1
	fieldType     = 2
	fieldShape    = 3
	fieldContents = 5
)

// mostDims is how many dimensions a shape may have: no model has as many, and a message can state millions.
const mostDims = 1024

// mostFields is how many fields a request may have, those of its inputs and outputs too: an empty input takes two bytes of a
// message, and a hundred in memory.
const mostFields = 1 << 16

// mostOther is the size of a message that is neither an inference nor a load.
const mostOther = 1 << 16

// The errors of messages that are none.
var (
	errEnds  = errors.New("the message ends within a field")
	errMany  = errors.New("the request has more than 65536 fields")
	errText  = errors.New("a text is no UTF-8")
	errLarge = errors.New("the message has more than 65536 bytes, and is neither an inference nor a load")
	errDims  = errors.New("the shape of an input has more than 1024 dimensions")
)

// read reads a request. The bytes of tensors are copied once, from where they were received to where they are used.
func (m *inferMessage) read(data mem.BufferSlice) error {
	from := data.Reader()
	defer func() { _ = from.Close() }() // it holds what was not read
	m.size = int64(data.Len())
	// Fields that are not read here are collected, and read by protobuf.
	var rest, text []byte
	for from.Remaining() > 0 {
		if m.fields++; m.fields > mostFields {
			return errMany
		}
		tag, err := uvarint(from)
		if err != nil {
			return err
		}
		number, kind := protowire.DecodeTag(tag)
		if kind != protowire.BytesType {
			// The request has no such field: what it is, and where it ends, protobuf knows.
			rest = protowire.AppendVarint(rest, tag)
			at := len(rest)
			rest = append(rest, make([]byte, from.Remaining())...)
			if _, err := io.ReadFull(from, rest[at:]); err != nil {
				return err
			}
			m.fields += count(rest, inRequest)
			if err := m.takeTyped(typedIn(rest, fieldInputs, fieldContents)); err != nil {
				return err
			}
			break
		}
		n, err := uvarint(from)
		if err != nil || n > uint64(from.Remaining()) {
			return errEnds
		}
		if number == fieldRaw {
			raw := m.tensor(int(n))
			if _, err := io.ReadFull(from, raw); err != nil {
				return err
			}
			m.RawInputContents = append(m.RawInputContents, raw)
			continue
		}
		text = slices.Grow(text[:0], int(n))[:n]
		if _, err := io.ReadFull(from, text); err != nil {
			return err
		}
		if rest, err = m.field(number, text, rest); err != nil {
			return err
		}
	}
	switch {
	case m.fields > mostFields:
		return errMany
	case len(rest) == 0:
		return nil
	}
	return protobuf.UnmarshalOptions{Merge: true}.Unmarshal(rest, m.ModelInferRequest)
}

// field reads one field, or appends it to rest.
func (m *inferMessage) field(number protowire.Number, text, rest []byte) ([]byte, error) {
	// Outputs and parameters are few and small, and protobuf has maps for them.
	switch number {
	case fieldModel:
		return rest, setText(&m.ModelName, text)
	case fieldVersion:
		return rest, setText(&m.ModelVersion, text)
	case fieldID:
		return rest, setText(&m.Id, text)
	case fieldInputs:
		in := &kserve.ModelInferRequest_InferInputTensor{}
		m.Inputs = append(m.Inputs, in)
		return rest, m.readInput(in, text)
	}
	m.fields += inRequest(number, text)
	rest = protowire.AppendTag(rest, number, protowire.BytesType)
	return protowire.AppendBytes(rest, text), nil
}

// setText sets a text, which has to be UTF-8 as all texts of the protocol.
func setText(to *string, text []byte) error {
	if !utf8.Valid(text) {
		return errText
	}
	*to = string(text)
	return nil
}

// uvarint reads a number.
func uvarint(from *mem.Reader) (n uint64, err error) {
	// Seven bits a byte, the lowest first; the tenth byte has one.
	for shift := 0; shift < 64; shift += 7 {
		b, err := from.ReadByte()
		if err != nil {
			return 0, errEnds
		}
		if shift == 63 && b > 1 {
			break
		}
		n |= uint64(b&0x7F) << shift
		if b < 0x80 {
			return n, nil
		}
	}
	return 0, errEnds
}

// count is the number of length-delimited fields in a message. inner, unless it is nil, counts those within each of them. The
// count ends where the text is not a valid message, which protobuf refuses later.
func count(text []byte, inner func(number protowire.Number, value []byte) int) (n int) {
	// Numbers are not counted: in a list without its length each takes a byte at least, and eight in memory.
	for len(text) > 0 {
		number, kind, tag := protowire.ConsumeTag(text)
		if tag < 0 {
			return n
		}
		size := protowire.ConsumeFieldValue(number, kind, text[tag:])
		if size < 0 {
			return n
		}
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(text[tag:]) // it is whole
			if n++; inner != nil {
				n += inner(number, value)
			}
		}
		text = text[tag+size:]
	}
	return n
}

// inRequest counts the fields within one of a request.
func inRequest(number protowire.Number, value []byte) int {
	switch number {
	case fieldInputs:
		return count(value, inInput)
	case fieldOutputs:
		return count(value, nil)
	}
	return 0
}

// inInput counts the fields within one of an input.
func inInput(number protowire.Number, value []byte) int {
	if number != fieldContents {
		return 0
	}
	return count(value, func(number protowire.Number, _ []byte) int {
		if number == fieldTexts {
			return -1
		}
		return 0
	})
}

// readInput reads an input; one with parameters or typed contents is protobuf's.
func (m *inferMessage) readInput(in *kserve.ModelInferRequest_InferInputTensor, text []byte) error {
	for left := text; len(left) > 0; {
		number, kind, n := protowire.ConsumeTag(left)
		if n < 0 {
			return errEnds
		}
		left = left[n:]
		if kind != protowire.BytesType || number > fieldShape {
			if m.fields += count(text, inInput); m.fields > mostFields {
				return errMany
			}
			if err := m.takeTyped(typedIn(text, fieldContents)); err != nil {
				return err
			}
			in.Reset()
			if err := protobuf.Unmarshal(text, in); err != nil {
				return err
			}
			if len(in.Shape) > mostDims {
				return errDims
			}
			return nil
		}
		// The three fields that every input has are texts and a packed list.
		value, n := protowire.ConsumeBytes(left)
		if n < 0 {
			return errEnds
		}
		left = left[n:]
		var err error
		switch number {
		case fieldName:
			err = setText(&in.Name, value)
		case fieldType:
			err = setText(&in.Datatype, value)
		case fieldShape:
			in.Shape, err = appendDims(in.Shape, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// appendDims appends the dimensions of a shape.
func appendDims(dims []int64, packed []byte) ([]int64, error) {
	// A list may come in several parts: each appends.
	for len(packed) > 0 {
		d, n := protowire.ConsumeVarint(packed)
		if n < 0 {
			return nil, errEnds
		}
		if len(dims) == mostDims {
			return nil, errDims
		}
		dims, packed = append(dims, int64(d)), packed[n:]
	}
	return dims, nil
}

// Numbers of the field of a response that is written here.
const fieldRawOutput = 6

// Marshal writes a message.
func (c codec) Marshal(from any) (mem.BufferSlice, error) {
	o, ok := from.(outgoing)
	if !ok {
		return c.CodecV2.Marshal(from)
	}
	defer wasSent(o.trace) // what is written is the transport's
	m, ok := o.message.(*kserve.ModelInferResponse)
	if !ok { // of a stream
		all, err := protobuf.MarshalOptions{}.Marshal(o.message.(*kserve.ModelStreamInferResponse))
		if err != nil {
			return nil, err
		}
		return mem.BufferSlice{unsent(all, o.to)}, nil
	}
	// The tensors stand behind all other fields and are sent from where they are; small ones are copied, which is less work.
	raw := m.RawOutputContents
	m.RawOutputContents = nil
	head, err := protobuf.MarshalOptions{}.MarshalAppend(make([]byte, 0, 256), m)
	m.RawOutputContents = raw
	if err != nil {
		return nil, err
	}
	var all mem.BufferSlice
	for _, tensor := range raw {
		head = protowire.AppendTag(head, fieldRawOutput, protowire.BytesType)
		head = protowire.AppendVarint(head, uint64(len(tensor)))
		if len(tensor) < smallTensor {
			head = append(head, tensor...)
			continue
		}
		all = append(all, unsent(head, o.to), unsent(tensor, o.to))
		head = nil
	}
	if len(head) > 0 {
		all = append(all, unsent(head, o.to))
	}
	return all, nil
}
