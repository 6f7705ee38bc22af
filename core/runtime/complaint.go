package runtime

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// A kernel of a user's may report: it writes records to memory of its own, and what they say is an error, such as an
// assertion that did not hold. Unlike a failure of the device, it leaves tensors valid: the next wait returns the error,
// once, and calls that use the same tensors go on.

// complaint is what a kernel has reported, kept by the stream and by the tensors that the kernel may have written.
type complaint struct {
	err    *status.Error
	stream *Stream
}

// once is the error for the first caller that asks, the stream among them; nil for others.
func (c *complaint) once() error {
	if c == nil || !c.stream.unreported.CompareAndSwap(c.err, nil) {
		return nil
	}
	c.stream.reported.Store(c.err)
	return c.err
}

// complain asks a kernel that is done for its report.
func (l *launch) complain(failed error) {
	if l.check == nil {
		return
	}
	err := l.check(failed)
	if err == nil {
		return
	}
	c := &complaint{status.From(err), l.stream}
	l.stream.fail(c.err)
	for _, st := range l.stores[len(l.stores)-l.writes:] {
		st.complaint.Store(c)
	}
}

// RunReporting is Run for a kernel whose last argument is memory that it reports to: words of zeros, which are given to
// read when the call is done, on a goroutine of the stream. One that finds addresses has the table of those that are known
// to the program in front of it, and may read and write what is there.
func (k *Kernel) RunReporting(args []KernelArg, threads, group [3]uint64, words int, finds bool, read func([]uint32) error, on *Stream) error {
	rt := k.ctx.rt
	size, err := shape.Of(int64(words))
	if err != nil {
		return err
	}
	var more [2]*Tensor // the table and the words
	var reaches []*storage
	if finds {
		reaches = k.ctx.exposed.hold()
		defer releaseAll(reaches)
		if more[0], err = k.ctx.addressTable(reaches); err != nil {
			return err
		}
		args = append(args, KernelArg{Tensor: more[0]})
	}
	if more[1], err = rt.FromHost(k.ctx, dtype.Int32, size, make([]byte, 4*words)); err != nil {
		rt.freeAll(more[:])
		return err
	}
	memory := more[1].addr
	submitted, err := k.run(append(args, KernelArg{Tensor: more[1]}), threads, group, reaches, func(failed error) error {
		// Only now, because memory that is freed may be used again by what follows the call in the stream.
		defer rt.freeAll(more[:])
		if failed != nil {
			return nil
		}
		// SAFETY: the tensor is freed after this.
		return read(unsafe.Slice((*uint32)(memory), words))
	}, on)
	if !submitted {
		rt.freeAll(more[:])
	}
	return err
}
