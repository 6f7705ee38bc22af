package metal

import (
	"encoding/binary"
	"math"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
)

// Key tells calls apart by operator, dtypes and what their variant distinguishes. A kernel of a specific
// class may refuse when it is made, which leaves the call to the next variant; so the classes of the next
// ones count too, up to the first that is not specific: that one makes its kernel for every call of its class, and
// what comes behind it is never asked. A shader that was refused is no longer there, so the class is that of the next
// variant, which may be a graph and specific.
func (d *Device) Key(id op.ID, c *device.Call) device.Key {
	key := device.Key{Op: id}
	key.SetDTypes(c.Out, c.In)
	v, number, class := d.choose(key, c, 0, nil)
	if v == nil {
		return key
	}
	key.Class = kernels.KeyClass(number, class)
	if class&gpu.Specific == 0 {
		return key
	}
	var room [1024]byte
	text, fed := room[:0], givenBy(class)
	for v != nil && class&gpu.Specific != 0 {
		fed &= givenBy(class)
		if v, number, class = d.choose(key, c, number+1, nil); v != nil {
			text = binary.AppendUvarint(text, uint64(number+1))
			text = binary.AppendUvarint(text, class)
		}
	}
	key.AppendRest(appendCall(append(text, 0), c, fed)) // no variant has number 0
	return key
}

// givenBy is the set of attributes that a specific class of kernels is given with each call.
func givenBy(class uint64) uint { return uint(class>>gpu.Given) & (1<<gpu.MostGiven - 1) }

// appendCall writes everything that a graph is compiled for, besides operator and dtypes. The text can
// be read back, given the numbers of operands and attributes, so different calls have different texts.
// fed is the set of attributes that each call gives anew; they are left out.
func appendCall(text []byte, c *device.Call, fed uint) []byte {
	for _, os := range [2][]device.Operand{c.Out, c.In} {
		for i := range os {
			text = appendLayout(text, &os[i].Layout)
		}
	}
	text = binary.LittleEndian.AppendUint16(text, uint16(c.Axes))
	for i := range c.Attrs {
		if fed&(1<<i) == 0 {
			text = appendValue(text, &c.Attrs[i])
		}
	}
	return text
}

// appendLayout writes dimensions, and strides where they are not those of contiguous elements.
func appendLayout(text []byte, l *shape.Layout) []byte {
	text = append(text, byte(l.Rank))
	for _, d := range l.Dims[:l.Rank] {
		text = binary.AppendVarint(text, d)
	}
	if l.IsContiguous() {
		return append(text, 0)
	}
	text = append(text, 1)
	for _, s := range l.Strides[:l.Rank] {
		text = binary.AppendVarint(text, s)
	}
	return text
}

// appendValue writes an attribute; each list is preceded by its length.
func appendValue(text []byte, v *op.Value) []byte {
	text = binary.AppendUvarint(append(text, byte(v.Kind)), uint64(len(v.Ints)))
	text = binary.AppendVarint(text, v.I)
	text = binary.LittleEndian.AppendUint64(text, math.Float64bits(v.F))
	for _, n := range v.Ints {
		text = binary.AppendVarint(text, n)
	}
	return appendRef(text, v.Ref)
}

// objects numbers the attributes of which appendRef cannot write the content.
var objects atomic.Uint64

// appendRef writes what the type is, and the content. The address of another object would not do, because
// a later object may have the same; a call with one gets a key, and so a program, of its own.
func appendRef(text []byte, ref any) []byte {
	switch x := ref.(type) {
	case nil:
		return append(text, 0)
	case string:
		return appendText(append(text, 1), x)
	case []float64:
		text = binary.AppendUvarint(append(text, 2), uint64(len(x)))
		for _, f := range x {
			text = binary.LittleEndian.AppendUint64(text, math.Float64bits(f))
		}
		return text
	case []string:
		text = binary.AppendUvarint(append(text, 3), uint64(len(x)))
		for _, s := range x {
			text = appendText(text, s)
		}
		return text
	}
	return binary.AppendUvarint(append(text, 4), objects.Add(1))
}

func appendText(text []byte, s string) []byte {
	return append(binary.AppendUvarint(text, uint64(len(s))), s...)
}
