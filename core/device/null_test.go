package device

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/status"
)

type ended struct {
	ready error
	calls int
	err   error
}

func (o *ended) Ready() error { return o.ready }

func (o *ended) Done(err error) { o.calls, o.err = o.calls+1, err }

func TestNullCountsAndFails(t *testing.T) {
	d := &Null{FailHeap: 2, FailCompile: 1, FailRun: 3}
	h, err := d.NewHeap(100)
	require.NoError(t, err)
	require.Len(t, h.Bytes(), 100)
	_, err = d.NewHeap(100)
	require.Equal(t, status.OutOfMemory, status.CodeOf(err))
	require.EqualValues(t, 1, d.OpenHeaps.Load())
	require.NoError(t, h.Close())
	require.Zero(t, d.OpenHeaps.Load())
	require.EqualValues(t, 2, d.Heaps.Load())

	_, err = d.Compile(nil)
	require.Equal(t, status.Unsupported, status.CodeOf(err))
	p, err := d.Compile(nil)
	require.NoError(t, err)

	s, err := d.NewStream()
	require.NoError(t, err)
	for i, want := range []status.Code{status.OK, status.OK, status.Device, status.OK} {
		o := &ended{}
		c := &Call{Owner: o}
		ticket := Ticket(0)
		if i%2 == 0 {
			ticket = s.Run(p, c)
		} else {
			ticket = s.Copy(c)
		}
		require.EqualValues(t, i+1, ticket)
		require.Equal(t, ticket, s.Done())
		require.Equal(t, 1, o.calls)
		require.Equal(t, want, status.CodeOf(o.err))
	}
	lost := &ended{ready: status.Errorf(status.Math, "[add] lost")}
	s.Run(p, &Call{Owner: lost})
	require.Equal(t, lost.ready, lost.err)
	require.EqualValues(t, 3, d.Runs.Load())
	require.EqualValues(t, 2, d.Copies.Load())
}
