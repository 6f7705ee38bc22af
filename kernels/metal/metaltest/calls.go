package metaltest

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Mixed values: small numbers of both signs, with ties, fractions and some NaN among floats.
func Mixed(d dtype.DType) func(i int64) float64 {
	return func(i int64) float64 {
		v := float64((i*7919+3)%23) - 9
		if d.IsFloat() {
			v /= 4
			if i%101 == 50 {
				return math.NaN()
			}
		}
		return v
	}
}

// Steady values: eighths from -1 to almost 2, whose sums are exact in float32.
func Steady(i int64) float64 { return float64((i*7919+3)%23)/8 - 1 }

// Single is a call of an operator as a plan of one step.
func Single(row *op.Row, c *device.Call) *device.Plan {
	c.Op = row.ID
	return device.PlanOf(c)
}

// ValuesFor are such as an operator's operand takes: the domain of the input, with what tells reductions to
// bool apart.
func ValuesFor(row *op.Row, operand int, d dtype.DType) func(i int64) float64 {
	switch domain := row.In[operand].Domain; {
	case domain == op.Divisor && !d.IsFloat():
		return func(i int64) float64 { return []float64{1, 3, -1, -4, 7}[i%5] }
	case domain == op.Exponent:
		return func(i int64) float64 { return float64(i%7) - 2 }
	case domain == op.Ordinary:
		return Steady
	case row.Kind == op.Reduce && ResultOf(row, d) == dtype.Bool && domain == op.Unrestricted:
		return func(i int64) float64 { return float64(i * i % 3 % 2) }
	}
	return Mixed(d)
}

// InputType is the dtype of an operand of an operator that computes in d.
func InputType(row *op.Row, operand int, d dtype.DType) dtype.DType {
	if row.In[operand].Domain == op.Condition {
		return dtype.Bool
	}
	return d
}

// ResultOf is the dtype of a result that is computed in d; d where the operator would cast first.
func ResultOf(row *op.Row, d dtype.DType) dtype.DType {
	one := shape.Shape{Rank: 1}
	one.Dims[0] = 1
	var c op.Inference
	c.Reset(row, Attributes(row, d))
	for i := range row.In {
		c.In = append(c.In, op.Arg{Type: op.Type{DType: InputType(row, i, d), Shape: one}})
	}
	if c.Infer() != nil || c.Cast[0] != c.In[0].DType {
		return d
	}
	return c.Out[0].DType
}

// Attributes are a row's defaults, and a dtype where one is needed.
func Attributes(row *op.Row, d dtype.DType) op.Attrs {
	at := make(op.Attrs, len(row.Attrs))
	for i := range row.Attrs {
		at[i] = row.Attrs[i].Default
		if row.Attrs[i].Type == op.DTypeAttr && row.Attrs[i].Needed {
			at[i] = op.Value{Kind: op.DType, I: int64(d)}
		}
	}
	return at
}
