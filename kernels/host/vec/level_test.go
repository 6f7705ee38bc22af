package vec

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFastestLevelIsActive(t *testing.T) {
	all := Levels()
	require.Equal(t, Portable, all[0])
	require.Equal(t, all[len(all)-1], Active())
}
