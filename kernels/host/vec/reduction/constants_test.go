//go:build goexperiment.simd && amd64 && !race

package reduction

import (
	"testing"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// TestConstantsAreAligned fails if a vector load of a constant crosses a line of the cache.
func TestConstantsAreAligned(t *testing.T) { vectest.RequireAligned(t, consts) }

func TestLoopsLoadAlignedConstants(t *testing.T) { vectest.RequireLoadsOfConstants(t, 5) }
