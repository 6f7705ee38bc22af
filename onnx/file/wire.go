package file

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// The wire format of protobuf: a message is a list of fields, each a number, a type and a value. Fields that this package
// does not know are skipped, as the format demands.

// Deepest is how many messages may be nested. Files of exporters have less than 20: graphs within attributes of nodes.
const Deepest = 100

// field is one field of a message.
type field struct {
	number protowire.Number
	kind   protowire.Type
	bits   uint64 // of a varint or a number of 4 or 8 bytes
	bytes  []byte // of a length-delimited value; part of the file
}

// malformed is the error of bytes that are no message. It says nothing of the position, because messages are nested
// and the inner ones do not know it.
func malformed(what string) error {
	return status.Errorf(status.Invalid, "[onnx] the file is damaged: a %s ends too early or has a field of an unknown kind", what)
}

// fields calls each for the fields of a message in their order. what is the name of the message in errors. An error
// of each ends the message at once. Nothing is allocated, and groups, which ONNX has none of, are skipped.
func fields(message []byte, what string, each func(f *field) error) error {
	for len(message) > 0 {
		var f field
		var n int
		if f.number, f.kind, n = protowire.ConsumeTag(message); n < 0 {
			return malformed(what)
		}
		message = message[n:]
		switch f.kind {
		case protowire.VarintType:
			f.bits, n = protowire.ConsumeVarint(message)
		case protowire.Fixed32Type:
			var bits uint32
			bits, n = protowire.ConsumeFixed32(message)
			f.bits = uint64(bits)
		case protowire.Fixed64Type:
			f.bits, n = protowire.ConsumeFixed64(message)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(f.number, f.kind, message)
		}
		if n < 0 {
			return malformed(what)
		}
		message = message[n:]
		if err := each(&f); err != nil {
			return err
		}
	}
	return nil
}

// text is a string; nothing else refers to the file. It is a copy, so that names outlive the mapping of the file.
func (f *field) text() string { return string(f.bytes) }

// float is a number of 4 bytes.
func (f *field) float() float32 { return math.Float32frombits(uint32(f.bits)) }

// varints appends the integers of a repeated field, which is packed into one value or has a value for each. A packed
// list has a byte or more for each element, so that the list takes at most 8 times the bytes of the file.
func (f *field) varints(list []int64) ([]int64, error) {
	if f.kind != protowire.BytesType {
		return append(list, int64(f.bits)), nil
	}
	for rest := f.bytes; len(rest) > 0; {
		v, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			return nil, malformed("list of integers")
		}
		list, rest = append(list, int64(v)), rest[n:]
	}
	return list, nil
}

// floats appends the numbers of 4 bytes of a repeated field, packed or not.
func (f *field) floats(list []float32) ([]float32, error) {
	if f.kind != protowire.BytesType {
		return append(list, f.float()), nil
	}
	for rest := f.bytes; len(rest) > 0; {
		v, n := protowire.ConsumeFixed32(rest)
		if n < 0 {
			return nil, malformed("list of floats")
		}
		list, rest = append(list, math.Float32frombits(v)), rest[n:]
	}
	return list, nil
}

// doubles appends the numbers of 8 bytes of a repeated field, packed or not, as bits.
func (f *field) doubles(list []uint64) ([]uint64, error) {
	if f.kind != protowire.BytesType {
		return append(list, f.bits), nil
	}
	for rest := f.bytes; len(rest) > 0; {
		v, n := protowire.ConsumeFixed64(rest)
		if n < 0 {
			return nil, malformed("list of doubles")
		}
		list, rest = append(list, v), rest[n:]
	}
	return list, nil
}
