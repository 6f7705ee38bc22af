package status

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCodes(t *testing.T) {
	err := Errorf(Type, "[add] got %s; want %s", "int32", "float32")
	require.EqualError(t, err, "[add] got int32; want float32")
	require.Equal(t, Type, CodeOf(fmt.Errorf("wrapped: %w", err)))
	require.Equal(t, Internal, CodeOf(errors.New("plain")))
	require.Equal(t, OK, CodeOf(nil))
	require.Nil(t, From(nil))
	for c := OK; int(c) < len(names); c++ {
		require.NotContains(t, c.String(), "CODE_")
	}
	require.Equal(t, "CODE_99", Code(99).String())
}

// Lists are written as callers write them, and counts as people read them.
func TestErrorfWords(t *testing.T) {
	err := Errorf(Invalid, "[try] got %v and %v of %s; want %s", []int64{4, 2}, []int{}, Count(1, "index", "indices"), Count(2, "index", "indices"))
	require.EqualError(t, err, "[try] got [4, 2] and [] of 1 index; want 2 indices")
}
