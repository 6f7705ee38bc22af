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
    return u == 1.0f || x == INFINITY ? x : precise::log(u) * (x / (u - 1.0f));
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

// The root of the sum of the squares, or 1 through it; operands are scaled by a power of two, so that no square overflows.
//! triton_norm
inline float triton_norm(float a, float b, float c, float d, bool inverse) {
    if (isinf(a) || isinf(b) || isinf(c) || isinf(d)) return inverse ? 0.0f : INFINITY;
    float most = fmax(fmax(fabs(a), fabs(b)), fmax(fabs(c), fabs(d)));
    if (isnan(a) || isnan(b) || isnan(c) || isnan(d)) return NAN;
    if (most == 0.0f) return inverse ? INFINITY : 0.0f;
    int e = int(as_type<uint>(most) >> 23) - 127;
    a = ldexp(a, -e), b = ldexp(b, -e), c = ldexp(c, -e), d = ldexp(d, -e);
    float s = fma(a, a, fma(b, b, fma(c, c, d * d)));
    return inverse ? ldexp(precise::rsqrt(s), -e) : ldexp(precise::sqrt(s), e);
}

// exp(x * x) * erfc(x) for x >= 0.
//! triton_erfcx_above
inline float triton_erfcx_above(float x) {
    if (x > 10.0f) {
        float s = 0.5f / x / x;
        return 0.5641895835f / x * (1.0f - s * (1.0f - 3.0f * s * (1.0f - 5.0f * s * (1.0f - 7.0f * s))));
    }
    float u = (x - 2.0f) / (x + 2.0f), p = -0.00042006231f;
    p = fma(p, u, -0.00125541387f);
    p = fma(p, u, 0.00133004459f);
    p = fma(p, u, 0.00865846965f);
    p = fma(p, u, -0.00806387421f);
    p = fma(p, u, -0.05421322212f);
    p = fma(p, u, 0.16405561566f);
    p = fma(p, u, -0.16603046656f);
    p = fma(p, u, -0.09276398271f);
    p = fma(p, u, 1.27697837353f);
    return p / (1.0f + 2.0f * x);
}

// erfc(x + rest) * factor. The square is in two parts, so that its rounding does not show in the power; far out the power is
// taken apart, so that none of it is subnormal.
//! triton_erfc triton_erfcx_above
inline float triton_erfc(float x, float rest, float factor) {
    if (isnan(x)) return x;
    float a = fabs(x), square = a * a, low = fma(a, a, -square) + 2.0f * x * rest;
    bool far = square > 60.0f;
    float e = precise::exp(far ? 60.0f - square : -square);
    float y = a > 10.4f ? 0.0f : (e - e * low) * triton_erfcx_above(a) * factor;
    y = far ? y * 8.75651076e-27f : y;
    return x < 0.0f ? 2.0f * factor - y : y;
}

//! triton_normcdf triton_erfc
inline float triton_normcdf(float x) {
    float y = -0.70710678f * x;
    return triton_erfc(y, fma(-0.70710678f, x, -y) - 1.21016171e-8f * x, 0.5f);
}

//! triton_erfcx triton_erfcx_above
inline float triton_erfcx(float x) {
    if (x >= 0.0f || isnan(x)) return triton_erfcx_above(x);
    float square = x * x, e = precise::exp(square);
    return isinf(e) ? e : 2.0f * fma(e, fma(x, x, -square), e) - triton_erfcx_above(-x);
}

// M. Giles, Approximating the erfinv function: y with erf(y) = x for w = -log((1 - x) * (1 + x)), divided by x.
//! triton_erfinv_by
inline float triton_erfinv_by(float w) {
    bool near = w < 5.0f;
    float t = near ? w - 2.5f : precise::sqrt(w) - 3.0f, p = near ? 2.81022636e-08f : -0.000200214257f;
    p = fma(p, t, near ? 3.43273939e-07f : 0.000100950558f);
    p = fma(p, t, near ? -3.5233877e-06f : 0.00134934322f);
    p = fma(p, t, near ? -4.39150654e-06f : -0.00367342844f);
    p = fma(p, t, near ? 0.00021858087f : 0.00573950773f);
    p = fma(p, t, near ? -0.00125372503f : -0.0076224613f);
    p = fma(p, t, near ? -0.00417768164f : 0.00943887047f);
    p = fma(p, t, near ? 0.246640727f : 1.00167406f);
    return fma(p, t, near ? 1.50140941f : 2.83297682f);
}

//! triton_erfinv triton_erfinv_by
inline float triton_erfinv(float x) {
    if (fabs(x) == 1.0f) return copysign(INFINITY, x);
    return triton_erfinv_by(-precise::log((1.0f - x) * (1.0f + x))) * x;
}

// Behind Giles' range by Newton's method on the logarithm.
//! triton_erfcinv triton_erfinv_by triton_erfcx_above
inline float triton_erfcinv(float x) {
    if (x == 0.0f) return INFINITY;
    if (x == 2.0f) return -INFINITY;
    if (x > 1e-7f || !(x >= 0.0f)) return triton_erfinv_by(-precise::log(x * (2.0f - x))) * (1.0f - x);
    float l = -precise::log(x), y = precise::sqrt(l - 0.5f * precise::log(l) - 0.572f);
    for (int n = 0; n < 3; n++) {
        float r = triton_erfcx_above(y);
        y += (l - y * y + precise::log(r)) * r * 0.8862269255f;
    }
    return y;
}

// log(gamma(2 + z)) for z from -0.5 to 0.5, by its series: coefficient k is (zeta(k) - 1) / k, with alternating signs.
//! triton_gamma_near
inline float triton_gamma_near(float z) {
    float p = 0.0000094394883f;
    p = fma(p, -z, 0.0000205072128f);
    p = fma(p, -z, 0.0000449262367f);
    p = fma(p, -z, 0.0000994575128f);
    p = fma(p, -z, 0.000223154758454f);
    p = fma(p, -z, 0.000509669524743f);
    p = fma(p, -z, 0.0011927539117033f);
    p = fma(p, -z, 0.0028905103307415f);
    p = fma(p, -z, 0.007385551028674f);
    p = fma(p, -z, 0.0205808084277845f);
    p = fma(p, -z, 0.0673523010531981f);
    p = fma(p, -z, 0.3224670334241136f);
    return z * fma(p, z, 0.4227843350984671f);
}

//! triton_tgamma triton_gamma_near
inline float triton_tgamma(float x) {
    if (x == 0.0f) return copysign(INFINITY, x);
    if (x > 36.0f || isnan(x)) return x > 36.0f ? INFINITY : x;
    if (x < 0.0f && x == floor(x)) return NAN;
    if (x < -45.0f) return 0.0f;
    float above = 1.0f, below = 1.0f;
    for (; x > 2.5f; above *= x) x -= 1.0f;
    for (; x < 1.5f; x += 1.0f) below *= x;
    return precise::exp(triton_gamma_near(x - 2.0f)) * above / below;
}

//! triton_lgamma triton_gamma_near triton_log1p
inline float triton_lgamma(float x) {
    float a = fabs(x), y;
    if (isnan(x) || isinf(a)) return isnan(x) ? x : INFINITY;
    if (a < 0.5f) y = triton_gamma_near(a) - precise::log(a) - triton_log1p(a);
    else if (a < 1.5f) y = triton_gamma_near(a - 1.0f) - triton_log1p(a - 1.0f);
    else if (a < 8.0f) {
        float p = 1.0f, b = a;
        for (; b > 2.5f; p *= b) b -= 1.0f;
        y = precise::log(p) + triton_gamma_near(b - 2.0f);
    } else {
        float r = 1.0f / a;
        y = fma(a - 0.5f, precise::log(a) - 1.0f, 0.4189385332f + r * fma(-r * r, 0.0027777778f, 0.0833333333f));
    }
    if (x > 0.0f) return y;
    return x == floor(x) ? INFINITY : precise::log(3.14159265f / (a * fabs(sinpi(a - 2.0f * floor(0.5f * a))))) - y;
}

// The modified Bessel function of order 0 or 1: its power series, or the asymptotic one.
//! triton_bessel_i
inline float triton_bessel_i(float x, int order) {
    float a = fabs(x), n = float(order), total = 1.0f, term = 1.0f;
    bool far = a > 15.0f;
    if (isinf(a) || isnan(a)) return order == 1 ? x : a;
    for (float k = 1.0f; k < 60.0f && fabs(term) > total * 1e-9f; k += 1.0f) {
        term *= far ? ((2.0f * k - 1.0f) * (2.0f * k - 1.0f) - 4.0f * n) / (8.0f * k * a) : 0.25f * a * a / (k * (k + n));
        total += term;
    }
    float e = far ? precise::exp(0.5f * a) : 1.0f;
    if (far) total = e * (total * precise::rsqrt(6.283185307f * a)) * e;
    else if (order == 1) total *= 0.5f * a;
    return order == 1 && x < 0.0f ? -total : total;
}

//! triton_remainder triton_fmod
inline float triton_remainder(float x, float y) {
    float a = fabs(x), b = fabs(y);
    if (!(b > 0.0f) || isinf(x) || isnan(x)) return NAN;
    if (b < 1e38f) a = triton_fmod(a, 2.0f * b);
    float half_of = 0.5f * b;
    if (a > half_of) {
        a -= b;
        if (a >= half_of) a -= b;
    }
    return as_type<uint>(x) >> 31 ? -a : a;
}

//! triton_nextafter
inline float triton_nextafter(float x, float y) {
    if (isnan(x) || isnan(y)) return NAN;
    if (x == y) return y;
    int i = as_type<int>(x);
    if ((i & 0x7fffffff) == 0) return as_type<float>((as_type<int>(y) & 0x80000000) | 1);
    return as_type<float>((x < y) == (i >= 0) ? i + 1 : i - 1);
}

//! triton_ilogb
inline int triton_ilogb(float x) {
    uint u = as_type<uint>(x) & 0x7fffffffu;
    if (u == 0u || u > 0x7f800000u) return -2147483647 - 1;
    return u == 0x7f800000u ? 2147483647 : u < 0x00800000u ? -118 - int(clz(u)) : int(u >> 23) - 127;
}

//! triton_logb triton_ilogb
inline float triton_logb(float x) {
    return x == 0.0f ? -INFINITY : isnan(x) || isinf(x) ? x * x : float(triton_ilogb(x));
}

//! triton_powi
inline float triton_powi(float x, int n) {
    float y = precise::pow(fabs(x), float(n));
    return as_type<uint>(x) >> 31 && n & 1 ? -y : y;
}

//! triton_to_long
inline long triton_to_long(float x, float low, float high, long least, long most) {
    return isnan(x) ? 0 : x <= low ? least : x >= high ? most : long(x);
}

//! triton_to_ll triton_to_long
inline long triton_to_ll(float x) {
    return triton_to_long(x, -0x1p63f, 0x1p63f, -9223372036854775807l - 1l, 9223372036854775807l);
}

//! triton_to_int triton_to_long
inline int triton_to_int(float x) {
    return int(triton_to_long(x, -0x1p31f, 0x1p31f, -2147483648l, 2147483647l));
}

//! triton_to_ulong
inline long triton_to_ulong(float x) {
    return x >= 18446744073709551616.0f ? -1 : x > 0.0f ? long(ulong(x)) : 0;
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
