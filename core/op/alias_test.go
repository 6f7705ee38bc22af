package op_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// TestViewsHaveAliases fails where a view whose result shares memory could not be written into in a traced function.
func TestViewsHaveAliases(t *testing.T) {
	for i := range op.Table {
		row := &op.Table[i]
		shares := row.Kind == op.View && !row.Fresh
		require.Equal(t, shares, row.Alias.Write != nil, row.Name)
		require.False(t, row.Alias.From != nil && row.Alias.Read == nil, "%s views memory; want a rule that reads it", row.Name)
	}
}

// TestParts checks the attributes of calls on the parts of complex tensors, and that no call but linear ones has any.
func TestParts(t *testing.T) {
	ints := func(list ...int64) op.Value { return op.Value{Kind: op.Ints, Ints: list} }
	sum := op.Attrs{op.SumAxis: ints(-1), op.SumDtype: {}, op.SumKeepdim: {Kind: op.Bool, I: 1}}
	at, ok := op.ByID(op.IDSum).Parts(sum, 3)
	require.True(t, ok)
	require.Equal(t, op.Attrs{op.SumAxis: ints(2), op.SumDtype: {}, op.SumKeepdim: {Kind: op.Bool, I: 1}}, at)
	require.Equal(t, ints(-1), sum[op.SumAxis], "the caller's attributes stay")
	at, _ = op.ByID(op.IDSum).Parts(op.Attrs{op.SumAxis: {}, op.SumDtype: {}, op.SumKeepdim: {Kind: op.Bool}}, 2)
	require.Equal(t, ints(0, 1), at[op.SumAxis], "all axes but that of the parts")
	_, ok = op.ByID(op.IDSum).Parts(op.Attrs{op.SumAxis: {}, op.SumDtype: {}, op.SumKeepdim: {Kind: op.Bool}}, 0)
	require.False(t, ok, "no axis means all, also that of the parts")

	at, ok = op.ByID(op.IDSpread).Parts(op.Attrs{op.SpreadShape: ints(2, 3), op.SpreadAxes: ints(0), op.SpreadStarts: ints(0), op.SpreadEnds: ints(1), op.SpreadSteps: {}}, 2)
	require.True(t, ok)
	require.Equal(t, ints(2, 3, 2), at[op.SpreadShape])
	spread := op.Attrs{op.SpreadShape: ints(2, 3), op.SpreadAxes: ints(-1, 0), op.SpreadStarts: ints(0, 1), op.SpreadEnds: ints(1, 2), op.SpreadSteps: {}}
	at, _ = op.ByID(op.IDSpread).Parts(spread, 2)
	require.Equal(t, ints(1, 0), at[op.SpreadAxes], "the last axis is that of the parts now")
	require.Equal(t, ints(-1, 0), spread[op.SpreadAxes], "the caller's attributes stay")
	for i, fold := range op.Folds {
		_, ok = op.ByID(op.IDIndexReduce).Parts(op.Attrs{{Kind: op.String, Ref: fold}}, 1)
		require.Equal(t, i == 0, ok, fold)
	}
	for i := range op.Table {
		row := &op.Table[i]
		require.False(t, row.Parts != nil && row.Grad.Rule == nil, "%s: the call could not be recorded", row.Name)
	}
	require.Equal(t, dtype.Float32, dtype.Complex64.Part())
}
