package describe

// Descriptions of the rows of core/op/rows/special.go.

func describedSpecial() []Description {
	return []Description{
		{Name: "lgamma", NumPy: "lgamma(x)", Doc: "Logarithm of |gamma(x)|; inf at 0 and at negative integers."},
		{Name: "digamma", NumPy: "digamma(x)", Doc: "Derivative of the logarithm of gamma(x); nan at negative integers."},
		{Name: "erfinv", NumPy: "erfinv(x)", Doc: "Inverse of the error function; nan where |x| > 1."},
		{Name: "i0", NumPy: "bessel(0, x)", Doc: "Modified Bessel function of the first kind of order 0."},
		{Name: "i0e", NumPy: "scaled_bessel(0, x)", Doc: "exp(-|x|) * i0(x)."},
		{Name: "i1", NumPy: "bessel(1, x)", Doc: "Modified Bessel function of the first kind of order 1."},
		{Name: "i1e", NumPy: "scaled_bessel(1, x)", Doc: "exp(-|x|) * i1(x)."},
	}
}
