//go:build invariants

package slot

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func makes(t *Table[int]) uint64 {
	h, _ := t.New()
	return h
}

func frees(t *Table[int], h uint64) bool { return t.Free(h) }

func TestHistories(t *testing.T) {
	table := NewTable(1, func(v *int) { *v = 0 })
	require.Empty(t, table.History(7))
	h := makes(table)
	require.Contains(t, table.History(h), "slot.makes")
	require.NotContains(t, table.History(h), "freed at")
	require.Contains(t, table.Leaks(), "slot.makes")
	require.True(t, frees(table, h))
	require.Contains(t, table.History(h), "slot.makes")
	require.Contains(t, table.History(h), "slot.frees")
	require.False(t, frees(table, h), "a second free")
	require.Empty(t, table.Leaks())
	again := makes(table)
	require.NotEqual(t, h, again)
	require.Contains(t, table.History(h), "slot.frees", "the record serves another handle, the history is that of the old one's")
}
