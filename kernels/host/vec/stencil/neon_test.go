//go:build arm64 && cgo && !race

package stencil

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
)

// The loops in C are called here for rows of any length, also those that tables leave to portable loops, on operands that end
// in front of a page that may not be touched, or begin behind one. Portable loops tell what is right, to the bit.

// TestTapsInC compares the fields of both types.
func TestTapsInC(t *testing.T) {
	require.Equal(t, unsafe.Sizeof(Tap{}), unsafe.Sizeof(neon.Tap{}))
	require.Equal(t, unsafe.Offsetof(Tap{}.Number), unsafe.Offsetof(neon.Tap{}.Number))
	require.Equal(t, []neon.Tap{{Offset: 3, Number: 4}}, tapsInC([]Tap{{Offset: 3, Number: 4}}))
}
