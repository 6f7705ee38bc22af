package inference

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// The classification extension: an output is replaced by texts "VALUE:INDEX" or "VALUE:INDEX:LABEL", those of its largest
// elements.

// LargestClassified is how many elements an item may have whose classes are asked for, as in tritonserver 2.73: all of them
// are sorted.
const LargestClassified = 1_000_000

// element is one element of an output as classification compares it.
type element struct {
	rank  uint64
	index int
}

// Classify is the output with the texts of its n largest elements, for each item of a batch.
func Classify(t Tensor, n int, labels []string, batched bool) (Tensor, error) {
	if !unsigned(t.Type) && !signed(t.Type) && t.Type != tensors.FP32 && t.Type != tensors.FP64 {
		return t, Errorf(InvalidArg, "class result not available for output due to unsupported type '%s'", t.Type)
	}
	items := int64(1)
	if batched {
		items = t.Shape[0]
	}
	// The elements of an item are taken as one row, whatever its shape is: classes have no axes.
	size := int(t.Type.Size())
	each := len(t.Data) / int(max(items, 1)) / size
	if each > LargestClassified {
		return t, Errorf(InvalidArg, "classification output tensor too large")
	}
	n = min(n, each)
	made := Tensor{Name: t.Name, Type: tensors.Bytes, Shape: []int64{int64(n)}}
	if batched {
		made.Shape = []int64{items, int64(n)}
	}
	all := make([]element, each)
	for item := range int(items) {
		row := t.Data[item*each*size:]
		for i := range all {
			all[i] = element{rankOf(t.Type, numberOf(t.Type, row[i*size:])), i}
		}
		// Of equal elements the first one wins, as in Triton.
		slices.SortFunc(all, func(a, b element) int { return cmp.Or(cmp.Compare(b.rank, a.rank), a.index-b.index) })
		for _, e := range all[:n] {
			text := numberText(t.Type, numberOf(t.Type, row[e.index*size:])) + ":" + strconv.Itoa(e.index)
			if e.index < len(labels) && labels[e.index] != "" {
				text += ":" + labels[e.index]
			}
			made.Data = tensors.AppendElement(made.Data, []byte(text))
		}
	}
	return made, nil
}

// unsigned and signed report whether elements of a type are such integers.
func unsigned(k tensors.Type) bool { return k >= tensors.Uint8 && k <= tensors.Uint64 }
func signed(k tensors.Type) bool   { return k >= tensors.Int8 && k <= tensors.Int64 }

// numberOf is the first element of data as the bits of a uint64, int64 or float64, of which its type is one or a narrower one.
func numberOf(k tensors.Type, data []byte) uint64 {
	le := binary.LittleEndian
	switch k {
	case tensors.Uint8:
		return uint64(data[0])
	case tensors.Uint16:
		return uint64(le.Uint16(data))
	case tensors.Uint32:
		return uint64(le.Uint32(data))
	case tensors.Int8:
		return uint64(int8(data[0]))
	case tensors.Int16:
		return uint64(int16(le.Uint16(data)))
	case tensors.Int32:
		return uint64(int32(le.Uint32(data)))
	case tensors.FP32:
		return math.Float64bits(float64(math.Float32frombits(le.Uint32(data))))
	}
	return le.Uint64(data)
}

// rankOf is an integer whose order is that of the numbers of a type; that of NaN is the least. A float64 could not stand for
// each integer of 64 bits.
func rankOf(k tensors.Type, bits uint64) uint64 {
	const sign = 1 << 63
	if unsigned(k) {
		return bits
	}
	if signed(k) {
		return bits ^ sign
	}
	// The bits of positive floats are in the order of the floats, and those of negative ones in the reverse order.
	switch x := math.Float64frombits(bits); {
	case math.IsNaN(x):
		return 0
	case x == 0:
		return sign // -0 as well
	case x < 0:
		return ^bits
	}
	return bits | sign
}

// numberText is a number as C++'s std::to_string writes it.
func numberText(k tensors.Type, bits uint64) string {
	if unsigned(k) {
		return strconv.FormatUint(bits, 10)
	}
	if signed(k) {
		return strconv.FormatInt(int64(bits), 10)
	}
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%f", math.Float64frombits(bits)), "+"))
}
