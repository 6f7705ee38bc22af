package runtime

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOwnersAreCalledWithoutLocks: memory of another owner that only a node has kept ends when the node does, or when a pass has spent it.
// The owner may then wait for another thread, and that for the node.
func TestOwnersAreCalledWithoutLocks(t *testing.T) {
	for name, end := range map[string]func(n *node){
		"release": (*node).release,
		"spend":   func(n *node) { (&backward{pass: &Pass{}}).spend(n) },
	} {
		n := newNode(nil, nil)
		n.refs.Store(1)
		called := false
		st := &storage{ctx: &Context{rt: &Runtime{}}, free: func() {
			called = true
			require.True(t, n.mu.TryLock(), name)
			n.mu.Unlock()
		}}
		n.in = []kept{{view: view{store: st}}}
		end(n)
		require.True(t, called, name)
		require.Nil(t, n.in[0].view.store)
	}
}
