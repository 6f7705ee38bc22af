package serve

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

// element is one element of an output as classification compares and shows it.
type element struct {
	value float64
	text  string
	index int
}

// classify is the output with the texts of its n largest elements, for each item of a batch.
func classify(t Tensor, n int, labels []string, batched bool) (Tensor, error) {
	read := elementReader(t.Type)
	if read == nil {
		return t, Errorf(InvalidArg, "class result not available for output due to unsupported type '%s'", t.Type)
	}
	items := int64(1)
	if batched {
		items = t.Shape[0]
	}
	// The elements of an item are taken as one row, whatever its shape is: classes have no axes.
	each := len(t.Data) / int(max(items, 1)) / int(t.Type.Size())
	n = min(n, each)
	made := Tensor{Name: t.Name, Type: tensors.Bytes, Shape: []int64{int64(n)}}
	if batched {
		made.Shape = []int64{items, int64(n)}
	}
	all := make([]element, each)
	size := int(t.Type.Size())
	for item := range int(items) {
		for i := range all {
			all[i] = read(t.Data[(item*each+i)*size:])
			all[i].index = i
		}
		// Of equal elements the first one wins, as in Triton. NaN is smaller than every number for cmp.Compare.
		slices.SortStableFunc(all, func(a, b element) int { return cmp.Compare(b.value, a.value) })
		for _, e := range all[:n] {
			text := e.text + ":" + strconv.Itoa(e.index)
			if e.index < len(labels) && labels[e.index] != "" {
				text += ":" + labels[e.index]
			}
			made.Data = tensors.AppendElement(made.Data, []byte(text))
		}
	}
	return made, nil
}

// elementReader reads the first element of data; nil for types that have no order, or no form in C++'s std::to_string.
func elementReader(k tensors.Type) func(data []byte) element {
	whole := func(x int64) element { return element{value: float64(x), text: strconv.FormatInt(x, 10)} }
	float := func(x float64) element {
		// Infinities are the words of C++'s std::to_string.
		text := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%f", x), "+"))
		return element{value: x, text: text}
	}
	le := binary.LittleEndian
	return map[tensors.Type]func([]byte) element{
		tensors.Uint8: func(b []byte) element { return whole(int64(b[0])) },
		tensors.Int8:  func(b []byte) element { return whole(int64(int8(b[0]))) },
		tensors.Int16: func(b []byte) element { return whole(int64(int16(le.Uint16(b)))) },
		tensors.Int32: func(b []byte) element { return whole(int64(int32(le.Uint32(b)))) },
		tensors.Int64: func(b []byte) element { return whole(int64(le.Uint64(b))) },
		tensors.FP32:  func(b []byte) element { return float(float64(math.Float32frombits(le.Uint32(b)))) },
		tensors.FP64:  func(b []byte) element { return float(math.Float64frombits(le.Uint64(b))) },
	}[k]
}
