package emit

import (
	"cmp"
	"slices"
	"strings"
)

// helper is a function that Metal lacks. needs are others that it calls.
type helper struct {
	name, needs, text string
}

// helpers are in an order in which each stands behind those that it needs.
var helpers = []helper{
	{"bf16_to_float", "", `inline float bf16_to_float(ushort x) {
    return as_type<float>(uint(x) << 16);
}
`},
	{"float_to_bf16", "", `inline ushort float_to_bf16(float x) {
    uint u = as_type<uint>(x);
    return (u & 0x7fffffffu) > 0x7f800000u ? ushort(u >> 16 | 0x40u) : ushort((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}
`},
	{"float_to_bf16_rtz", "", `inline ushort float_to_bf16_rtz(float x) {
    uint u = as_type<uint>(x);
    return (u & 0x7fffffffu) > 0x7f800000u ? ushort(u >> 16 | 0x40u) : ushort(u >> 16);
}
`},
	{"float_to_half_rtz", "", `inline half float_to_half_rtz(float x) {
    half h = half(x);
    bool away = fabs(float(h)) > fabs(x) && !isnan(x);
    return away ? as_type<half>(ushort(as_type<ushort>(h) - 1)) : h;
}
`},
	// A float8 code is made by adding half a unit of its last place to the float's bits, so that the carry rounds to nearest,
	// ties to even; below the smallest normal number, by adding a float whose last place is that unit.
	{"float_to_small", "", `inline uchar float_to_small(float x, uint mantissa, uint bias, uint most, uint beyond, uint nan) {
    uint u = as_type<uint>(x), sign = u >> 24 & 0x80u, shift = 23 - mantissa;
    u &= 0x7fffffffu;
    if (u > 0x7f800000u) return uchar(sign | nan);
    uint code;
    if (u < (128 - bias) << 23) {
        float unit = as_type<float>((128 - bias - mantissa + 23) << 23);
        code = as_type<uint>(as_type<float>(u) + unit) - as_type<uint>(unit);
    } else {
        code = (u + (1u << (shift - 1)) - 1 + (u >> shift & 1u) - ((127 - bias) << 23)) >> shift;
    }
    return uchar(sign | (code > most ? beyond : code));
}
`},
	{"float_to_e5m2", "float_to_small", `inline uchar float_to_e5m2(float x) {
    return float_to_small(x, 2, 15, 0x7bu, 0x7cu, 0x7fu);
}
`},
	{"float_to_e4m3", "float_to_small", `inline uchar float_to_e4m3(float x) {
    return float_to_small(x, 3, 7, 0x7eu, 0x7eu, 0x7fu);
}
`},
	{"e5m2_to_float", "", `inline float e5m2_to_float(uchar x) {
    return float(as_type<half>(ushort(ushort(x) << 8)));
}
`},
	{"e4m3_to_float", "", `inline float e4m3_to_float(uchar x) {
    uint code = x & 0x7fu, sign = uint(x & 0x80u) << 24;
    float size = code < 8u ? float(code) * 0x1p-9f : as_type<float>((code << 20) + (120u << 23));
    return as_type<float>(sign | (code == 0x7fu ? 0x7fc00000u : as_type<uint>(size)));
}
`},
	// Abramowitz and Stegun 7.1.26 is not exact enough; this is a series where it converges fast, and a continued
	// fraction of erfc elsewhere.
	{"triton_erf", "", `inline float triton_erf(float x) {
    float a = fabs(x), s = x * x;
    if (a < 2.0f) {
        float term = a, total = a;
        for (int n = 1; n < 40; n++) {
            term = term * s * 2.0f / float(2 * n + 1);
            total += term;
        }
        float small = total * precise::exp(-s) * 1.1283791671f;
        return x < 0.0f ? -small : small;
    }
    if (a > 4.0f) return isnan(x) ? x : x < 0.0f ? -1.0f : 1.0f;
    float f = 0.0f;
    for (int n = 40; n > 0; n--) f = float(n) * 0.5f / (a + f);
    float rest = precise::exp(-s) * 0.5641895835f / (a + f);
    return x < 0.0f ? rest - 1.0f : 1.0f - rest;
}
`},
}

// all are the helpers with those of atomic operations, sorted by what they need.
var all = func() []helper {
	more := atomicHelpers()
	slices.SortFunc(more, func(a, b helper) int { return cmp.Compare(a.name, b.name) })
	slices.SortStableFunc(more, func(a, b helper) int { return cmp.Compare(len(a.needs), len(b.needs)) })
	return append(append([]helper{}, helpers...), more...)
}()

// prelude are the functions that a text uses, and those that they need.
func prelude(text string) string {
	used := map[string]bool{}
	for i := len(all) - 1; i >= 0; i-- {
		h := all[i]
		if used[h.name] || strings.Contains(text, h.name+"(") {
			used[h.name] = true
			for _, n := range strings.Fields(h.needs) {
				used[n] = true
			}
		}
	}
	var out strings.Builder
	for _, h := range all {
		if used[h.name] {
			out.WriteString(h.text + "\n")
		}
	}
	return out.String()
}
