package rows

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Special functions: those of the gamma function's family, the inverse of erf, and modified Bessel functions. They are much
// alike, so that a row of them is what one differs in: the library would be some 700 bytes larger for each complete one.
//
// The host computes every one of them in float64.

// special is what rows of this file differ in.
type special struct {
	id     op.ID
	name   string
	grad   op.Grad
	python *op.Python

	noShader bool // it needs more digits than float32 has
}

var specialRows = specials([]special{
	{130, "lgamma", op.Grad{Rule: gradLgamma, Reads: op.ReadsX}, &op.Python{Method: true, InPlace: true, Alias: []string{"gammaln"}}, true},
	{131, "digamma", op.Grad{Rule: gradDigamma, Reads: op.ReadsX}, inPlace, true},
	{132, "erfinv", op.Grad{Rule: gradErfinv, Reads: op.ReadsOut}, inPlace, false},
	{133, "i0", op.Grad{Rule: gradI0, Reads: op.ReadsX}, inPlace, false},
	{134, "i0e", op.Grad{Rule: gradI0e, Reads: op.ReadsX | op.ReadsOut}, method, false},
	{135, "i1", op.Grad{Rule: gradI1, Reads: op.ReadsX | op.ReadsOut}, method, false},
	{136, "i1e", op.Grad{Rule: gradI1e, Reads: op.ReadsX | op.ReadsOut}, method, false},
})

// specials are complete rows. Zeros of the functions without a shader are the difference of two terms, which float32 has not
// enough digits for.
func specials(list []special) []op.Row {
	lacks := []op.Lack{{Device: "metal", DTypes: dtype.Floats &^ dtype.SetOf(dtype.Float64), Why: "it needs more digits than float32 has"}}
	rows := make([]op.Row, len(list))
	for i := range list {
		s := &list[i]
		rows[i] = op.Row{
			ID: s.id, Name: s.name, Kind: op.Unary, In: x, Grad: s.grad, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput},
			Python: s.python,
		}
		if s.noShader {
			rows[i].Lacks = lacks
		}
	}
	return rows
}
