package httpapi

import (
	"encoding/binary"
	"math"

	"github.com/paddle-mps/paddle-mps/core/jsontext"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// elements makes the elements of an input from a JSON array, nested or flat. Numbers of whole types are cut to their size
// without an error, as in tritonserver.
func (in *inferBody) elements(t *inference.Tensor, data jsontext.Value) ([]byte, error) {
	switch t.Type {
	case tensors.FP16, tensors.BF16:
		return nil, inference.Errorf(inference.InvalidArg, "receiving %s data via JSON is not supported. Please use the binary data format for input %s", t.Type, t.Name)
	case tensors.Invalid:
		return nil, inference.Errorf(inference.InvalidArg, "invalid datatype for input %s", t.Name)
	}
	// A single number is no array of one.
	array, err := data.Array()
	if err != nil {
		return nil, internal("data", err)
	}
	if t.Type == tensors.Bytes {
		return in.texts(t, array)
	}
	count, ok := tensors.Count(t.Shape)
	if !ok {
		return nil, inference.Errorf(inference.InvalidArg, "invalid shape for input '%s': shape %s causes total element count to exceed maximum size of %d", t.Name, tensors.Text(t.Shape), int64(math.MaxInt64))
	}
	// Each element takes two bytes of text at least, and eight here at most: what is made stays within the limit of the
	// body times four, and a lying shape makes nothing at all.
	if count > int64(len(data.Text())) {
		return nil, errShape
	}
	size, ok := tensors.ByteSize(t.Type, t.Shape)
	if !ok || size > in.limit {
		return nil, in.tooLarge(t, size)
	}
	// They count against the room of all requests beside the body, which is four times smaller at most.
	if err := in.call.take(size); err != nil {
		return nil, err
	}
	// Memory is taken for as many elements as the text can have, and not for as many as the shape states.
	r := reader{kind: t.Type, left: count, out: make([]byte, 0, count*t.Type.Size())}
	if err := r.read(array); err != nil {
		return nil, err
	}
	if r.left != 0 {
		return nil, errShape
	}
	return r.out, nil
}

// tooLarge is the error of an input whose elements have more bytes than an input may have.
func (in *inferBody) tooLarge(t *inference.Tensor, size int64) error {
	return inference.Errorf(inference.InvalidArg, "JSON input '%s' has a byte_size (%d bytes) that exceeds the maximum allowed value of %d bytes. Use --http-max-input-size to increase the limit.", t.Name, size, in.limit)
}

// texts makes the elements of an input of BYTES. How many there are is for the model to check, as in tritonserver.
func (in *inferBody) texts(t *inference.Tensor, array jsontext.Cursor) ([]byte, error) {
	// Their size is known before they take memory: the text is read twice.
	size, again := int64(0), array
	for v, ok := again.Leaf(); ok; v, ok = again.Leaf() {
		n, err := v.Len()
		if err != nil {
			return nil, inference.Errorf(inference.Internal, "Unable to parse JSON bytes array: %s", err)
		}
		size += tensors.LengthSize + int64(n)
	}
	if size > in.limit {
		return nil, in.tooLarge(t, size)
	}
	if err := in.call.take(size); err != nil {
		return nil, err
	}
	out := make([]byte, 0, size)
	for v, ok := array.Leaf(); ok; v, ok = array.Leaf() {
		n, _ := v.Len() // it is a text, as above
		out, _ = v.Append(binary.LittleEndian.AppendUint32(out, uint32(n)))
	}
	return out, nil
}

// errShape is the error of elements that are fewer than the shape says; more are errLong.
var (
	errShape = inference.Errorf(inference.Internal, "Failed to parse 'data' field: shape does not match true shape")
	errLong  = inference.Errorf(inference.Internal, "Unable to parse 'data': Shape does not match true shape of 'data' field")
)

// reader reads elements.
// A request with a million elements makes one of it, and no value for each.
type reader struct {
	kind tensors.Type
	left int64 // elements that are still expected
	out  []byte
}

// read reads the elements of an array.
func (r *reader) read(array jsontext.Cursor) error {
	// Elements count in the order in which they stand; how they are nested does not matter, as in tritonserver.
	for v, ok := array.Leaf(); ok; v, ok = array.Leaf() {
		if r.left == 0 {
			return errLong
		}
		r.left--
		if err := r.element(v); err != nil {
			return inference.Errorf(inference.Internal, "Unable to parse 'data': %s", err)
		}
	}
	return nil
}

// element reads one element.
func (r *reader) element(v jsontext.Value) error {
	le := binary.LittleEndian
	switch r.kind {
	case tensors.Bool:
		b, err := v.Bool()
		if r.out = append(r.out, 0); b {
			r.out[len(r.out)-1] = 1
		}
		return err
	case tensors.Uint8, tensors.Uint16, tensors.Uint32, tensors.Uint64:
		n, err := v.Uint()
		r.whole(n)
		return err
	case tensors.Int8, tensors.Int16, tensors.Int32, tensors.Int64:
		n, err := v.Int()
		r.whole(uint64(n))
		return err
	case tensors.FP32:
		x, err := v.Float()
		r.out = le.AppendUint32(r.out, math.Float32bits(float32(x)))
		return err
	}
	x, err := v.Float() // of FP64
	r.out = le.AppendUint64(r.out, math.Float64bits(x))
	return err
}

// whole appends the low bytes of a number.
func (r *reader) whole(n uint64) {
	for range r.kind.Size() {
		r.out, n = append(r.out, byte(n)), n>>8
	}
}
