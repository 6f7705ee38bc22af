#ifndef PMPS_DARWIN_MATH_H
#define PMPS_DARWIN_MATH_H

#define HUGE_VAL __builtin_huge_val()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define M_PI 3.14159265358979323846

#define isfinite(x) __builtin_isfinite(x)
#define isinf(x) __builtin_isinf(x)
#define isnan(x) __builtin_isnan(x)
#define signbit(x) (__builtin_copysign(1.0, (double)(x)) < 0)

double acos(double x);
double acosh(double x);
double asin(double x);
double asinh(double x);
double atan(double x);
double atanh(double x);
double cbrt(double x);
double ceil(double x);
double cos(double x);
double cosh(double x);
double erf(double x);
double erfc(double x);
double exp(double x);
double exp2(double x);
double expm1(double x);
double fabs(double x);
double floor(double x);
double log(double x);
double log10(double x);
double log1p(double x);
double log2(double x);
double nearbyint(double x);
double rint(double x);
double round(double x);
double sin(double x);
double sinh(double x);
double sqrt(double x);
double tan(double x);
double tanh(double x);
double trunc(double x);
double atan2(double x, double y);
double copysign(double x, double y);
double fmax(double x, double y);
double fmin(double x, double y);
double fmod(double x, double y);
double hypot(double x, double y);
double nextafter(double x, double y);
double pow(double x, double y);
double remainder(double x, double y);
double fma(double x, double y, double z);
double frexp(double x, int *exponent);
double ldexp(double x, int exponent);
double modf(double x, double *whole);
double scalbn(double x, int exponent);
float fabsf(float x);
float sqrtf(float x);
float truncf(float x);
float nextafterf(float x, float y);
float ldexpf(float x, int exponent);

#endif
