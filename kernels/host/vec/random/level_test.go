package random

import (
	"testing"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// eachLevel runs f once at every level that this machine has.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	vectest.EachLevel(t, f, UseLevel)
}
