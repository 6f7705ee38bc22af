package grpcapi

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
)

// Typed contents may take much more memory than their message: an element of int64_contents is a byte of it at least, 8 bytes of
// the list that protobuf makes, and up to 8 bytes of the tensor that is made of the list. A message of 64 MiB could take a
// gigabyte. That memory counts against the room of all requests before it is taken.

// elementSize is the memory of an element in a list of InferTensorContents, by the number of the field: bools, int32, int64,
// uint32, uint64, float32, float64. The field after them has texts.
var elementSize = [...]int64{1: 1, 2: 4, 3: 8, 4: 4, 5: 8, 6: 4, 7: 8}

// fieldTexts is the number of bytes_contents in InferTensorContents. Each text is a field of its own, and does not count as one
// of those that a request may have: its memory does.
const fieldTexts = 8

// textSize is the memory of a text of so many bytes, in the list of protobuf and in the tensor. A short one is in a list that may
// have room for as many again, in a piece of memory of its own, and has its length in the tensor.
func textSize(bytes int) int64 { return 64 + 2*int64(bytes) }

// typedIn is the memory of typed contents within a message: path are the fields that lead to them. Where the text is no valid
// message it ends, and protobuf refuses it later.
func typedIn(text []byte, path ...protowire.Number) (bytes int64) {
	// Lists stand packed in one field, or with a field for each element: protobuf reads both, and so does this.
	for len(text) > 0 {
		number, kind, tag := protowire.ConsumeTag(text)
		if tag < 0 {
			return bytes
		}
		size := protowire.ConsumeFieldValue(number, kind, text[tag:])
		if size < 0 {
			return bytes
		}
		value := text[tag : tag+size]
		text = text[tag+size:]
		packed := kind == protowire.BytesType
		if packed {
			value, _ = protowire.ConsumeBytes(value) // it is whole
		}
		switch {
		case len(path) > 0:
			if packed && number == path[0] {
				bytes += typedIn(value, path[1:]...)
			}
		case number == fieldTexts && packed:
			bytes += textSize(len(value))
		case int(number) < len(elementSize):
			bytes += 2 * elementSize[number] * elements(number, packed, value) // the list and the tensor
		}
	}
	return bytes
}

// elements is how many elements a list has, or one that stands alone.
func elements(number protowire.Number, packed bool, value []byte) (n int64) {
	// Numbers of a packed list have from one to ten bytes, and nothing says how many numbers there are.
	switch {
	case !packed:
		return 1
	case number >= 6: // floats have one size on the wire
		return int64(len(value)) / elementSize[number]
	}
	for _, b := range value {
		if b < 0x80 { // the last byte of a number
			n++
		}
	}
	return n
}

// typedOf is typedIn of a message that was read. A stream reads a message before it knows what else it has in flight: the codec
// counts the message while it reads it, and the stream from then on.
func typedOf(m *kserve.ModelInferRequest) (bytes int64) {
	for _, in := range m.Inputs {
		c := in.GetContents()
		for number, n := range []int{
			1: len(c.GetBoolContents()), 2: len(c.GetIntContents()), 3: len(c.GetInt64Contents()), 4: len(c.GetUintContents()),
			5: len(c.GetUint64Contents()), 6: len(c.GetFp32Contents()), 7: len(c.GetFp64Contents()),
		} {
			bytes += 2 * elementSize[number] * int64(n)
		}
		for _, text := range c.GetBytesContents() {
			bytes += textSize(len(text))
		}
	}
	return bytes
}

// takeTyped takes room for typed contents, until giveTyped. An error of the codec would lose its code: gRPC calls each of them
// internal. A call keeps it for its handler; a stream ends with it.
func (m *inferMessage) takeTyped(bytes int64) error {
	if bytes == 0 {
		return nil
	}
	if err := m.room.Take(bytes); err != nil {
		m.refused = err
		return err
	}
	m.typed += bytes
	return nil
}

// giveTyped gives the room of typed contents back.
func (m *inferMessage) giveTyped() {
	if m.typed > 0 {
		m.room.Give(m.typed)
	}
}
