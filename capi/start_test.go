package main

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTimeout(t *testing.T) {
	require.Equal(t, 5*time.Millisecond, timeout(5))
	require.Positive(t, timeout(math.MaxInt64))
	require.Greater(t, timeout(math.MaxInt64), 200*365*24*time.Hour)
}
