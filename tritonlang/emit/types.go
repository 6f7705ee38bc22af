// What types are in Metal. Values are kept in the type that Metal has, or as bits where it has none.
//
//	Triton IR      value      memory
//	i1             bool       uchar
//	i8 to i64      char, short, int, long
//	f16, f32       half, float
//	bf16           ushort     ushort    its bits; arithmetic is done in float
//	f8E5M2, ...    uchar      uchar     likewise
//	f64            float      ulong     if the program allows it

package emit

import "github.com/paddle-mps/paddle-mps/tritonlang/ttir"

// cType is what a scalar of Triton IR is in Metal. bfloat16 and float8 are kept as bits, because Metal has them late or
// never; a pointer's type depends on what it points to and is said elsewhere.
func cType(t *ttir.Type) string {
	switch t.Kind {
	case ttir.Int:
		return map[int]string{1: "bool", 8: "char", 16: "short", 32: "int", 64: "long"}[t.Bits]
	case ttir.Float:
		switch {
		case t.Name == "f16":
			return "half"
		case t.Name == "bf16":
			return "ushort"
		case t.Bits == 8:
			return "uchar"
		}
		return "float"
	case ttir.Index:
		return "long"
	case ttir.Pointer:
		return "ulong"
	}
	return ""
}

// memoryType is what an element is in memory: bool is a byte there, and float64 its bits.
func memoryType(t *ttir.Type) string {
	switch {
	case t.Kind == ttir.Int && t.Bits == 1:
		return "uchar"
	case t.Kind == ttir.Float && t.Bits == 64:
		return "ulong"
	}
	return cType(t)
}

// unsigned is the unsigned integer type of a width.
func unsigned(bits int) string {
	return map[int]string{1: "bool", 8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}[bits]
}

// supported refuses element types that Metal has not.
func supported(t *ttir.Type) (name string, ok bool) {
	e := t.Element()
	for e.Kind == ttir.Pointer {
		e = e.Elem.Element()
	}
	switch {
	case e.Kind == ttir.Float && (e.Bits == 64 || e.Name == "tf32" || e.Name == "f8E4M3B11FNUZ"):
		return e.Name, false
	case e.Kind == ttir.Int && cType(e) == "":
		return e.String(), false
	}
	return "", true
}

// pointerType is a pointer's type in Metal.
func (e *emitter) pointerType(v *ttir.Value) string {
	t := v.Type.Element().Elem
	name := memoryType(t.Element())
	if t.IsPointer() {
		name = "ulong"
	}
	if e.roots.Written[e.roots.Root(v)] {
		return "device " + name + " *"
	}
	return "device const " + name + " *"
}
