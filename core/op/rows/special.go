package rows

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Special functions: those of the gamma function's family, the inverse of erf, and modified Bessel functions. They are much
// alike, so that a row of them is what one differs in: the library would be some 700 bytes larger for each complete one.
//
// The host computes every one of them in float64. For float64 itself zeros between poles, where two terms of a reflection
// cancel, have an absolute error, which is added to the limit in units of the result.

const (
	// lgamma is reflected below 0: the logarithm of a sine less lgamma of the opposite.
	logarithmsCancel = "np.where(x < 0, 2.0**-50 * (1 + magnitude(x) * np.log1p(magnitude(x))) / ulp(out), 0)"
	// digamma is reflected below 0: a cotangent less a logarithm.
	cotangentCancels = "np.where(x < 0, 2.0**-49 * (1 + np.log1p(magnitude(x))) / ulp(out), 0)"
)

// special is what rows of this file differ in.
type special struct {
	id     op.ID
	name   string
	grad   op.Grad
	python *op.Python

	metal     float64 // units in the last place that float32 may be off on Metal; 0: there is no shader
	inFloat64 string  // see [Tolerance.Float64Also]
}

var specialRows = specials([]special{
	{130, "lgamma", op.Grad{Rule: gradLgamma, Reads: op.ReadsX}, &op.Python{Method: true, InPlace: true, Alias: []string{"gammaln"}}, 0, logarithmsCancel},
	{131, "digamma", op.Grad{Rule: gradDigamma, Reads: op.ReadsX}, inPlace, 0, cotangentCancels},
	{132, "erfinv", op.Grad{Rule: gradErfinv, Reads: op.ReadsOut}, inPlace, 16, ""},
	{133, "i0", op.Grad{Rule: gradI0, Reads: op.ReadsX}, inPlace, 40, ""},
	{134, "i0e", op.Grad{Rule: gradI0e, Reads: op.ReadsX | op.ReadsOut}, method, 24, ""},
	{135, "i1", op.Grad{Rule: gradI1, Reads: op.ReadsX | op.ReadsOut}, method, 40, ""},
	{136, "i1e", op.Grad{Rule: gradI1e, Reads: op.ReadsX | op.ReadsOut}, method, 24, ""},
})

// specials are complete rows. Zeros of the functions without a shader are the difference of two terms, which float32 has not
// enough digits for.
func specials(list []special) []op.Row {
	noShader := []op.Lack{{Device: "metal", DTypes: dtype.Floats &^ dtype.SetOf(dtype.Float64), Why: "it needs more digits than float32 has"}}
	rows := make([]op.Row, len(list))
	for i := range list {
		s := &list[i]
		rows[i] = op.Row{
			ID: s.id, Name: s.name, Kind: op.Unary, In: x, Grad: s.grad, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput},
			Tolerance: &op.Tolerance{Float32: 2, Float64: 8, Half: 1, Metal: s.metal, Float64Also: s.inFloat64},
			Python:    s.python,
		}
		if s.metal == 0 {
			rows[i].Lacks = noShader
		}
	}
	return rows
}
