package op

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
)

// TestViewsHaveAliases fails where a view whose result shares memory could not be written into in a traced function.
func TestViewsHaveAliases(t *testing.T) {
	for i := range Table {
		row := &Table[i]
		shares := row.Kind == View && !row.Fresh
		require.Equal(t, shares, row.Alias.Write != nil, row.Name)
		require.False(t, row.Alias.From != nil && row.Alias.Read == nil, "%s views memory; want a rule that reads it", row.Name)
	}
}

// TestParts checks the attributes of calls on the parts of complex tensors, and that no call but linear ones has any.
func TestParts(t *testing.T) {
	ints := func(list ...int64) Value { return Value{Kind: Ints, Ints: list} }
	sum := Attrs{SumAxis: ints(-1), SumDtype: {}, SumKeepdim: {Kind: Bool, I: 1}}
	at, ok := byID[IDSum].Parts(sum, 3)
	require.True(t, ok)
	require.Equal(t, Attrs{SumAxis: ints(2), SumDtype: {}, SumKeepdim: {Kind: Bool, I: 1}}, at)
	require.Equal(t, ints(-1), sum[SumAxis], "the caller's attributes stay")
	at, _ = byID[IDSum].Parts(Attrs{SumAxis: {}, SumDtype: {}, SumKeepdim: {Kind: Bool}}, 2)
	require.Equal(t, ints(0, 1), at[SumAxis], "all axes but that of the parts")
	_, ok = byID[IDSum].Parts(Attrs{SumAxis: {}, SumDtype: {}, SumKeepdim: {Kind: Bool}}, 0)
	require.False(t, ok, "no axis means all, also that of the parts")

	at, ok = byID[IDSpread].Parts(Attrs{SpreadShape: ints(2, 3), SpreadAxes: ints(0), SpreadStarts: ints(0), SpreadEnds: ints(1), SpreadSteps: {}}, 2)
	require.True(t, ok)
	require.Equal(t, ints(2, 3, 2), at[SpreadShape])
	spread := Attrs{SpreadShape: ints(2, 3), SpreadAxes: ints(-1, 0), SpreadStarts: ints(0, 1), SpreadEnds: ints(1, 2), SpreadSteps: {}}
	at, _ = byID[IDSpread].Parts(spread, 2)
	require.Equal(t, ints(1, 0), at[SpreadAxes], "the last axis is that of the parts now")
	require.Equal(t, ints(-1, 0), spread[SpreadAxes], "the caller's attributes stay")
	for i, fold := range Folds {
		_, ok = byID[IDIndexReduce].Parts(Attrs{{Kind: String, Ref: fold}}, 1)
		require.Equal(t, i == 0, ok, fold)
	}
	for i := range Table {
		row := &Table[i]
		require.False(t, row.Parts != nil && row.Grad.Rule == nil, "%s: the call could not be recorded", row.Name)
	}
	require.Equal(t, dtype.Float32, dtype.Complex64.Part())
}
