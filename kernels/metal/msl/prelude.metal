// Begins every source. The coefficients are Chebyshev interpolations, computed with mpmath to 40 digits:
// erf(x)/x in x*x on [0, 1], and exp(x*x)*erfc(x)*(1 + 2*x) in (x-2)/(x+2) on [0, 10.5].
#include <metal_stdlib>
using namespace metal;

inline float widen(ushort b) { return as_type<float>(uint(b) << 16); }

inline ushort narrow(float x) {
    uint u = as_type<uint>(x);
    if ((u & 0x7fffffff) > 0x7f800000) return ushort(u >> 16 | 0x40);
    return ushort((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

inline float floor_divide(float x, float y) {
    if (y == 0) return x / y;
    float rest = fmod(x, y), q = (x - rest) / y;
    if (rest != 0 && (rest < 0) != (y < 0)) q -= 1;
    return q == 0 ? copysign(0.0f, x / y) : rint(q);
}

inline float remainder(float x, float y) {
    float rest = fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

template <typename T> inline T floor_divide(T x, T y) {
    T q = x / y;
    return x % y != 0 && (x < 0) != (y < 0) ? q - 1 : q;
}

template <typename T> inline T remainder(T x, T y) {
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

inline float power(float x, float y) {
    if (x == 1 || y == 0) return 1;
    if (isnan(x) || isnan(y)) return NAN;
    return pow(x, y);
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
