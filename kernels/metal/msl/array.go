package msl

import (
	"embed"
	"fmt"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// The kernels that are not elementwise are files, which say what they compute and what their arguments
// are. What differs from dtype to dtype is defined before them: E is an element in memory, C what it is
// computed in, W that without overflow, I an offset; load and store turn E into C and back.

//go:embed *.metal
var files embed.FS

// file is the text of a file of this package.
func file(name string) string {
	text, err := files.ReadFile(name + ".metal")
	if err != nil {
		panic(err) // a name in this package
	}
	return string(text)
}

// source puts definitions and files behind the prelude.
func source(definitions string, names ...string) string {
	var s strings.Builder
	s.WriteString(prelude)
	s.WriteString(file("walk"))
	s.WriteString("\n")
	s.WriteString(definitions)
	for _, name := range names {
		s.WriteString(file(name))
	}
	return s.String()
}

// offset is the type of an offset.
func offset(wide bool) string {
	if wide {
		return "long"
	}
	return "int"
}

// types defines E, C, W and I.
func types(d dtype.DType, wide bool) string {
	return fmt.Sprintf("typedef %s E;\ntypedef %s C;\ntypedef %s W;\ntypedef %s I;\n", storage[d], computed(d), wrapping(d), offset(wide))
}

// loading defines load, which makes the C of an E.
func loading(d dtype.DType) string {
	return fmt.Sprintf("inline C load(E x) { return %s; }\n", load(d, "x"))
}

// storing defines store, which makes the E of a C: for halves this is where a result is rounded.
func storing(d dtype.DType) string {
	return fmt.Sprintf("inline E store(C x) { return %s; }\n", store(d, "x"))
}

// HasScan reports whether there is a file for an operator along one axis.
func HasScan(operator string) bool {
	_, err := files.Open(operator + ".metal")
	return err == nil
}

// Scan is the source of an operator along one axis over lines of a dtype: kernel "run" of its file, which sums up in
// A. All such kernels have the arguments of cumsum.metal.
func Scan(operator string, d dtype.DType, wide bool) string {
	return source(types(d, wide)+summing(d)+loading(d)+storing(d), operator)
}

// summing defines A, in which sums of a dtype wrap around or have the digits of a float.
func summing(d dtype.DType) string {
	if d.IsFloat() {
		return "typedef float A;\n"
	}
	return "typedef W A;\n"
}

// Product is the source of matmul: the kernels of product.metal and product_join.metal.
func Product(d dtype.DType, wide bool) string {
	core := "product_integer"
	if d.IsFloat() {
		core = "product_float"
	}
	return source(types(d, wide)+summing(d)+loading(d)+storing(d), core, "product", "product_join")
}

// VectorProduct is the source of matmul of floats where one of the matrices is a vector: the kernels of
// product_vector.metal and product_join.metal.
func VectorProduct(d dtype.DType, wide bool) string {
	four := fmt.Sprintf("typedef %s4 E4;\n", storage[d])
	return source(types(d, wide)+summing(d)+loading(d)+storing(d)+four, "grid", "product_vector", "product_join")
}

// Arrangement is how the elements lie that a reduction folds.
type Arrangement uint8

// The arrangements.
const (
	Anyhow  Arrangement = iota
	Rows                // one after the other
	Columns             // apart, but next to the elements that go to the next output
)

// reductionFiles are the kernels of an arrangement.
var reductionFiles = [...]string{Anyhow: "reduce", Rows: "reduce_rows", Columns: "reduce_columns"}

// HasReduction reports whether there is a source of a reduction of elements of a dtype, without making it.
func HasReduction(operator op.ID, d dtype.DType) bool {
	return storage[d] != "" && accumulator(operator, d) != ""
}

// Reduction is the source of a reduction: the kernels of the file of an arrangement, and whole. ok is false for what
// there is none of.
func Reduction(operator op.ID, in, out dtype.DType, lie Arrangement, wide bool) (text string, ok bool) {
	if !HasReduction(operator, in) || storage[out] == "" {
		return "", false
	}
	definitions := reducing(operator, in, out, wide)
	switch lie {
	case Rows:
		definitions += foldVector(in) + spreading(in)
	case Columns:
		definitions += foldEach(in)
	}
	return source(definitions, "reduce_lanes", reductionFiles[lie]), true
}

// reducing defines the types of a reduction, its accumulator, and how elements are loaded and results stored.
func reducing(operator op.ID, in, out dtype.DType, wide bool) string {
	result := computed(out)
	if operator == op.IDArgmax || operator == op.IDArgmin {
		result = "long"
	}
	return types(in, wide) + loading(in) + vectors(in) + file("lanes") + accumulator(operator, in) +
		fmt.Sprintf("\ntypedef %s R;\ninline R store(%s x) { return %s; }\n", storage[out], result, store(out, "x"))
}

// sized defines E and I for kernels that only move elements, of which the size says all: dtypes of one size share them.
func sized(size int64, wide bool) string {
	name := map[int64]string{1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}[size]
	return fmt.Sprintf("typedef %s E;\ntypedef %s I;\n", name, offset(wide))
}

// Index is the source of index and index_put with so many index tensors: the kernels of index.metal.
func Index(size int64, tensors int, wide bool) string {
	return source(sized(size, wide)+indices(tensors), "index")
}

// IndexLanes is how many threads share the places of an element of all slices.
const IndexLanes = 32

// IndexReduce is the source of index_reduce by one of op.Folds: the kernels of index.metal and joining.metal.
func IndexReduce(d dtype.DType, fold, tensors int, wide bool) string {
	step := foldSteps[fold]
	how := step.integer
	switch {
	case d == dtype.Bool:
		how = step.boolean
	case d.IsFloat():
		how = step.float
	}
	return source(types(d, wide)+loading(d)+storing(d)+indices(tensors)+
		fmt.Sprintf("#define LANES %d\ninline E step(C x, C y) { return store(C(%s)); }\n", IndexLanes, how), "index", "joining")
}

// foldSteps are how two elements are joined, in the order of op.Folds. A nan is the smaller and the larger of any two, and of
// equals the first stays; place_of orders subnormals too.
var foldSteps = [...]struct{ float, integer, boolean string }{
	{"x + y", "W(x) + W(y)", "x || y"},
	{"x * y", "W(x) * W(y)", "x && y"},
	{"isnan(y) || (!isnan(x) && place_of(y) < place_of(x)) ? y : x", "y < x ? y : x", "x && y"},
	{"isnan(y) || (!isnan(x) && place_of(y) > place_of(x)) ? y : x", "y > x ? y : x", "x || y"},
}

// indices defines what index tensors there are.
func indices(tensors int) string {
	var parameters, names []string
	for k := range tensors {
		parameters = append(parameters, fmt.Sprintf("device const long *i%d [[buffer(%d)]]", k, indexArguments+k))
		names = append(names, fmt.Sprintf("i%d", k))
	}
	return fmt.Sprintf("\n#define K %d\n#define INDICES %s\n#define NAMES %s\n", tensors, strings.Join(parameters, ", "), strings.Join(names, ", "))
}

// indexArguments is how many arguments stand before the index tensors.
const indexArguments = 8

// Nonzero is the source of nonzero over a dtype: the kernels of nonzero.metal. The sign of a float is no
// part of what is not zero.
func Nonzero(d dtype.DType, wide bool) string {
	mask := "~E(0)"
	if d.IsFloat() {
		mask = "E(E(~E(0)) >> 1)"
	}
	return source(sized(d.Size(), wide)+"\n#define MASK "+mask+"\n", "nonzero")
}

// numbers defines whole and exact, which make an element from an integer and from a binary64.
func numbers(d dtype.DType) string {
	integer, double := store(d, "C(x)"), fmt.Sprintf("%s(clamp(to_long(x), long(numeric_limits<E>::min()), long(numeric_limits<E>::max())))", storage[d])
	switch {
	case d == dtype.Float32:
		double = "to_float(x, false)"
	case d.IsFloat():
		double = store(d, "to_float(x, true)")
	case d == dtype.Bool:
		integer, double = "uchar(x != 0)", "uchar(x << 1 != 0)"
	}
	return file("double") + fmt.Sprintf("\ninline E whole(long x) { return %s; }\ninline E exact(ulong x) { return %s; }\n", integer, double)
}

// Create is the source of full, range, linspace and number_line: the kernels of create.metal.
func Create(d dtype.DType, wide bool) string {
	return source(types(d, wide)+numbers(d), "create")
}

// Random is the source of uniform and normal, for a float, or of randint. A fraction has no more digits
// than the dtype.
func Random(d dtype.DType, wide bool) string {
	if !d.IsFloat() {
		return source(types(d, wide)+numbers(d), "random", "randint")
	}
	digits := map[dtype.DType]int{dtype.Float16: 11, dtype.BFloat16: 8, dtype.Float32: 24}[d]
	return source(types(d, wide)+storing(d)+numbers(d)+fmt.Sprintf("\n#define DIGITS %d\n", digits), "random", "uniform")
}

// Known reports whether kernels can read and write a dtype.
func Known(d dtype.DType) bool { return storage[d] != "" }

// Permutation is the source of randperm: the kernels of permute.metal and network.metal.
func Permutation(d dtype.DType, wide bool) string {
	return source(types(d, wide)+numbers(d), "random", "permute", "network")
}

// Convolution is the source of the three convolutions: the kernels of convolution.metal.
func Convolution(d dtype.DType, wide bool) string {
	return source(types(d, wide)+loading(d)+storing(d), "window", "convolution")
}

// lowest is the smallest finite number of a float dtype, as a float.
var lowest = map[dtype.DType]string{dtype.Float16: "-65504.0f", dtype.BFloat16: "-3.38953139e+38f", dtype.Float32: "-3.40282347e+38f"}

// Pool is the source of the pools that compute each element of a result by itself, with indices of a dtype: the kernels of
// pool.metal.
func Pool(d, index dtype.DType, wide bool) string {
	return source(types(d, wide)+loading(d)+storing(d)+
		fmt.Sprintf("typedef %s J;\n#define LOWEST store(%s)\n", storage[index], lowest[d]), "window", "pool")
}

// Unpool is the source of max_unpool: the kernels of unpool.metal.
func Unpool(d dtype.DType, wide bool) string {
	return source(types(d, wide)+summing(d)+loading(d)+storing(d), "window", "unpool")
}
