package rows

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Windows of signals. Their numbers follow from attributes, in double precision.

// mostNumbers is the largest number of elements of a window.
const mostNumbers = 1 << 24

var signalRows = []op.Row{
	{
		ID: 509, Name: "general_cosine", Kind: op.Create, Accepts: bitExact, Infer: op.Rules{toAttr, windowSize}, Lower: lowerCosines, Python: internal,
		Attrs: []op.Attr{
			{Name: "size", Type: op.IntAttr, Needed: true, Doc: "number of elements"},
			{Name: "coefficients", Type: op.FloatsAttr, Needed: true, Doc: "of the cosines, that of frequency 0 first: 0.5, 0.5 for a Hann window, 0.54, 0.46 for a Hamming window, 0.42, 0.5, 0.08 for a Blackman window"},
			{Name: "periodic", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool, I: 1}, Doc: "whether the last element is the one before the first of the next period, and not equal to the first"},
			outDType,
		},
	},
}

// windowSize is the rule of general_cosine.
func windowSize(c *op.Inference) error {
	n := c.Attrs[op.GeneralCosineSize].I
	if n < 0 || n > mostNumbers {
		return status.Errorf(status.Invalid, "[%s] the size is %d; want 0 to %d", c.Row.Name, n, mostNumbers)
	}
	c.Out[0].Shape = shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{n}}
	return nil
}

// lowerCosines lists the sums of cosines, whose signs alternate.
func lowerCosines(e op.Emitter, s *op.Step) error {
	list := make([]float64, s.Out[0].Numel())
	span := float64(len(list))
	if s.Attrs[op.GeneralCosinePeriodic].I == 0 {
		span--
	}
	for i := range list {
		sign := 1.0
		for k, factor := range s.Attrs[op.GeneralCosineCoefficients].Floats() {
			list[i] += sign * factor * math.Cos(float64(k)*(2*math.Pi*float64(i)/span))
			sign = -sign
		}
	}
	return e.Emit(&op.Step{Row: op.ByID(op.IDNumberLine), Out: s.Out, Attrs: op.Attrs{
		op.NumberLineValues: {Kind: op.Floats, Ref: list},
		op.NumberLineDtype:  s.Attrs[op.GeneralCosineDtype],
	}})
}
