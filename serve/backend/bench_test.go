//go:build !race

// With the race detector pools of memory forget some of what they are given, so that runs allocate.

package backend

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// identity is an instance of a model that copies, and a request of 64 bytes for it, which the server has put at any address.
func identity(t testing.TB) (*Instance, []Request) {
	m, err := loaded(t, newRuntime(t), unary("Identity"), `{"max_batch_size":4,"input":`+
		`[{"name":"x","data_type":"TYPE_FP32","dims":[-1]}],"output":[{"name":"y","data_type":"TYPE_FP32","dims":[-1]}]}`)
	require.NoError(t, err)
	i, err := m.Instance(OnCPU)
	require.NoError(t, err)
	t.Cleanup(i.Close)
	in := given([]int64{1, 16}, make([]float32, 16)...)
	in.Pieces[0] = append(make([]byte, 4, 68), in.Pieces[0]...)[4:]
	return i, []Request{{Inputs: []Input{in}, Outputs: []Output{{Wanted: true}}}}
}

// TestARunAllocatesNothing: garbage of small requests would start the collector several times a second.
func TestARunAllocatesNothing(t *testing.T) {
	i, requests := identity(t)
	require.Zero(t, testing.AllocsPerRun(1000, func() { i.Run(requests) }))
	require.NoError(t, requests[0].Err)
}

// BenchmarkIdentity is what an execution of one small request costs in Go.
func BenchmarkIdentity(b *testing.B) {
	i, requests := identity(b)
	for b.Loop() {
		i.Run(requests)
	}
	require.NoError(b, requests[0].Err)
}
