package shaders_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
	"github.com/paddle-mps/paddle-mps/kernels/metal/shaders"
)

// Elements whose numbers come close to 2**32, where a division may be wrong, are no shader's.
func TestNumbersStayBelow32Bits(t *testing.T) {
	r := open(t)
	memory, heap := r.Memory(4)
	operand := func(n int64) device.Operand {
		o := device.Operand{Addr: memory, Heap: heap, DType: dtype.Uint8, Layout: metaltest.Line(n)}
		o.Strides[0] = 0 // n times the same element
		return o
	}
	for n, want := range map[int64]bool{1<<32 - 128: true, 1<<32 - 127: false, 1 << 32: false} {
		for _, row := range []*op.Row{op.ByID(op.IDNeg), op.ByID(op.IDSoftmax)} {
			c := &device.Call{Op: row.ID, In: []device.Operand{operand(n)}, Out: []device.Operand{operand(n)}}
			require.Equal(t, want, shaders.Accepts(row.Kind == op.Unary, c), "%s of %d elements", row.Name, n)
		}
	}
}

// What distinguishes shaders is in the key: where operands begin and how they lie, and nothing else.
func TestKeysOfLayouts(t *testing.T) {
	r := open(t)
	memory, heap := r.Memory(1 << 10)
	at := func(offset int64, d dtype.DType, n int64) device.Operand {
		return device.Operand{Addr: unsafe.Add(memory, offset), Heap: heap, DType: d, Layout: metaltest.Line(n)}
	}
	key := func(id string, os ...device.Operand) device.Key {
		c := &device.Call{Op: op.MustByName(id).ID, Out: os[:1], In: os[1:]}
		return r.Key(c.Op, c)
	}
	whole := at(0, dtype.Float16, 64)
	for name, o := range map[string]device.Operand{
		"not for vectors":          at(4, dtype.Float16, 64),
		"between bindable offsets": at(2, dtype.Float16, 64),
	} {
		require.NotEqual(t, key("exp", whole, whole), key("exp", whole, o), name)
		require.NotEqual(t, key("exp", whole, whole), key("exp", o, whole), name)
		require.Equal(t, key("exp", o, o), key("exp", o, o), name)
	}
	short := at(256, dtype.Float16, 3)
	require.Equal(t, key("exp", whole, whole), key("exp", short, short), "any number of elements")
	turned := whole
	turned.Strides[0] = -1
	require.NotEqual(t, key("exp", whole, whole), key("exp", whole, turned))
	require.Equal(t, key("sum", whole, whole), key("sum", whole, turned), "it walks all")
	defer shaders.Narrow(8)()
	require.NotEqual(t, key("sum", short, whole), key("sum", short, short), "offsets of 64 bits")
}
