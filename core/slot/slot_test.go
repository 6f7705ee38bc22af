package slot

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHandleLife(t *testing.T) {
	dropped := 0
	table := NewTable(3, func(v *int) { dropped++; *v = 0 })
	h, v := table.New()
	*v = 42
	require.NotZero(t, h)
	require.Equal(t, 42, *table.Pin(h))

	require.True(t, table.Free(h), "a pinned record loses its handle at once")
	require.Nil(t, table.Pin(h))
	require.False(t, table.Free(h))
	require.Zero(t, dropped, "but stays until the last pin")
	table.Unpin(h)
	require.Equal(t, 1, dropped)
	require.Zero(t, table.Live())

	again, _ := table.New()
	require.NotEqual(t, h, again, "the record is recycled under another generation")
	require.Equal(t, h&(1<<28-1), again&(1<<28-1))
	require.Nil(t, table.Pin(h))
}

func TestForeignHandles(t *testing.T) {
	table, other := NewTable(1, func(*int) {}), NewTable(2, func(*int) {})
	h, _ := table.New()
	for _, bad := range []uint64{0, 1, 1 << 60, ^uint64(0), h + 1, h ^ 1<<28, h ^ 1<<59} {
		require.Nil(t, table.Pin(bad), "%#x", bad)
		require.False(t, table.Free(bad), "%#x", bad)
	}
	require.Nil(t, other.Pin(h))
}

// Sixteen goroutines make, share, pin and free handles; a record must never be seen half dropped.
func TestHammer(t *testing.T) {
	table := NewTable(1, func(v *[2]int) { v[0], v[1] = 0, 0 })
	shared := make(chan uint64, 64)
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 2000 {
				h, v := table.New()
				v[0], v[1] = g*10000+i+1, g*10000+i+1
				select {
				case shared <- h:
				default:
					table.Free(h)
				}
				select {
				case h := <-shared:
					if v := table.Pin(h); v != nil {
						if v[0] != v[1] || v[0] == 0 {
							t.Errorf("pinned a dropped record: %v", *v)
						}
						table.Unpin(h)
					}
					table.Free(h)
				default:
				}
			}
		})
	}
	wg.Wait()
	close(shared)
	for h := range shared {
		table.Free(h)
	}
	require.Zero(t, table.Live())
}

func BenchmarkNewPinFree(b *testing.B) {
	table := NewTable(1, func(*int) {})
	for b.Loop() {
		h, _ := table.New()
		table.Pin(h)
		table.Unpin(h)
		table.Free(h)
	}
}
