// Functions that Metal lacks, for kernels that use them. A line of //! gives a function's name and those that it needs;
// each stands behind those.

//! bf16_to_float
inline float bf16_to_float(ushort x) {
    return as_type<float>(uint(x) << 16);
}

//! float_to_bf16
inline ushort float_to_bf16(float x) {
    uint u = as_type<uint>(x);
    return (u & 0x7fffffffu) > 0x7f800000u ? ushort(u >> 16 | 0x40u) : ushort((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

//! float_to_bf16_rtz
inline ushort float_to_bf16_rtz(float x) {
    uint u = as_type<uint>(x);
    return (u & 0x7fffffffu) > 0x7f800000u ? ushort(u >> 16 | 0x40u) : ushort(u >> 16);
}

// The bits of a float64, as a float: rounded to nearest, ties to even, where it has one; and back, exactly.
//! f64_to_float
inline float f64_to_float(ulong u) {
    uint sign = uint(u >> 32) & 0x80000000u;
    long exponent = long(u >> 52 & 0x7ff) - 1023;
    ulong mantissa = u & 0xffffffffffffful;
    if (exponent == 1024) return as_type<float>(sign | 0x7f800000u | (mantissa != 0 ? 0x400000u : 0u));
    if (exponent < -126) {
        if (exponent < -150) return as_type<float>(sign);
        uint shift = uint(-126 - exponent) + 29;
        mantissa |= 1ul << 52;
        ulong rest = mantissa & ((1ul << shift) - 1), half_way = 1ul << (shift - 1);
        uint m = uint(mantissa >> shift);
        return as_type<float>(sign | (m + (rest > half_way || (rest == half_way && (m & 1u) != 0) ? 1u : 0u)));
    }
    if (exponent > 127) return as_type<float>(sign | 0x7f800000u);
    uint m = uint(exponent + 127) << 23 | uint(mantissa >> 29);
    ulong rest = mantissa & 0x1ffffffful;
    return as_type<float>(sign | (m + (rest > 0x10000000ul || (rest == 0x10000000ul && (m & 1u) != 0) ? 1u : 0u)));
}

//! float_to_f64
inline ulong float_to_f64(float x) {
    uint u = as_type<uint>(x);
    ulong sign = ulong(u & 0x80000000u) << 32;
    uint exponent = u >> 23 & 0xffu, mantissa = u & 0x7fffffu;
    if (exponent == 255) return sign | 0x7ff0000000000000ul | ulong(mantissa) << 29;
    if (exponent == 0) {
        if (mantissa == 0) return sign;
        uint n = clz(mantissa) - 8;
        return sign | ulong(897 - n) << 52 | (ulong(mantissa) << (29 + n) & 0xffffffffffffful);
    }
    return sign | ulong(exponent + 896) << 52 | ulong(mantissa) << 29;
}

//! float_to_half_rtz
inline half float_to_half_rtz(float x) {
    half h = half(x);
    bool away = fabs(float(h)) > fabs(x) && !isnan(x);
    return away ? as_type<half>(ushort(as_type<ushort>(h) - 1)) : h;
}

// A float8 code is made by adding half a unit of its last place to the float's bits, so that the carry rounds to nearest,
// ties to even; below the smallest normal number, by adding a float whose last place is that unit.
//! float_to_small
inline uchar float_to_small(float x, uint mantissa, uint bias, uint most, uint beyond, uint nan) {
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

//! float_to_e5m2 float_to_small
inline uchar float_to_e5m2(float x) {
    return float_to_small(x, 2, 15, 0x7bu, 0x7cu, 0x7fu);
}

//! float_to_e4m3 float_to_small
inline uchar float_to_e4m3(float x) {
    return float_to_small(x, 3, 7, 0x7eu, 0x7eu, 0x7fu);
}

//! e5m2_to_float
inline float e5m2_to_float(uchar x) {
    return float(as_type<half>(ushort(ushort(x) << 8)));
}

//! e4m3_to_float
inline float e4m3_to_float(uchar x) {
    uint code = x & 0x7fu, sign = uint(x & 0x80u) << 24;
    float size = code < 8u ? float(code) * 0x1p-9f : as_type<float>((code << 20) + (120u << 23));
    return as_type<float>(sign | (code == 0x7fu ? 0x7fc00000u : as_type<uint>(size)));
}

// Abramowitz and Stegun 7.1.26 is not exact enough; this is a series where it converges fast, and a continued
// fraction of erfc elsewhere.
//! triton_erf
inline float triton_erf(float x) {
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

// Kahan's forms, in which the error of the rounded sum cancels.
//! triton_expm1
inline float triton_expm1(float x) {
    float u = precise::exp(x);
    if (u == 1.0f) return x;
    float d = u - 1.0f;
    return d == -1.0f || isinf(u) ? d : d * x / precise::log(u);
}

//! triton_log1p
inline float triton_log1p(float x) {
    float u = 1.0f + x;
    return u == 1.0f ? x : isinf(u) ? u : precise::log(u) * x / (u - 1.0f);
}

//! triton_cbrt
inline float triton_cbrt(float x) {
    if (x == 0.0f || isinf(x) || isnan(x)) return x;
    float y = copysign(precise::exp2(precise::log2(fabs(x)) / 3.0f), x);
    return y - (y * y * y - x) / (3.0f * y * y);
}

// The language's fmod may be x - y * trunc(x / y), which is wrong where the quotient is not exact. This divides the
// significands as integers, seven bits at a time, so that no dividend has more than 31.
//! triton_fmod
inline float triton_fmod(float x, float y) {
    const uint sign = as_type<uint>(x) & 0x80000000u, a = as_type<uint>(x) ^ sign, b = as_type<uint>(y) & 0x7fffffffu;
    if (a >= 0x7f800000u || b > 0x7f800000u || b == 0u) return NAN;
    if (a < b) return x;
    int more = int(max(a >> 23, 1u)), exponent = int(max(b >> 23, 1u));
    const uint divisor = b < 0x00800000u ? b : (b & 0x007fffffu) | 0x00800000u;
    uint rest = (a < 0x00800000u ? a : (a & 0x007fffffu) | 0x00800000u) % divisor;
    for (more -= exponent; more > 0 && rest != 0u; more -= 7) rest = (rest << min(more, 7)) % divisor;
    if (rest == 0u) return as_type<float>(sign);
    const int shift = min(int(clz(rest)) - 8, exponent - 1);
    return as_type<float>(sign | ((rest << shift) + (uint(exponent - shift - 1) << 23)));
}

//! triton_ffs
inline int triton_ffs(int x) {
    return x == 0 ? 0 : int(ctz(x)) + 1;
}

// Records of what a kernel reports: package report has their form.
//! report_record
inline void report_record(device uint *at, uint site, uint3 program, uint element, ulong bits) {
    at[0] = site;
    at[1] = program.x;
    at[2] = program.y;
    at[3] = program.z;
    at[4] = element;
    at[5] = uint(bits);
    at[6] = uint(bits >> 32);
}

//! report_value report_record
inline void report_value(device uint *records, uint site, uint3 program, uint element, ulong bits) {
    uint at = atomic_fetch_add_explicit((device atomic_uint *)records, 7u, memory_order_relaxed);
    if (at < 65536u - 16u) report_record(records + 9 + at, site, program, element, bits);
}

//! report_failure report_record
inline void report_failure(device uint *records, uint site, uint3 program, uint element) {
    if (atomic_fetch_or_explicit((device atomic_uint *)(records + 1), 1u, memory_order_relaxed) == 0) report_record(records + 2, site, program, element, 0ul);
}

// What is at an address of the CPU, by a table of tensors in the order of their addresses. An address that is in none of
// them is reported, and gives a few bytes behind the records. Package report has the form of both.
//! triton_find report_record
inline device uchar *triton_find(device const ulong *addresses, device uint *records, uint site, uint3 program, ulong address, ulong bytes) {
    ulong low = 0, high = addresses[0];
    // The last tensor that begins at the address or before it; 0 if there is none.
    while (low < high) {
        const ulong middle = (low + high + 1) / 2;
        if (addresses[3 * middle] <= address) low = middle;
        else high = middle - 1;
    }
    const ulong offset = address - addresses[3 * low], size = low == 0 ? 0ul : addresses[3 * low + 1];
    if (bytes <= size && offset <= size - bytes) return reinterpret_cast<device uchar *>(addresses[3 * low + 2] + offset);
    if (atomic_fetch_or_explicit((device atomic_uint *)(records + 1), 1u, memory_order_relaxed) == 0) report_record(records + 2, site, program, 0u, address);
    return (device uchar *)(records + 65532);
}
