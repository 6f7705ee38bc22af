// Begins every source. The coefficients are Chebyshev interpolations, computed with mpmath to 40 digits:
// erf(x)/x in x*x on [0, 1], and exp(x*x)*erfc(x)*(1 + 2*x) in (x-2)/(x+2) on [0, 10.5].
#include <metal_stdlib>

// Errors of rounding are computed below as differences, which a multiplication fused with an addition falsifies. Safe
// math alone leaves fusing to the compiler.
#pragma METAL fp contract(off)

// Only these names of Metal's are used without metal::. With a using-directive a function here and anything of that
// name in Apple's headers, which grow with macOS, would be ambiguous: metal::plus is a class template, for one.
using metal::acos;
using metal::acosh;
using metal::asin;
using metal::asinh;
using metal::atan;
using metal::atan2;
using metal::atanh;
using metal::atomic_fetch_max_explicit;
using metal::atomic_load_explicit;
using metal::atomic_store_explicit;
using metal::atomic_uint;
using metal::ceil;
using metal::clamp;
using metal::clz;
using metal::copysign;
using metal::cos;
using metal::cosh;
using metal::cospi;
using metal::exp;
using metal::fabs;
using metal::floor;
using metal::fma;
using metal::frexp;
using metal::isfinite;
using metal::isinf;
using metal::isnan;
using metal::ldexp;
using metal::log;
using metal::log10;
using metal::log2;
using metal::max;
using metal::mem_flags;
using metal::memory_order_relaxed;
using metal::min;
using metal::numeric_limits;
using metal::pow;
using metal::rint;
using metal::rsqrt;
using metal::simd_shuffle_xor;
using metal::sin;
using metal::sinh;
using metal::sinpi;
using metal::sqrt;
using metal::tan;
using metal::tanh;
using metal::threadgroup_barrier;
using metal::trunc;

inline float widen(ushort b) { return as_type<float>(uint(b) << 16); }

inline ushort narrow(float x) {
    uint u = as_type<uint>(x);
    if ((u & 0x7fffffff) > 0x7f800000) return ushort(u >> 16 | 0x40);
    return ushort((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

// What remains of x after a whole number of y, with the sign of x and without rounding. The language's fmod may be
// x - y * trunc(x / y), which is wrong where the quotient is not exact. This divides the significands as integers,
// seven bits at a time, so that no dividend has more than 31.
inline float rest_of(float x, float y) {
    const uint sign = as_type<uint>(x) & 0x80000000, a = as_type<uint>(x) ^ sign, b = as_type<uint>(y) & 0x7fffffff;
    if (a >= 0x7f800000 || b > 0x7f800000 || b == 0) return NAN;
    if (a < b) return x;
    int more = int(max(a >> 23, 1u)), exponent = int(max(b >> 23, 1u));
    const uint divisor = b < 0x00800000 ? b : (b & 0x007fffff) | 0x00800000;
    uint rest = (a < 0x00800000 ? a : (a & 0x007fffff) | 0x00800000) % divisor;
    for (more -= exponent; more > 0 && rest != 0; more -= 7) rest = (rest << min(more, 7)) % divisor;
    if (rest == 0) return as_type<float>(sign);
    const int shift = min(int(clz(rest)) - 8, exponent - 1);
    return as_type<float>(sign | ((rest << shift) + (uint(exponent - shift - 1) << 23)));
}

inline float floor_divide(float x, float y) {
    if (y == 0) return x / y;
    float rest = rest_of(x, y), q = (x - rest) / y;
    if (rest != 0 && (rest < 0) != (y < 0)) q -= 1;
    return q == 0 ? copysign(0.0f, x / y) : rint(q);
}

inline float remainder(float x, float y) {
    float rest = rest_of(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

// The quotient of the smallest integer and -1 is none, and the language does not say what is computed then: here it wraps
// around, as on the CPU.
template <typename T> inline bool is_minus_one(T y) { return T(-1) < T(0) && y == T(-1); }

template <typename T> inline T floor_divide(T x, T y) {
    if (is_minus_one(y)) return x == numeric_limits<T>::min() ? x : T(-x);
    T q = x / y;
    return x % y != 0 && (x < 0) != (y < 0) ? q - 1 : q;
}

template <typename T> inline T remainder(T x, T y) {
    if (is_minus_one(y)) return 0;
    T rest = x % y;
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

template <typename T, typename W> inline T power(T x, T y) {
    if (y < 0) return x == 1 ? 1 : x + 1 == 0 ? ((y & 1) ? -1 : 1) : 0;
    W result = 1, base = W(x);
    for (; y > 0; y >>= 1) {
        if (y & 1) result *= base;
        base *= base;
    }
    return T(result);
}

// A square is a product, as that of square is: alone and in a group it is rounded once.
inline float power(float x, float y) {
    if (y == 2) return x * x;
    if (x == 1 || y == 0) return 1;
    if (isnan(x) || isnan(y)) return NAN;
    return pow(x, y);
}

// atan2, whose answers for zeros and infinities the language does not give: here they are those of C.
inline float angle(float y, float x) {
    const float pi = 3.14159274f;
    if (isnan(x) || isnan(y)) return NAN;
    const bool left = as_type<int>(x) < 0;
    if (y == 0 || (isinf(x) && !isinf(y))) return copysign(left ? pi : 0.0f, y);
    if (isinf(x)) return copysign(left ? 0.75f * pi : 0.25f * pi, y);
    if (x == 0 || isinf(y)) return copysign(0.5f * pi, y);
    return atan2(y, x);
}

// The float next to x in the direction of y. Floats are compared as integers of the same order, because subnormals may
// count as zeros where they are compared as floats.
inline int place_of(float x) { return as_type<int>(x) < 0 ? as_type<int>(0x80000000) - as_type<int>(x) : as_type<int>(x); }

inline float neighbour(float x, float y) {
    if (isnan(x) || isnan(y)) return NAN;
    const int from = place_of(x), to = place_of(y);
    if (from == to) return y;
    const int at = from < to ? from + 1 : from - 1;
    if (at == 0) return as_type<float>(as_type<uint>(x) & 0x80000000);
    return as_type<float>(at < 0 ? as_type<int>(0x80000000) - at : at);
}

// The greatest common divisor of the absolute values, as integers without a sign: the least integer has none.
template <typename T, typename W> inline T divisor(T x, T y) {
    W a = x < 0 ? W(0) - W(x) : W(x), b = y < 0 ? W(0) - W(y) : W(y);
    while (b != 0) {
        const W rest = a % b;
        a = b;
        b = rest;
    }
    return T(a);
}

inline float largest(float x, float y) { return isnan(x) || isnan(y) ? NAN : max(x, y); }
inline float least(float x, float y) { return isnan(x) || isnan(y) ? NAN : min(x, y); }

inline float exp_less_1(float x) {
    if (x > 1) return exp(x) - 1;
    float u = exp(x);
    if (u == 1) return x;
    float less = u - 1;
    return less == -1 ? -1 : less * (x / log(u));
}

inline float log_of_1_and(float x) {
    float u = 1 + x;
    return u == 1 || x == INFINITY ? x : log(u) * (x / (u - 1));
}

// erfc of x + rest, times a factor, for x >= 0. The square is in two parts, so that its rounding does not
// show in the power; and far out the power is taken apart, so that none of it is subnormal.
inline float complement(float x, float rest, float factor) {
    if (isnan(x)) return x;
    if (x > 10.4f) return factor * 0;
    float t = 2 * x, u = (x - 2) / (x + 2), square = x * x, low = fma(x, x, -square) + t * rest;
    float p = -0.00042006231f;
    p = fma(p, u, -0.00125541387f);
    p = fma(p, u, 0.00133004459f);
    p = fma(p, u, 0.00865846965f);
    p = fma(p, u, -0.00806387421f);
    p = fma(p, u, -0.05421322212f);
    p = fma(p, u, 0.16405561566f);
    p = fma(p, u, -0.16603046656f);
    p = fma(p, u, -0.09276398271f);
    p = fma(p, u, 1.27697837353f);
    bool far = square > 60;
    float e = exp(far ? 60 - square : -square);
    float y = (e - e * low) * p / (1 + t) * factor;
    return far ? y * 8.75651076e-27f : y;
}

inline float error_function(float x) {
    float size = fabs(x), t = x * x;
    if (size >= 1) return copysign(1 - complement(size, 0, 1), x);
    float p = -9.667044651e-06f;
    p = fma(p, t, 0.00011265958892f);
    p = fma(p, t, -0.00084840803174f);
    p = fma(p, t, 0.0052210316062f);
    p = fma(p, t, -0.02686543017626f);
    p = fma(p, t, 0.1128378212452f);
    p = fma(p, t, -0.3761263787746f);
    return fma(x, fma(p, t, -5.8635383e-08f), x * 1.1283792257309f);
}

inline float logistic(float x) {
    float e = exp(-fabs(x));
    return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

// x * logistic(x); where the logistic would be subnormal and the product is not, the power is taken apart.
inline float silu(float x) {
    return x < -60 ? x * exp(x + 60) * 8.75651076e-27f : x * logistic(x);
}

// x times the normal distribution up to x; |x| / sqrt(2) is in two parts.
inline float gelu(float x) {
    float size = fabs(x), z = size * 0.707106769f;
    float rest = fma(size, 0.707106769f, -z) + size * 1.21016175e-08f;
    return x < 0 ? complement(z, rest, 0.5f * x) : x * (1 - complement(z, rest, 0.5f));
}

// x / (1 + exp(-t)) for t = 2 * sqrt(2 / pi) * (x + 0.044715 * x**3), which is in two parts.
inline float gelu_by_tanh(float x) {
    float square = x * x, cubic = 0.0713548139f * square, sum = 1.59576917f + cubic;
    float rest = fma(0.0713548139f, square, -cubic) + 0.0713548139f * fma(x, x, -square) + 2.39883247e-09f * square;
    float back = sum - 1.59576917f;
    rest += (1.59576917f - (sum - back)) + (cubic - back) - 4.53406805e-08f;
    float size = fabs(x), t = size * sum;
    bool far = t > 60 && isfinite(t);
    float e = exp(far ? 60 - t : -t);
    if (isfinite(t)) e -= e * (fma(size, sum, -t) + size * rest);
    if (far) return x < 0 ? x * e * 8.75651076e-27f : x;
    return x < 0 ? x * e / (1 + e) : x / (1 + e);
}

inline float softplus(float x, float beta, float threshold) {
    float t = beta * x;
    if (t > threshold) return x;
    return (max(t, 0.0f) + log_of_1_and(exp(-fabs(t)))) / beta;
}

// A float as an integer, towards zero; what does not fit is the nearest that does, nan is 0.
template <typename T> inline T to_integer(float x) {
    if (isnan(x)) return 0;
    const T low = numeric_limits<T>::min(), high = numeric_limits<T>::max();
    return x <= float(low) ? low : x >= float(high) ? high : T(x);
}
