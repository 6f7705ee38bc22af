package metal

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
)

// taker makes calls from the bytes of a fuzzer; when they run out, what remains is zero.
type taker struct{ b []byte }

func (t *taker) byte() (n byte) {
	if len(t.b) > 0 {
		n, t.b = t.b[0], t.b[1:]
	}
	return n
}

// int is mostly small, as dimensions are, and sometimes any int64.
func (t *taker) int() int64 {
	n := t.byte()
	if n < 0xf0 {
		return int64(n)
	}
	var wide [8]byte
	t.b = t.b[copy(wide[:], t.b):]
	return int64(binary.LittleEndian.Uint64(wide[:]))
}

func (t *taker) operands() (os []device.Operand) {
	for range t.byte() % 20 {
		o := device.Operand{DType: dtype.Bool + dtype.DType(t.byte())%dtype.Last}
		o.Rank = int(t.byte() % (shape.MaxRank + 1))
		for i := range o.Rank {
			o.Dims[i] = t.int() & math.MaxInt64
		}
		o.Layout = shape.Contiguous(o.Shape)
		for i := range o.Rank {
			if t.byte()&1 != 0 {
				o.Strides[i] = t.int()
			}
		}
		if o.IsContiguous() { // whatever the strides of axes with one element
			o.Layout = shape.Contiguous(o.Shape)
		}
		os = append(os, o)
	}
	return os
}

func (t *taker) call() *device.Call {
	c := &device.Call{Op: op.MustByName("matmul").ID, Out: t.operands(), In: t.operands(), Axes: op.Axes(t.int())}
	for i := range 3 {
		v := op.Value{Kind: op.ValueKind(t.byte() % 6), I: t.int(), F: float64(t.int())}
		for range int(t.byte()%4) << (7 * (i % 2)) { // up to 3, or to 384, beyond what a byte can count
			v.Ints = append(v.Ints, t.int())
		}
		c.Attrs = append(c.Attrs, v)
	}
	return c
}

// graphsFirst is a device with variants, and with MPSGraph as far as keys look.
func graphsFirst(v *kernels.Variants[*gpu.Device, gpu.Kernel]) *Device {
	return &Device{Device: &gpu.Device{Graphs: 1}, variants: v}
}

// TestKeysKeepTheirParts has calls whose numbers are the same in the same order, and only the borders
// between operands and between attributes differ.
func TestKeysKeepTheirParts(t *testing.T) {
	d := graphsFirst(gpu.Variants(PreferGraphs))
	product := func(out, in []int64, attrs ...op.Value) device.Key {
		operand := func(dims []int64) device.Operand {
			return device.Operand{DType: dtype.Float32, Layout: shape.Contiguous(metaltest.ShapeAs(t, dims...))}
		}
		c := &device.Call{Op: op.MustByName("matmul").ID, Out: []device.Operand{operand(out)}, In: []device.Operand{operand(in)}, Attrs: attrs}
		k := d.Key(c.Op, c)
		require.NotZero(t, kernels.ClassOf(k.Class)&gpu.Specific)
		return k
	}
	require.NotEqual(t, product(nil, []int64{7, 0}), product([]int64{0, 7}, nil))
	require.NotEqual(t, product([]int64{1}, []int64{2, 3}), product([]int64{1, 2}, []int64{3}))
	for _, n := range []int{1, 10, 256} {
		list, none := op.Value{Ints: make([]int64, n)}, op.Value{}
		require.NotEqual(t, product(nil, nil, list, none, none), product(nil, nil, none, list, none), "%d numbers", n)
	}

	object := new(int)
	refs := []any{nil, "", "a", "ab", []string{}, []string{"a"}, []string{"a", ""}, []string{"", "a"}, []string{"ab"}, []float64{}, []float64{1}, object}
	for i, a := range refs {
		for j, b := range refs {
			ka, kb := product(nil, nil, op.Value{Ref: a}, op.Value{}), product(nil, nil, op.Value{Ref: b}, op.Value{})
			require.Equal(t, i == j && a != any(object), ka == kb, "%#v and %#v", a, b)
			require.NotEqual(t, product(nil, nil, op.Value{Ref: a}, op.Value{Ref: "x"}), product(nil, nil, op.Value{Ref: "x"}, op.Value{Ref: b}), "%#v and %#v", a, b)
		}
	}
}

// TestKeysInPlace has the output of a call be one of its inputs: that is part of the key beside the
// attributes, not instead of them.
func TestKeysInPlace(t *testing.T) {
	d := graphsFirst(gpu.Variants(PreferGraphs))
	memory := make([]byte, 3)
	for inputs := 2; inputs < 15; inputs++ {
		seen := map[device.Key]bool{}
		for at := range inputs + 1 { // inputs: it is none of them
			for attribute := range 3 {
				c := &device.Call{Op: op.MustByName("matmul").ID, Attrs: make(op.Attrs, 3)}
				operand := device.Operand{Addr: unsafe.Pointer(&memory[0]), DType: dtype.Float32}
				c.Out = []device.Operand{operand}
				for i := range inputs {
					if i != at {
						operand.Addr = unsafe.Pointer(&memory[1])
					}
					c.In = append(c.In, operand)
					operand.Addr = unsafe.Pointer(&memory[0])
				}
				c.Attrs[attribute].I = 1
				seen[d.Key(c.Op, c)] = true
			}
		}
		require.Len(t, seen, 2*3, "%d inputs: in place or not, and one of three attributes", inputs)
	}
}

// TestKeysOfVariantsThatFollow has graphs that may refuse, in front of variants that tell calls apart
// otherwise: what any of them distinguishes is in the key.
func TestKeysOfVariantsThatFollow(t *testing.T) {
	var d *Device
	exp := op.MustByName("exp").ID
	// having registers variants by falling priority; the number n of a call that is that of a variant's
	// priority changes the class that it accepts the call in.
	having := func(classes ...uint64) {
		var all kernels.Variants[*gpu.Device, gpu.Kernel]
		for i, class := range classes {
			all.Add(gpu.Variant{Op: exp, DTypes: dtype.Floats, Priority: kernels.Priority(-i), Accepts: func(_ *gpu.Device, c *device.Call) (uint64, bool) {
				if c.Attrs[0].I == int64(i) {
					return class ^ 1<<20, true
				}
				return class, true
			}})
		}
		d = graphsFirst(&all)
	}
	key := func(n int64) device.Key {
		o := device.Operand{DType: dtype.Float32}
		c := &device.Call{Op: exp, Out: []device.Operand{o}, In: []device.Operand{o}, Attrs: op.Attrs{{I: n}}}
		return d.Key(c.Op, c)
	}
	const gives0 = gpu.Specific | 1<<gpu.Given
	having(gives0, gives0, 1<<38, 5)
	for n := range int64(3) {
		require.NotEqual(t, key(9), key(n), "variant %d", n)
	}
	require.Equal(t, key(9), key(3), "the one before does not refuse")
	having(gives0, gives0, gpu.Specific)
	require.NotEqual(t, key(8), key(9), "the last one is compiled for the attribute")
}

// FuzzKeys has two calls that MPSGraph runs get equal keys if and only if a graph would be compiled for
// the same dtypes, layouts, axes and attributes.
func FuzzKeys(f *testing.F) {
	const f32 = byte(dtype.Float32 - 1)
	matrix := func(rows, columns byte) []byte { return []byte{f32, 2, rows, columns, 0, 0} }
	product := func(outs, ins byte, more ...byte) (b []byte) {
		b = append(b, outs)
		for i := range outs + ins {
			if i == outs {
				b = append(b, ins)
			}
			b = append(b, matrix(4+i, 5)...)
		}
		return append(b, more...)
	}
	one := product(1, 2, 1)
	for _, other := range [][]byte{one, product(2, 1, 1), product(1, 2, 2), product(1, 18, 1), product(2, 17, 1), product(1, 2, 1, 4, 1, 0, 1, 9)} {
		f.Add(one, other)
		f.Add(product(1, 17, 1), other)
	}
	// Calls that differ in one part: the stride of an operand, and the axes, kind, integer, float and list of an attribute.
	strided := func(stride byte) []byte {
		return append(append([]byte{1}, matrix(4, 5)...), 1, f32, 2, 5, 6, 0, 1, stride, 1)
	}
	f.Add(strided(8), strided(9))
	for i := range 5 {
		tail := []byte{1, 1, 2, 3, 1, 4} // axes, kind, integer, float, length of the list, its number
		changed := bytes.Clone(tail)
		changed[[]int{0, 1, 2, 3, 5}[i]]++
		f.Add(product(1, 2, tail...), product(1, 2, changed...))
	}
	d := graphsFirst(gpu.Variants(PreferGraphs))
	if c := (&taker{one}).call(); kernels.ClassOf(d.Key(c.Op, c).Class)&gpu.Specific == 0 {
		f.Fatal("MPSGraph does not run this product")
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, y := (&taker{a}).call(), (&taker{b}).call()
		if len(x.In) == 0 || len(y.In) == 0 || len(x.Out) == 0 || len(y.Out) == 0 {
			return // no products
		}
		kx, ky := d.Key(x.Op, x), d.Key(y.Op, y)
		same := reflect.DeepEqual(x, y)
		if same && kx != ky {
			t.Errorf("the keys of %+v are %+v and %+v", x, kx, ky)
		}
		if kernels.ClassOf(kx.Class&ky.Class)&gpu.Specific == 0 {
			return // shaders take all layouts and attributes of a class
		}
		if !same && kx == ky {
			t.Errorf("%+v and %+v have the same key, %+v", x, y, kx)
		}
	})
}
