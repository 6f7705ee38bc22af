package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/holdings"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// tagged is a hook of a caller.
func tagged(caller, number uint64) *runtime.Hook {
	return &runtime.Hook{
		See: func(*runtime.Tensor) (*runtime.Tensor, error) { return nil, nil },
		Tag: runtime.Tag{Caller: caller, Number: number},
	}
}

// reached are the functions that an owner holds.
func reached(h *holdings.Holdings, owner int) map[uint64]bool {
	found, seen := map[uint64]bool{}, map[int]bool{}
	var walk func(group int)
	walk = func(group int) {
		if group < 0 || seen[group] {
			return
		}
		seen[group] = true
		for _, n := range h.Groups[group].Numbers {
			found[n] = true
		}
		for _, g := range h.Groups[group].Of {
			walk(g)
		}
	}
	walk(h.Owners[owner])
	return found
}

// TestHeld: tensors hold the functions of what they were computed from, and nothing is said of those that others hold too.
func TestHeld(t *testing.T) {
	w := newWorld(t)
	x := w.leaf(w.cpu, 1, 2)
	y := w.record("multiply", of(x, x))
	z := w.record("exp", of(y))
	u := w.record("exp", of(x))
	both := w.record("multiply", of(z, u))
	for hooked, number := range map[*runtime.Tensor]uint64{x: 1, y: 2, u: 3} {
		_, err := hooked.AddHook(tagged(7, number))
		require.NoError(t, err)
	}
	_, err := z.AddHook(tagged(8, 9)) // of another caller
	require.NoError(t, err)
	handles := []uint64{x.Handle(), y.Handle(), z.Handle(), u.Handle(), both.Handle()}
	set := func(numbers ...uint64) map[uint64]bool {
		m := map[uint64]bool{}
		for _, n := range numbers {
			m[n] = true
		}
		return m
	}

	h := holdings.Of(w.rt, 7, handles, nil)
	for i, want := range []map[uint64]bool{set(1), set(1, 2), set(1, 2), set(1, 3), set(1, 2, 3)} {
		require.Equal(t, want, reached(h, i), "owner %d", i)
	}
	require.Len(t, h.Groups, 4, "the node of z is that of y to those who hold it")
	require.True(t, runtime.Unchanged())

	h = holdings.Of(w.rt, 7, handles[:4], nil) // someone else has the last tensor, and by it all functions
	for i := range 4 {
		require.Empty(t, reached(h, i), "owner %d", i)
	}
	w.free(both)
	h = holdings.Of(w.rt, 7, []uint64{handles[0], handles[1], handles[2], handles[4]}, nil) // it is gone; u is held outside
	require.Equal(t, set(2), reached(h, 1))
	require.Equal(t, set(2), reached(h, 2))
	require.Empty(t, reached(h, 0), "u leads to x")

	require.True(t, runtime.Unchanged())
	w.free(w.record("exp", of(z)))
	require.False(t, runtime.Unchanged())
	runtime.Unwatch()
	w.free(x, y, z, u)
}

// TestWeak: a weak handle does not keep a history, and has it while something else does.
func TestWeak(t *testing.T) {
	w := newWorld(t)
	x := w.leaf(w.cpu, 1, 2)
	y := w.record("exp", of(x))
	closed := 0
	hook := tagged(7, 1)
	hook.Close = func() { closed++ }
	_, err := y.AddHook(hook)
	require.NoError(t, err)
	weak, err := y.Weak()
	require.NoError(t, err)
	require.False(t, weak.Asks())
	same, err := weak.Same()
	require.NoError(t, err)
	require.True(t, same.Asks())
	require.False(t, same.IsLeaf())
	w.free(y)
	require.Zero(t, closed)
	w.free(same)
	require.Equal(t, 1, closed)
	same, err = weak.Same()
	require.NoError(t, err)
	require.False(t, same.Asks())
	w.free(x, weak, same)
}
