
// Functions that few programs need, behind the prelude of these alone. Those of Bessel are Chebyshev series; the coefficients,
// and what each series is, are those of kernels/host/bessel.go, cut off below 2**-27 of the largest.
constant float i0_near[19] = {
    1.08262284f, 0.17341899f, 0.0589369688f, -0.0326531137f, 0.00924939749f, 0.00101641524f, -0.00339114763f, 0.00275032205f,
    -0.00160399305f, 0.000774079131f, -0.000325320624f, 0.000122192916f, -4.16751366e-05f, 1.30479794e-05f, -3.78069779e-06f, 1.02031805e-06f,
    -2.5780952e-07f, 6.12582974e-08f, -1.37393407e-08f,
};
constant float i0_far[7] = {
    0.402245205f, 0.00336911648f, 6.88975835e-05f, 2.89137052e-06f, 2.04891859e-07f, 2.26666899e-08f, 3.39623203e-09f,
};
constant float i1_near[19] = {
    0.278634929f, -0.171620902f, 0.0544932943f, -0.0099896906f, -0.00338788705f, 0.00494531948f, -0.00337319997f, 0.00176955555f,
    -0.000789236752f, 0.000311399135f, -0.000110989704f, 3.62059865e-05f, -1.09088148e-05f, 3.05680143e-06f, -8.00997859e-07f, 1.97169069e-07f,
    -4.57679951e-08f, 1.00519441e-08f, -2.09497416e-09f,
};
constant float i1_far[7] = {
    0.389288117f, -0.00976109749f, -0.000110588939f, -3.88256481e-06f, -2.51223624e-07f, -2.63146885e-08f, -3.83538039e-09f,
};

// The sum of c[k] * T_k(t) for k < n, by Clenshaw's recurrence.
inline float chebyshev(constant float *c, int n, float t) {
    float b = 0, last = 0;
    for (int k = n - 1; k > 0; k--) {
        const float next = fma(2 * t, b, c[k] - last);
        last = b;
        b = next;
    }
    return fma(t, b, c[0] - last);
}

inline float bessel_0_scaled(float x) {
    const float size = fabs(x);
    if (size <= 8) return chebyshev(i0_near, 19, size / 4 - 1) / (1 + size);
    return isinf(x) ? 0 : chebyshev(i0_far, 7, 16 / size - 1) * rsqrt(size);
}

inline float bessel_1_scaled(float x) {
    const float size = fabs(x);
    if (size <= 8) return chebyshev(i1_near, 19, size / 4 - 1) * x / (1 + size);
    return isinf(x) ? copysign(0.0f, x) : copysign(chebyshev(i1_far, 7, 16 / size - 1) * rsqrt(size), x);
}

// y * exp(|x|) for one of these. The power alone would be infinite before the product is.
inline float unscaled(float y, float x) {
    const float size = fabs(x);
    if (size <= 80 || isnan(x)) return y * exp(size);
    if (size > 100) return copysign(INFINITY, y);
    const float half_way = exp(size / 2);
    return y * half_way * half_way;
}

// The approximation of M. Giles, Approximating the erfinv function, GPU Computing Gems, Jade edition, 2012.
inline float inverse_error_function(float x) {
    if (fabs(x) >= 1) return fabs(x) == 1 ? copysign(INFINITY, x) : NAN;
    float w = -log((1 - x) * (1 + x)), p;
    if (w < 5) {
        w -= 2.5f;
        p = 2.81022636e-08f;
        p = fma(p, w, 3.43273939e-07f);
        p = fma(p, w, -3.5233877e-06f);
        p = fma(p, w, -4.39150654e-06f);
        p = fma(p, w, 0.00021858087f);
        p = fma(p, w, -0.00125372503f);
        p = fma(p, w, -0.00417768164f);
        p = fma(p, w, 0.246640727f);
        p = fma(p, w, 1.50140941f);
    } else {
        w = sqrt(w) - 3;
        p = -0.000200214257f;
        p = fma(p, w, 0.000100950558f);
        p = fma(p, w, 0.00134934322f);
        p = fma(p, w, -0.00367342844f);
        p = fma(p, w, 0.00573950773f);
        p = fma(p, w, -0.0076224613f);
        p = fma(p, w, 0.00943887047f);
        p = fma(p, w, 1.00167406f);
        p = fma(p, w, 2.83297682f);
    }
    return p * x;
}
