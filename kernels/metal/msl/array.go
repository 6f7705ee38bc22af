package msl

import (
	"embed"
	"fmt"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
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

func loading(d dtype.DType) string {
	return fmt.Sprintf("inline C load(E x) { return %s; }\n", load(d, "x"))
}

func storing(d dtype.DType) string {
	return fmt.Sprintf("inline E store(C x) { return %s; }\n", store(d, "x"))
}

// Softmax is the source of softmax over lines of a dtype: kernel "run" of softmax.metal.
func Softmax(d dtype.DType, wide bool) string {
	return source(types(d, wide)+loading(d)+storing(d), "softmax")
}

// Product is the source of matmul: kernel "run" of product.metal.
func Product(d dtype.DType, wide bool) string {
	sum := "typedef W A;\n"
	if d.IsFloat() {
		sum = "typedef float A;\n"
	}
	return source(types(d, wide)+sum+loading(d)+storing(d), "product")
}

// Reduction is the source of a reduction: the kernels of reduce.metal. ok is false for what there is none
// of.
func Reduction(operator string, in, out dtype.DType, wide bool) (text string, ok bool) {
	fold := accumulator(operator, in)
	if storage[in] == "" || storage[out] == "" || fold == "" {
		return "", false
	}
	result := computed(out)
	if strings.HasPrefix(operator, "arg") {
		result = "long"
	}
	definitions := types(in, wide) + loading(in) + fold +
		fmt.Sprintf("\ntypedef %s R;\ninline R store(%s x) { return %s; }\n", storage[out], result, store(out, "x"))
	return source(definitions, "reduce"), true
}

// Of elements that are only moved, the size says all.
func sized(size int64, wide bool) string {
	name := map[int64]string{1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}[size]
	return fmt.Sprintf("typedef %s E;\ntypedef %s I;\n", name, offset(wide))
}

// Index is the source of index and index_put with so many index tensors: the kernels of index.metal.
func Index(size int64, tensors int, wide bool) string {
	var parameters, names []string
	for k := range tensors {
		parameters = append(parameters, fmt.Sprintf("device const long *i%d [[buffer(%d)]]", k, indexArguments+k))
		names = append(names, fmt.Sprintf("i%d", k))
	}
	return source(sized(size, wide)+fmt.Sprintf("\n#define K %d\n#define INDICES %s\n#define NAMES %s\n",
		tensors, strings.Join(parameters, ", "), strings.Join(names, ", ")), "index")
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

// Create is the source of full, range and linspace: the kernels of create.metal.
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

// Permutation is the source of randperm: the kernels of permute.metal.
func Permutation(d dtype.DType, wide bool) string {
	return source(types(d, wide)+numbers(d), "random", "permute")
}
