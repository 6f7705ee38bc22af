package msl

import (
	"fmt"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Kernels that are bound by memory read 16 bytes a thread, whatever the dtype: a uint4, whose elements are taken out
// by their bits.

// Sizes in bytes that kernels and those who dispatch them agree on.
const (
	VectorSize = 16   // of a vector
	LineSize   = 128  // of a line: what memory is read by, and what kernels of rows want memory bound at a multiple of
	StageSize  = 8192 // of the threadgroup memory for elements
)

// What threads of softmax.metal keep of a line: vectors of neighbouring elements, or single ones.
const HeldElements = 16

// KeptVectors is the first of both: one more than for 16 elements, because lines begin within a line of memory.
func KeptVectors(d dtype.DType) int64 { return 16*d.Size()/VectorSize + 1 }

// InColumn is how many neighbouring columns a thread of reduce_columns.metal folds.
func InColumn(d dtype.DType) int64 { return min(4, VectorSize/d.Size()) }

// vectors defines V, LINE and STAGE, numbers of elements.
func vectors(d dtype.DType) string {
	return fmt.Sprintf("enum : uint { V = %d, LINE = %d, STAGE = %d };\n", VectorSize/d.Size(), LineSize/d.Size(), StageSize/d.Size())
}

// pieces are the elements of the first so many bytes of an unsigned vector u, whose components have the names.
func pieces(d dtype.DType, size int64, words ...string) (elements []string) {
	kind := storage[d]
	for i := range size / d.Size() {
		switch d.Size() {
		case 8:
			elements = append(elements, fmt.Sprintf("as_type<%s>(uint2(%s, %s))", kind, words[2*i], words[2*i+1]))
		case 4:
			elements = append(elements, fmt.Sprintf("as_type<%s>(%s)", kind, words[i]))
		default:
			each := 4 / d.Size()
			elements = append(elements, fmt.Sprintf("as_type<%s%d>(%s).%c", kind, each, words[i/each], "xyzw"[i%each]))
		}
	}
	return elements
}

// foldVector defines fold_vector, which folds the elements of a vector; the first has a number.
func foldVector(d dtype.DType) string {
	var s strings.Builder
	s.WriteString("inline A fold_vector(A a, uint4 u, uint at) {\n")
	for i, e := range pieces(d, VectorSize, "u.x", "u.y", "u.z", "u.w") {
		fmt.Fprintf(&s, "    a = fold(a, load(%s), at + %d);\n", e, i)
	}
	return s.String() + "    return a;\n}\n"
}

// spreading defines spread, which writes the elements of a vector.
func spreading(d dtype.DType) string {
	var s strings.Builder
	s.WriteString("inline void spread(threadgroup E *to, uint4 u) {\n")
	for i, e := range pieces(d, VectorSize, "u.x", "u.y", "u.z", "u.w") {
		fmt.Fprintf(&s, "    to[%d] = %s;\n", i, e)
	}
	return s.String() + "}\n"
}

// foldEach defines Q, the type PACK of so many elements, take, which reads them from wherever an element may lie, and
// fold_each, which folds each of them into an accumulator.
func foldEach(d dtype.DType) string {
	n := InColumn(d)
	pack, words, packed := "uint4", []string{"u.x", "u.y", "u.z", "u.w"}, "uint4"
	switch n * d.Size() {
	case 8:
		pack, packed = "uint2", "ushort4"
	case 4:
		pack, words, packed = "uint", []string{"u"}, "uchar4"
	}
	var s strings.Builder
	fmt.Fprintf(&s, "enum : uint { Q = %d };\ntypedef %s PACK;\n", n, pack)
	fmt.Fprintf(&s, "inline PACK take(device const E *from) {\n    return as_type<PACK>(%s(*reinterpret_cast<device const packed_%[1]s *>(from)));\n}\n", packed)
	s.WriteString("inline void fold_each(thread A *a, PACK u, uint at) {\n")
	for i, e := range pieces(d, n*d.Size(), words...) {
		fmt.Fprintf(&s, "    a[%d] = fold(a[%d], load(%s), at);\n", i, i, e)
	}
	return s.String() + "}\n"
}

// packing defines unpack, which takes the elements of a vector as floats, pack, which makes one from floats, and gather,
// which makes one from elements.
func packing(d dtype.DType) string {
	var s strings.Builder
	s.WriteString("inline void unpack(thread float *x, uint4 u) {\n")
	for i, e := range pieces(d, VectorSize, "u.x", "u.y", "u.z", "u.w") {
		fmt.Fprintf(&s, "    x[%d] = load(%s);\n", i, e)
	}
	var words, own []string
	for i := range 4 {
		if d.Size() == 4 {
			words = append(words, fmt.Sprintf("as_type<uint>(x[%d])", i))
			own = words
		} else {
			words = append(words, fmt.Sprintf("as_type<uint>(%s2(store(x[%d]), store(x[%d])))", storage[d], 2*i, 2*i+1))
			own = append(own, fmt.Sprintf("as_type<uint>(%s2(x[%d], x[%d]))", storage[d], 2*i, 2*i+1))
		}
	}
	return s.String() + "}\ninline uint4 pack(thread const float *x) { return uint4(" + strings.Join(words, ", ") + "); }\n" +
		"inline uint4 gather(threadgroup const E *x) { return uint4(" + strings.Join(own, ", ") + "); }\n"
}

// Softmax is the source of softmax over lines of a float: the kernels of softmax.metal.
func Softmax(d dtype.DType, wide bool) string {
	kept := fmt.Sprintf("enum : uint { KEPT = %d, HELD = %d };\n", KeptVectors(d), HeldElements)
	return source(types(d, wide)+loading(d)+storing(d)+vectors(d)+packing(d)+spreading(d)+kept, "lanes", "sums", op.ByID(op.IDSoftmax).Name)
}

// Normalized says which operands of layer_norm there are, and whether the mean is subtracted.
type Normalized struct{ Weight, Bias, Scale, Centered bool }

// LayerNorm is the source of layer_norm over lines of a float: the kernel of layer_norm.metal.
func LayerNorm(d dtype.DType, n Normalized, wide bool) string {
	var flags strings.Builder
	for _, f := range []struct {
		name string
		set  bool
	}{{"WEIGHT", n.Weight}, {"BIAS", n.Bias}, {"SCALE", n.Scale}, {"CENTERED", n.Centered}} {
		fmt.Fprintf(&flags, "constant bool %s = %t;\n", f.name, f.set)
	}
	held := fmt.Sprintf("enum : uint { HELD = %d };\n", HeldElements)
	return source(types(d, wide)+loading(d)+storing(d)+vectors(d)+held+flags.String(), "lanes", "sums", op.ByID(op.IDLayerNorm).Name)
}
