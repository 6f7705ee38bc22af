package graphs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
)

// The first guard that refuses is what a graph fails with, and nothing is sent after it.
func TestGuardsAreSticky(t *testing.T) {
	b := &builder{}
	x := tensor{id: 1, dtype: dtype.Float32, dims: []int64{2, 3}}
	b.reshape(x, 7)
	require.Equal(t, status.Internal, status.CodeOf(b.err))
	first := b.err
	for _, send := range []func() tensor{
		func() tensor { return b.reshape(x, 3, 2) },
		func() tensor { return b.broadcast(x, 2, 2, 3) },
		func() tensor { return b.cast(x, dtype.Float64) },
		func() tensor { return b.concat(0, x, x) },
		func() tensor { return b.slice(x, 5, 0, 9) },
		func() tensor { return b.transpose(x, []int64{4, 5}) },
		func() tensor { return b.fit(x, []int64{1, 2, 3, 4}) },
		func() tensor { return b.number(1, dtype.Int8) },
	} {
		send()
		require.Same(t, first, b.err)
	}
}

// TestQuarantine names a source for each row, and each is where it says.
func TestQuarantine(t *testing.T) {
	matrix, err := shape.Of(2, 1<<15+1)
	require.NoError(t, err)
	long := device.Operand{DType: dtype.Float32, Layout: shape.Contiguous(matrix)}
	calls := map[op.ID]*device.Call{op.IDMatmul: {In: []device.Operand{long, long}}}
	for _, s := range quarantine {
		require.NotEmpty(t, s.why)
		require.Regexp(t, `^https://`, s.link)
		if s.until == "" {
			continue // see TestQuarantineOfReports
		}
		c := calls[s.op]
		if c == nil {
			c = &device.Call{In: []device.Operand{{DType: s.dtypes.Members()[0]}}}
		}
		c.Op = s.op
		require.True(t, s.covers(c, 7, objc.Version{Major: 13}), "%s", op.ByID(s.op).Name)
		require.False(t, s.covers(c, 7, objc.Version{Major: 15}), "%s", op.ByID(s.op).Name)
		c.Op = op.MustByName("add").ID
		require.False(t, s.covers(c, 7, objc.Version{Major: 13}), "%s", op.ByID(s.op).Name)
	}
}
