package runtime

import (
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// exposable is a storage of a device with queues, over memory of its own.
func exposable() *Storage {
	memory := new([16]byte)
	// SAFETY: nothing is read.
	return &Storage{Context: new(Context), Base: unsafe.Pointer(memory), Size: int64(len(memory))}
}

// A caller who got an address may pass it to a kernel at once, also if another goroutine was about to list the storage.
func TestExposeReturnsWhenListed(t *testing.T) {
	st := exposable()
	x := &st.Context.exposed
	var returned atomic.Int32
	var all sync.WaitGroup
	x.mu.Lock()
	for range 4 {
		all.Go(func() {
			st.Expose()
			returned.Add(1)
		})
	}
	for range 1000 { // the goroutines go as far as they can
		goruntime.Gosched()
	}
	early := returned.Load()
	x.mu.Unlock()
	all.Wait()
	require.Zero(t, early, "an address was returned before its storage was listed")
	require.Equal(t, []*Storage{st}, x.all)
}

// A view whose holder has returned the address is dropped while another one is: the storage leaves the list with the last.
func TestExposeBesideDrop(t *testing.T) {
	for range 20_000 {
		st := exposable()
		st.Retain()
		var drops atomic.Int32
		var both sync.WaitGroup
		drop := func() {
			if st.dropView() {
				drops.Add(1)
			}
		}
		both.Go(drop)
		both.Go(func() {
			st.Expose()
			drop()
		})
		both.Wait()
		require.EqualValues(t, 1, drops.Load())
		require.Empty(t, st.Context.exposed.all, "a storage without views is listed")
	}
}

// A call that holds what is listed keeps storages whose last view is dropped meanwhile.
func TestHoldBesideDrop(t *testing.T) {
	a, b := exposable(), exposable()
	b.Context = a.Context
	x := &a.Context.exposed
	a.Expose()
	b.Expose()
	held := x.hold()
	require.ElementsMatch(t, []*Storage{a, b}, held)
	require.True(t, slices.IsSortedFunc(held, func(a, b *Storage) int { return int(int64(Address(a.Base) - Address(b.Base))) }))
	require.False(t, a.dropView())
	require.Len(t, x.all, 2)
	require.True(t, a.dropView(), "that of the call")
	require.Equal(t, []*Storage{b}, x.all)
	require.False(t, b.dropView())
	require.True(t, b.dropView())
	require.Empty(t, x.all)
}
