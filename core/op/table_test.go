package op

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A number above 255 needs no change elsewhere: the table of rows by number grows with it.
func TestNumbersMayBeLarge(t *testing.T) {
	rows := index([]Row{{ID: 1, Name: "first"}, {ID: 300, Name: "middle"}, {ID: 60000, Name: "last"}})
	require.Len(t, rows, 60001)
	require.Equal(t, "middle", rows[300].Name)
	require.Equal(t, "last", rows[60000].Name)
	require.Nil(t, rows[299])
	require.Empty(t, index(nil))
}
