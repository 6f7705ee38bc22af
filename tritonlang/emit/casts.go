// Conversions between types. Integers have no sign in Triton IR, so the operation says how the upper bits are filled.
//
// bfloat16 and float8 are kept as bits, and every operation on them widens to float, which is exact, and rounds once.
// Constants of these types are encoded here, at compile time, by the same rules as the functions of the prelude.
//
// float8 with infinities (e5m2) rounds what is too large to infinity; e4m3 has none and saturates.

package emit

import (
	"math"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Conversions, by name.
func init() {
	elements["arith.extsi"] = func(_ *emitter, o *ttir.Op, x []string) string {
		t := cType(o.Results[0].Type.Element())
		if o.Operands[0].Type.IsInt(1) {
			return t + "(" + x[0] + " ? -1 : 0)"
		}
		return t + "(" + x[0] + ")"
	}
	elements["arith.extui"] = func(_ *emitter, o *ttir.Op, x []string) string {
		return cType(o.Results[0].Type.Element()) + "(" + unsigned(o.Operands[0].Type.Element().Bits) + "(" + x[0] + "))"
	}
	elements["arith.trunci"] = func(_ *emitter, o *ttir.Op, x []string) string {
		if o.Results[0].Type.IsInt(1) {
			return "(" + x[0] + " & 1) != 0"
		}
		return cType(o.Results[0].Type.Element()) + "(" + x[0] + ")"
	}
	elements["arith.index_cast"] = func(_ *emitter, o *ttir.Op, x []string) string {
		return cType(o.Results[0].Type.Element()) + "(" + x[0] + ")"
	}
	elements["arith.extf"] = convertFloat
	elements["arith.truncf"] = convertFloat
	elements["tt.fp_to_fp"] = convertFloat
	elements["arith.sitofp"] = func(_ *emitter, o *ttir.Op, x []string) string {
		if o.Operands[0].Type.IsInt(1) {
			return fromFloat(o, "float("+x[0]+" ? -1 : 0)")
		}
		return fromFloat(o, "float("+x[0]+")")
	}
	elements["arith.uitofp"] = func(_ *emitter, o *ttir.Op, x []string) string {
		return fromFloat(o, "float("+unsigned(o.Operands[0].Type.Element().Bits)+"("+x[0]+"))")
	}
	elements["arith.fptosi"] = func(_ *emitter, o *ttir.Op, x []string) string {
		return toInt(o, cType(o.Results[0].Type.Element()), x[0])
	}
	elements["arith.fptoui"] = func(_ *emitter, o *ttir.Op, x []string) string {
		t := o.Results[0].Type.Element()
		return cType(t) + "(" + toInt(o, unsigned(t.Bits), x[0]) + ")"
	}
	elements["arith.bitcast"] = bitcast
	elements["tt.bitcast"] = bitcast
}

// toInt converts a float to an integer type, towards zero. Out of range the result is unspecified, as in Triton.
func toInt(o *ttir.Op, ctype, x string) string {
	return ctype + "(float(" + toFloat(o.Operands[0].Type.Element().Name, x) + "))"
}

// fromFloat rounds a float expression to the result's type.
func fromFloat(o *ttir.Op, x string) string {
	return rounded(o.Results[0].Type.Element().Name, o.Word("rounding"), x)
}

// toFloat widens a float of any type, exactly.
func toFloat(name, x string) string {
	switch name {
	case "bf16":
		return "bf16_to_float(" + x + ")"
	case "f16":
		return "float(" + x + ")"
	case "f32", "f64":
		return x
	}
	return shortFloat(name) + "_to_float(" + x + ")"
}

// shortFloat is a float8 type's name in functions of the prelude.
func shortFloat(name string) string {
	return map[string]string{"f8E4M3FN": "e4m3", "f8E5M2": "e5m2", "f8E4M3FNUZ": "e4m3z", "f8E5M2FNUZ": "e5m2z"}[name]
}

// rounded narrows a float: to nearest, ties to even, or towards zero.
func rounded(name, rounding, x string) string {
	down := ""
	if rounding == "rtz" {
		down = "_rtz"
	}
	switch name {
	case "bf16":
		return "float_to_bf16" + down + "(" + x + ")"
	case "f16":
		if down != "" {
			return "float_to_half_rtz(" + x + ")"
		}
		return "half(" + x + ")"
	case "f32", "f64":
		return x
	}
	return "float_to_" + shortFloat(name) + "(" + x + ")"
}

// convertFloat converts between floats: widening is exact, narrowing rounds as the operation says.
func convertFloat(_ *emitter, o *ttir.Op, x []string) string {
	from, to := o.Operands[0].Type.Element().Name, o.Results[0].Type.Element().Name
	// A conversion to the same type is none.
	if from == to {
		return x[0]
	}
	return rounded(to, o.Word("rounding"), toFloat(from, x[0]))
}

// bitcast: bfloat16 and float8 are kept as bits, and bool as a value.
func bitcast(e *emitter, o *ttir.Op, x []string) string {
	from, to := o.Operands[0].Type.Element(), o.Results[0].Type.Element()
	if from.Kind == ttir.Pointer || to.Kind == ttir.Pointer {
		refuse(o, to.String(), "this cast of pointers is not supported")
	}
	if cType(from) == cType(to) {
		return x[0]
	}
	// bool and i8 differ in size in Metal's registers and not in Triton's.
	if from.Bits == 1 || to.Bits == 1 {
		return cType(to) + "(" + x[0] + ")"
	}
	return "as_type<" + cType(to) + ">(" + x[0] + ")"
}

// fromBits is the value of a float's bits.
func fromBits(t *ttir.Type, bits uint64) float64 {
	switch t.Name {
	case "f32":
		return float64(math.Float32frombits(uint32(bits)))
	case "f64":
		return math.Float64frombits(bits)
	case "bf16":
		return float64(math.Float32frombits(uint32(bits) << 16))
	case "f16":
		return small(bits, 5, 10)
	}
	return 0
}

// small decodes a float of few bits with infinities.
func small(bits uint64, exponent, mantissa int) float64 {
	sign := 1.0
	if bits>>(exponent+mantissa)&1 != 0 {
		sign = -1
	}
	e, m := int(bits>>mantissa)&(1<<exponent-1), float64(bits&(1<<mantissa-1))
	bias := 1<<(exponent-1) - 1
	switch {
	case e == 1<<exponent-1 && m != 0:
		return math.NaN()
	case e == 1<<exponent-1:
		return sign * math.Inf(1)
	case e == 0:
		return sign * math.Ldexp(m, 1-bias-mantissa)
	}
	return sign * math.Ldexp(1+m/float64(int(1)<<mantissa), e-bias)
}

// toBfloat rounds to nearest, ties to even.
func toBfloat(f float32) uint16 {
	u := math.Float32bits(f)
	if f != f {
		return uint16(u>>16 | 0x40)
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

// toFloat8 finds the nearest float8 of a constant, of which programs have few: ties go to the even code.
func toFloat8(name string, f float64) byte {
	best, gap := byte(0), math.Inf(1)
	// Few constants, and a table of all codes is short.
	for code := range 128 {
		v := float8(name, byte(code))
		d := math.Abs(v - math.Abs(f))
		if d < gap || d == gap && code&1 == 0 {
			best, gap = byte(code), d
		}
	}
	if f < 0 || math.Signbit(f) {
		best |= 0x80
	}
	return best
}

// float8 is the value of a code without its sign; NaN where there is none.
func float8(name string, code byte) float64 {
	switch name {
	case "f8E5M2":
		return small(uint64(code), 5, 2)
	case "f8E4M3FN":
		if code == 0x7f {
			return math.NaN()
		}
		return fixed(code, 3, 7)
	case "f8E4M3FNUZ":
		return fixed(code, 3, 8)
	}
	return fixed(code, 2, 16)
}

// fixed decodes a float8 without infinities.
func fixed(code byte, mantissa, bias int) float64 {
	e, m := int(code)>>mantissa, float64(code&(1<<mantissa-1))
	if e == 0 {
		return math.Ldexp(m, 1-bias-mantissa)
	}
	return math.Ldexp(1+m/float64(int(1)<<mantissa), e-bias)
}
