package program

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
)

// counted is a program that counts how often it is closed.
type counted struct {
	device.Program
	closed int
}

func (p *counted) Close() error {
	p.closed++
	return nil
}

// TestTooLate stops a look-up where it has read the index and not taken its reference yet, and clears the
// cache meanwhile: the look-up fails, and the program is closed once. With a reference of another caller it
// stays open until that is released.
func TestTooLate(t *testing.T) {
	for name, other := range map[string]bool{"unused": false, "in use": true} {
		t.Run(name, func(t *testing.T) {
			c, p, k := New(Config{}), &counted{}, device.Key{Op: 1}
			e, err := c.Get(k, 0, func() (device.Program, error) { return p, nil })
			require.NoError(t, err)
			if !other {
				e.Release(0)
			}
			found := c.live.find(&k, c.hash(&k))
			require.Same(t, e, found)
			c.Clear()
			require.False(t, found.tryHold(1))
			if other {
				require.Zero(t, p.closed)
				require.False(t, found.tryHold(0))
				e.Release(0)
			}
			require.False(t, found.tryHold(0))
			require.Equal(t, 1, p.closed)
			got := c.Stats()
			require.Equal(t, [2]int64{0, 1}, [2]int64{got.Hits, got.Misses}, "it was no hit")
			require.Nil(t, c.Find(&k, 0))
		})
	}
}

// TestLateReferenceCloses stops a look-up between its reference and its look at the flag: eviction counts
// the reference and leaves the program open, and the look-up closes it when it takes the reference back.
func TestLateReferenceCloses(t *testing.T) {
	c, p, k := New(Config{}), &counted{}, device.Key{Op: 1}
	e, err := c.Get(k, 0, func() (device.Program, error) { return p, nil })
	require.NoError(t, err)
	e.Release(0)
	e.hold(1)
	c.Clear()
	require.Zero(t, p.closed)
	e.lanes[1].taken.Add(-1)
	require.False(t, e.tryHold(2))
	require.Equal(t, 1, p.closed)
}
