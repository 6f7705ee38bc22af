package describe

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
)

// A tolerance adds the roundings of its terms to the units of the result.
func TestTolerance(t *testing.T) {
	said := &Tolerance{Float32: 2, Float64: 4, Half: 1, Metal: 10, Roundings: Roundings{Once: 1, Level: 2, Term: 3, Metal: 5}}
	require.Equal(t, []float64{2, 10, 4, 1, 1}, []float64{
		said.ULPs(dtype.Float32, false), said.ULPs(dtype.Float32, true), said.ULPs(dtype.Float64, false), said.ULPs(dtype.Float16, true), said.ULPs(dtype.BFloat16, false),
	})
	require.InDelta(t, 1+2*3+3*8, said.Roundings.Count(8, false), 0)
	require.InDelta(t, 5+2*3+3*8, said.Roundings.Count(8, true), 0)
	require.InDelta(t, 1, Roundings{Once: 1, Level: 9}.Count(0, false), 0)
}
