package tape

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host"
)

// TestOwnersAreCalledWithoutLocks: memory of another owner that only a node has kept ends when the node does, or when a pass has spent it.
// The owner may then wait for another thread, and that for the node.
func TestOwnersAreCalledWithoutLocks(t *testing.T) {
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{Threads: 1})})
	require.NoError(t, err)
	for name, end := range map[string]func(n *runtime.Node){
		"release": (*runtime.Node).Release,
		"spend":   func(n *runtime.Node) { (&backward{pass: &Pass{}}).spend(n) },
	} {
		n := runtime.NewNode(nil, nil)
		n.Refs.Store(1)
		called := false
		memory := new([4]byte)
		x, err := rt.Import(dtype.Int8, shape.Contiguous(shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{4}}), unsafe.Pointer(memory), func() {
			called = true
			require.True(t, n.Mu.TryLock(), name)
			n.Mu.Unlock()
		})
		require.NoError(t, err)
		n.In = []runtime.NodeValue{{View: x.View}}
		n.In[0].View.Store.Retain()
		require.True(t, rt.Free(x.Handle()))
		require.False(t, called, name)
		end(n)
		require.True(t, called, name)
		require.Nil(t, n.In[0].View.Store)
	}
	require.NoError(t, rt.Close())
}
