package shaders_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
	"github.com/paddle-mps/paddle-mps/kernels/metal/metaltest"
)

// TestMain has the mock of Metal end the process for what a kernel does wrong, so that no test overlooks it. Pipelines
// take no more threads than those of a kernel that needs all registers. Two threads that use the same threadgroup memory
// with no barrier between are such a mistake too.
func TestMain(m *testing.M) {
	os.Setenv("FAKEMETAL_STRICT", "1")
	os.Setenv("FAKEMETAL_GROUP", "384")
	os.Setenv("FAKEMETAL_RACES", "1")
	os.Exit(m.Run())
}

// bench is a device that prefers shaders.
type bench struct{ *metaltest.Bench }

// open opens the device; work lingers until a call waits for it.
func open(t testing.TB) bench {
	d, err := metal.Open(metal.Config{Library: fakemetal.Library(t), Linger: -1})
	require.NoError(t, err)
	return bench{metaltest.New(t, d, d.Device, metal.PreferShaders)}
}

// on is the bench for a part of a test.
func (b bench) on(t testing.TB) bench { return bench{b.For(t)} }
