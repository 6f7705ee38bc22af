package metal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
)

// TestFull holds a stream up: it says that it is full while there is still room for a batch, takes events
// all the same, and has room again when its work has ended.
func TestFull(t *testing.T) {
	r := newRig(t, Config{})
	p, c := r.sum(8)
	s := r.stream
	require.Implements(t, (*device.Bounded)(nil), s)
	gate := foreignEvent{make(chan struct{})}
	s.Wait(gate)
	for range (mostInFlight - 2) * mostDispatches {
		s.Run(p, c)
	}
	require.False(t, s.Full())
	for range mostDispatches {
		s.Run(p, c)
	}
	require.True(t, s.Full())
	for range mostDispatches - 1 {
		s.Run(p, c) // does not wait
	}

	first, second := &event{}, &event{}
	t1 := s.Record(first)
	t2 := s.Record(second)
	require.Greater(t, t2, t1)
	require.False(t, first.Done() || second.Done())
	other := r.newStream()
	defer other.Close()
	other.Wait(second)
	last := other.Run(p, c)

	close(gate.passed)
	other.Sync(last)
	require.True(t, first.Done() && second.Done())
	s.Sync(t2)
	require.False(t, s.Full())
}

// TestRecordsThatCross has two full streams wait for each other's events in turn: none may come to wait
// for an event that was recorded after its own.
func TestRecordsThatCross(t *testing.T) {
	r := newRig(t, Config{})
	other := r.newStream()
	defer other.Close()
	p, c := r.sum(8)
	gates := [2]foreignEvent{{make(chan struct{})}, {make(chan struct{})}}
	streams, calls := [2]*stream{r.stream, other}, [2]*device.Call{c, r.aside(c)}
	for i, s := range streams {
		s.Wait(gates[i])
		for range (mostInFlight - 1) * mostDispatches {
			s.Run(p, calls[i])
		}
		require.True(t, s.Full())
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i := range 8 {
			e := &event{}
			streams[i%2].Record(e)
			streams[1-i%2].Wait(e)
			streams[1-i%2].Run(p, calls[1-i%2])
		}
	}()
	close(gates[0].passed)
	close(gates[1].passed)
	<-ended
	for _, s := range streams {
		s.Sync(s.submitted)
	}
	require.Zero(t, fakemetal.Count(t, "early_waits"))
}
