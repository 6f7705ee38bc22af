package metal

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// When a command buffer is committed: after so many dispatches, so that the GPU has work soon and the
// price of a commit is shared, or after so many bytes, so that none runs for long.
const (
	mostDispatches = 40
	mostBytes      = 40 << 20
)

// batch is a command buffer with the calls in it. The stream's lock is held by whoever fills it; once it
// is committed it belongs to the stream's goroutine.
type batch struct {
	stream   *stream
	buffer   mtl.CommandBuffer   // retained; nil until something has to be said to the GPU
	before   []mtl.CommandBuffer // which MPSGraph has committed on the way, retained
	encoder  mtl.ComputeCommandEncoder
	pipeline mtl.ComputePipelineState // that the encoder has been told of
	host     func() error             // instead of a command buffer: work of the CPU

	calls      []pending
	events     []mark
	awaits     []point // that the work waits for
	last       device.Ticket
	dispatches int
	bytes      int64
	due        bool // has lingered long enough
	shut       bool // an event was recorded: it is passed when what is in the batch has ended, and no later

	suspects []string // kernels of the program's own in it, once it has failed

	words mtl.Buffer // a word for each call; see word
	memo  []word     // the same memory

	scalars []mtl.Buffer // see scalar
	numbers int          // how many of them are in use
}

// pending is a call that has been encoded, or has failed to be.
type pending struct {
	call     *device.Call
	finisher finisher // nil: nothing to do for the CPU after the call
	word     int
	err      error
}

// mark is an event recorded at the end of a batch.
type mark struct {
	event *event
	at    point
}

// word is what a kernel tells the CPU: a fault, a count. It begins as zero.
type word [4]uint32

// full reports whether the batch takes no more calls.
func (b *batch) full() bool {
	return b.shut || b.dispatches >= mostDispatches || b.bytes >= mostBytes || len(b.calls) >= mostDispatches
}

// begin makes sure that there is a command buffer, and that it waits for what the stream waits for.
func (b *batch) begin() error {
	s := b.stream
	if b.buffer != 0 && s.unsaid == 0 {
		return nil
	}
	defer objc.Pool().Close()
	if b.buffer == 0 {
		buffer := s.queue.CommandBuffer()
		if buffer == 0 {
			return status.Errorf(status.Device, "the GPU gave no command buffer")
		}
		b.buffer, s.unsaid = objc.Retain(buffer), len(s.behind)
	}
	b.pause()
	for _, p := range s.behind[len(s.behind)-s.unsaid:] {
		b.awaits = append(b.awaits, p)
		b.buffer.EncodeWaitForEvent(p.stream.clock.event, p.stream.clock.at(p.ticket))
	}
	s.unsaid = 0
	return nil
}

// compute makes sure that a compute encoder is open, and that the wait is said of all that the stream waits
// for.
func (b *batch) compute() error {
	if b.encoder != 0 && b.stream.unsaid == 0 {
		return nil
	}
	if err := b.begin(); err != nil {
		return err
	}
	defer objc.Pool().Close()
	encoder := b.buffer.ComputeCommandEncoder()
	if encoder == 0 {
		return status.Errorf(status.Device, "the GPU gave no encoder")
	}
	b.encoder = objc.Retain(encoder)
	return nil
}

// pause ends the open encoder, if there is one. The caller holds a pool.
func (b *batch) pause() {
	if b.encoder != 0 {
		b.encoder.EndEncoding()
		objc.Release(b.encoder)
		b.encoder, b.pipeline = 0, 0
	}
}

// dispatch encodes a dispatch of a pipeline. The other fields of d are set; those for the encoder and the
// pipeline are not.
func (b *batch) dispatch(pipeline mtl.ComputePipelineState, d *objc.Dispatch) error {
	if err := b.compute(); err != nil {
		return err
	}
	d.Encoder, d.Pipeline = objc.ID(b.encoder), 0
	if b.pipeline != pipeline {
		d.Pipeline, b.pipeline = objc.ID(pipeline), pipeline
	}
	d.Encode()
	b.dispatches++
	return nil
}

// execute encodes an executable of MPSGraph, which may commit the command buffer and go on in another. The
// caller holds a pool.
func (b *batch) execute(x mpsgraph.Executable, inputs, results objc.Array) error {
	if err := b.begin(); err != nil {
		return err
	}
	b.pause()
	wrapped := mpsgraph.NewCommandBuffer(b.buffer)
	x.Encode(wrapped, inputs, results, 0)
	if now := wrapped.Current(); now != b.buffer && now != 0 {
		b.before = append(b.before, b.buffer)
		b.buffer = objc.Retain(now)
	}
	b.dispatches++
	return nil
}

// copyMost is the longest copy that is encoded as one.
const copyMost = 2 << 30

// blit encodes a copy of n bytes between two buffers; offsets and n are multiples of 4.
func (b *batch) blit(from, to span, n uint64) error {
	if err := b.begin(); err != nil {
		return err
	}
	defer objc.Pool().Close()
	b.pause()
	encoder := b.buffer.BlitCommandEncoder()
	if encoder == 0 {
		return status.Errorf(status.Device, "the GPU gave no encoder")
	}
	for done := uint64(0); done < n; done += copyMost {
		encoder.Copy(from.buffer, from.offset+done, to.buffer, to.offset+done, min(n-done, copyMost))
	}
	encoder.EndEncoding()
	b.dispatches++
	return nil
}

// word reserves a word for the call that is being encoded: the buffer and the offset to bind. When the
// call has ended the finisher of its kernel gets what the GPU has left there.
func (b *batch) word() (mtl.Buffer, uint64, error) {
	if b.words == 0 {
		if err := b.makeWords(); err != nil {
			return 0, 0, err
		}
	}
	i := len(b.calls) - 1
	if b.calls[i].word < 0 {
		b.memo[i], b.calls[i].word = word{}, i
	}
	return b.words, uint64(i) * uint64(unsafe.Sizeof(word{})), nil
}

// makeWords makes the buffer of the words, which stays with the batch.
func (b *batch) makeWords() error {
	defer objc.Pool().Close()
	b.words = b.stream.device.gpu.NewBuffer(mostDispatches*uint64(unsafe.Sizeof(word{})), resource)
	at := b.words.Contents()
	if at == 0 {
		return status.Errorf(status.OutOfMemory, "the GPU has no memory for a result")
	}
	// SAFETY: the memory belongs to the buffer, which lives as long as the batch.
	b.memo = unsafe.Slice(*(**word)(unsafe.Pointer(&at)), mostDispatches)
	return nil
}

// seal ends the filling: the GPU will say on the stream's event that it has come to the end. The caller
// holds a pool.
func (b *batch) seal() {
	b.pause()
	if b.buffer != 0 {
		b.buffer.EncodeSignalEvent(b.stream.clock.event, b.stream.clock.at(b.last))
		b.buffer.Commit()
	}
}

// reset makes an ended batch ready to be filled again. The caller holds a pool.
func (b *batch) reset() {
	for _, c := range b.before {
		objc.Release(c)
	}
	objc.Release(b.buffer)
	clear(b.calls)
	clear(b.events)
	clear(b.awaits)
	*b = batch{
		stream: b.stream, words: b.words, memo: b.memo, scalars: b.scalars,
		calls: b.calls[:0], events: b.events[:0], awaits: b.awaits[:0], before: b.before[:0],
	}
}

// nameOf is the name of a call's operator or kernel for messages.
func nameOf(c *device.Call) string {
	if c.Grid != nil {
		return c.Grid.Kernel
	}
	if row := op.ByID(c.Op); row != nil {
		return row.Name
	}
	return "copy"
}
