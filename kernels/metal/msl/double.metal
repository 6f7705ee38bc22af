
// Arithmetic of binary64 in integers, which the language has no type for: rounded to nearest, ties to even,
// as a CPU does it, so that what is made from numbers of Python is the same on every device. Numbers below
// 2**-1022 count as zero; operands that are not finite make what they make among floats.

inline ulong product_high(ulong a, ulong b) {
    const ulong low = 0xffffffff;
    const ulong aa = a >> 32, ab = a & low, ba = b >> 32, bb = b & low;
    const ulong middle = aa * bb + (ab * bb >> 32), other = ab * ba + (middle & low);
    return aa * ba + (middle >> 32) + (other >> 32);
}

inline uint leading_zeros(ulong m) {
    const uint high = uint(m >> 32);
    return high != 0 ? clz(high) : 32 + clz(uint(m));
}

inline int exponent_of(ulong x) { return int(x >> 52 & 2047); }

// A significand whose top bit is set, for an exponent of which 1023 is that of 1; sticky says that bits are
// missing at its end.
inline ulong assemble(ulong sign, int exponent, ulong m, bool sticky) {
    const ulong rest = m & 2047;
    m >>= 11;
    if (rest > 1024 || (rest == 1024 && (sticky || (m & 1) != 0))) m++;
    if (m >> 53 != 0) {
        m >>= 1;
        exponent++;
    }
    if (exponent <= 0) return sign;
    if (exponent >= 2047) return sign | 2047ul << 52;
    return sign | ulong(exponent) << 52 | (m & ((1ul << 52) - 1));
}

// The nearest float; or, if odd, the one towards zero with its last bit set where it is not exact, from
// which a shorter float is rounded right.
inline float to_float(ulong x, bool odd) {
    const uint sign = uint(x >> 32) & 0x80000000;
    const int e = exponent_of(x);
    ulong m = x & ((1ul << 52) - 1);
    if (e == 2047) return as_type<float>(sign | 0x7f800000 | (m != 0 ? 0x400000 : 0));
    m |= 1ul << 52;
    int down = 29, exponent = e - 1023 + 127;
    if (exponent <= 0) {
        down += 1 - exponent;
        exponent = 0;
    }
    if (e == 0 || down > 54) return as_type<float>(sign | (odd && e != 0 ? 1 : 0));
    if (exponent >= 255) return as_type<float>(sign | 0x7f800000);
    const ulong rest = m & ((1ul << down) - 1), middle = 1ul << (down - 1);
    uint bits = uint(m >> down);
    if (odd) bits |= rest != 0;
    else if (rest > middle || (rest == middle && (bits & 1) != 0)) bits++;
    return as_type<float>(sign | (bits + (exponent == 0 ? 0 : uint(exponent - 1) << 23)));
}

inline ulong from_float(float f) {
    const uint u = as_type<uint>(f);
    const ulong sign = ulong(u >> 31) << 63;
    const uint e = u >> 23 & 255;
    const ulong m = ulong(u & 0x7fffff) << 29;
    if (e == 255) return sign | 2047ul << 52 | m;
    if (e == 0) return sign;
    return sign | ulong(e - 127 + 1023) << 52 | m;
}

inline ulong multiply(ulong a, ulong b) {
    const int ea = exponent_of(a), eb = exponent_of(b);
    const ulong sign = (a ^ b) & 1ul << 63;
    if (ea == 2047 || eb == 2047) return from_float(to_float(a, false) * to_float(b, false));
    if (ea == 0 || eb == 0) return sign;
    const ulong ma = (a << 11) | 1ul << 63, mb = (b << 11) | 1ul << 63;
    ulong high = product_high(ma, mb), low = ma * mb;
    int e = ea + eb - 1022;
    if (high >> 63 == 0) {
        high = high << 1 | low >> 63;
        low <<= 1;
        e--;
    }
    return assemble(sign, e, high, low != 0);
}

inline ulong add(ulong a, ulong b) {
    if ((a & ~(1ul << 63)) < (b & ~(1ul << 63))) {
        const ulong other = a;
        a = b;
        b = other;
    }
    int e = exponent_of(a);
    const int eb = exponent_of(b), apart = e - eb;
    if (e == 2047) return from_float(to_float(a, false) + to_float(b, false));
    if (e == 0) return a & b & 1ul << 63;
    if (eb == 0) return a;
    const ulong ma = (a << 10 | 1ul << 62) & ~(1ul << 63), mb = (b << 10 | 1ul << 62) & ~(1ul << 63);
    const ulong small = apart > 63 ? 0 : mb >> apart;
    const bool sticky = apart > 63 || small << apart != mb;
    const ulong sign = a & 1ul << 63;
    ulong m = (a ^ b) >> 63 == 0 ? ma + small : ma - small - (sticky ? 1 : 0);
    if (m == 0) return 0;
    const uint up = leading_zeros(m);
    m <<= up;
    return assemble(sign, e + 1 - int(up), m, sticky);
}

inline ulong from_integer(ulong n) {
    if (n == 0) return 0;
    const uint up = leading_zeros(n);
    return assemble(0, 1023 + 63 - int(up), n << up, false);
}

// Whether x < y, of numbers.
inline bool below(ulong x, ulong y) {
    const long a = x >> 63 != 0 ? long(0x8000000000000000 - x) : long(x);
    const long b = y >> 63 != 0 ? long(0x8000000000000000 - y) : long(y);
    return a < b;
}

// Towards zero; what does not fit is the nearest that does, nan is 0.
inline long to_long(ulong x) {
    const int e = exponent_of(x) - 1023;
    if (e == 1024 && (x & ((1ul << 52) - 1)) != 0) return 0;
    if (e >= 63) return x >> 63 != 0 ? LONG_MIN : LONG_MAX;
    if (e < 0) return 0;
    const ulong m = (x & ((1ul << 52) - 1)) | 1ul << 52;
    const long n = long(e >= 52 ? m << (e - 52) : m >> (52 - e));
    return x >> 63 != 0 ? -n : n;
}
