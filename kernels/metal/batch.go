package metal

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
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

// mostSteps is after how many dispatches a program is divided (batch.divide): the GPU takes longer for them than the CPU to encode them,
// so that a commit on the way gains little, and costs both. A model of a hundred steps is one command buffer.
const mostSteps = 128

// batch is a command buffer with the calls in it, or several where a program is long (divide) or MPSGraph commits
// on its own (Execute). It implements gpu.Encoder for the kernels that are encoded into it.
//
// The stream's lock is held by the goroutine that fills it; once it is committed it belongs to the stream's own
// goroutine, until it is retired and may be filled again. What it keeps over that (buffers of words and numbers, the
// capacity of its lists) makes warm calls free of allocation.
type batch struct {
	stream   *stream
	buffer   mtl.CommandBuffer   // retained; nil until something is encoded
	before   []mtl.CommandBuffer // committed on the way, by divide or by MPSGraph, retained
	parts    []uint64            // the marks with which they end, 0 where MPSGraph has committed
	encoder  mtl.ComputeCommandEncoder
	pipeline mtl.ComputePipelineState // that the encoder has set
	host     func() error             // instead of a command buffer: work of the CPU

	deferred  bool // nothing is encoded: what the calls wait for is not ready yet (see release)
	committed bool // the GPU has it all
	order     order
	hazards   hazards
	encoding  encoding

	calls      []pending
	events     []mark
	awaits     []point // that the work waits for
	last       device.Ticket
	dispatches int
	bytes      int64
	lingered   bool // has lingered long enough
	recorded   bool // an event was recorded: it is passed when what is in the batch has ended, and no later

	suspects []string // kernels of the program's own in it, once it has failed

	blocks  []wordBlock // see word
	words   int         // how many are in use
	asked   int         // the word of the kernel that is being encoded, -1 as long as it has none
	endings []ending    // of all calls, in order

	divided divided

	scalars []mtl.Buffer // see scalar
	numbers int          // how many of them are in use
}

// divided is how often a batch has been divided, and after how many dispatches and bytes.
type divided struct {
	times, dispatches int
	bytes             int64
}

// pending is a call that has been encoded, or has failed to be.
type pending struct {
	call       *device.Call
	program    *program // nil: a copy
	first, end int      // endings
	plan       bool     // of a program of several operators
	err        error    // names the operator
}

// name is that of the operator for messages. Only calls of operators say which one in Call.Op.
func (p *pending) name() string {
	switch {
	case p.plan:
		return "program"
	case p.program == nil:
		return "copy"
	}
	return nameOf(p.call)
}

// mark is an event recorded at the end of a batch.
type mark struct {
	event *event
	at    point
}

// full reports whether the batch takes no more calls.
func (b *batch) full() bool {
	return b.recorded || b.dispatches >= mostDispatches || b.bytes >= mostBytes || len(b.calls) >= mostDispatches
}

// record encodes a call, unless it is to stop: that may be so in a batch that was deferred.
func (b *batch) record(p *pending) {
	p.first = len(b.endings)
	switch p.err = p.call.Stop.Err(); {
	case p.err != nil:
	case p.program == nil:
		p.err = b.copy(p.call)
	default:
		p.err = p.program.encode(b, p.call)
	}
	if p.err != nil && !p.plan {
		p.err = named(nameOf(p.call), p.err)
	}
	p.end = len(b.endings)
}

// release encodes a deferred batch. What it waits for has passed, or is work of other streams that the GPU has been
// given; only then does it get a wait.
func (b *batch) release() {
	b.deferred = false
	for _, p := range b.awaits {
		if !p.passed() && b.begin() == nil {
			b.buffer.EncodeWaitForEvent(p.stream.clock.event, p.stream.clock.at(p.ticket))
			b.order.loose = true
		}
	}
	if b.recorded {
		_ = b.begin() // without a command buffer the point is passed when all before it is
	}
	for i := range b.calls {
		b.record(&b.calls[i])
	}
}

// unencode makes a batch deferred again that has not been committed, nor any part of it. The caller holds a pool.
func (b *batch) unencode() {
	b.pause()
	objc.Release(b.buffer)
	clear(b.endings)
	b.buffer, b.order, b.endings = 0, order{}, b.endings[:0]
	b.dispatches, b.bytes, b.words, b.numbers, b.asked = 0, 0, 0, 0, -1
	b.divided = divided{}
	b.deferred = true
}

// begin makes sure that there is a command buffer.
func (b *batch) begin() error {
	if b.buffer != 0 {
		return nil
	}
	defer objc.Pool().Close()
	buffer := b.stream.queue.CommandBuffer()
	if buffer == 0 {
		return status.Errorf(status.Device, "the GPU gave no command buffer")
	}
	b.buffer, b.order = objc.Retain(buffer), order{loose: b.stream.tail.loose}
	if b.order.loose {
		b.follow()
	}
	return nil
}

// Arguments begins a dispatch; it is one record a stream, so that it is not made anew.
func (b *batch) Arguments() *objc.Dispatch {
	d := &b.stream.record
	d.Clear()
	return d
}

// mostDivided is how often a batch is divided: a queue has room for 64 command buffers, of which all batches
// in flight must take less, or a caller that makes one would wait for the GPU under the stream's lock.
const mostDivided = 4

// divide commits what has been encoded if that is as much as a batch should be, and the batch goes on in
// another command buffer. Only a program of many steps makes one that long. Each part is twice as long as
// the one before, so that the GPU begins soon; the fifth takes all the rest.
func (b *batch) divide() {
	d := &b.divided
	if d.times == mostDivided ||
		b.dispatches-d.dispatches < mostSteps<<d.times && b.bytes-d.bytes < mostBytes<<d.times {
		return
	}
	d.times++
	d.dispatches, d.bytes = b.dispatches, b.bytes
	s := b.stream
	if b.buffer == 0 || !s.hasMarks() {
		return
	}
	defer objc.Pool().Close()
	s.mark++
	b.finishBuffer(s.marks, s.mark, 0)
	b.before, b.parts = append(b.before, b.buffer), append(b.parts, s.mark)
	b.buffer = 0
}

// compute makes sure that a compute encoder is open; see hazards.
func (b *batch) compute() error {
	if b.encoder != 0 {
		return nil
	}
	if err := b.begin(); err != nil {
		return err
	}
	defer objc.Pool().Close()
	if err := b.enter(); err != nil {
		return err
	}
	encoder := b.buffer.ComputeCommandEncoder(b.stream.device.dispatchType())
	if encoder == 0 {
		return status.Errorf(status.Device, "the GPU gave no encoder")
	}
	encoder.WaitForFence(b.stream.fence)
	b.fenced()
	b.encoder = objc.Retain(encoder)
	b.hazards.forget()
	b.encoding.further = false
	return nil
}

// pause ends the open encoder, if there is one: blits and graphs have encoders of their own, and one is open at a
// time. The caller holds a pool.
func (b *batch) pause() {
	if b.encoder != 0 {
		b.encoder.UpdateFence(b.stream.fence)
		b.encoder.EndEncoding()
		objc.Release(b.encoder)
		b.encoder, b.pipeline = 0, 0
	}
}

// Use makes a buffer resident in the encoder that is open.
func (b *batch) Use(used mtl.Buffer) error {
	if err := b.compute(); err != nil {
		return err
	}
	b.encoder.UseResource(objc.ID(used), mtl.ResourceUsageRead|mtl.ResourceUsageWrite)
	return nil
}

// Dispatch encodes a dispatch of a pipeline. The other fields of d are set; those for the encoder and the
// pipeline are not.
func (b *batch) Dispatch(pipeline mtl.ComputePipelineState, d *objc.Dispatch) error {
	if err := b.compute(); err != nil {
		return err
	}
	d.Encoder, d.Pipeline = objc.ID(b.encoder), 0
	if b.pipeline != pipeline {
		d.Pipeline, b.pipeline = objc.ID(pipeline), pipeline
	}
	d.Barrier = uint32(b.barrier())
	d.Encode()
	b.dispatches++
	return nil
}

// Execute encodes an executable of MPSGraph, which may commit the command buffer and go on in another. The
// caller holds a pool.
func (b *batch) Execute(x mpsgraph.Executable, inputs, results objc.Array) error {
	if err := b.begin(); err != nil {
		return err
	}
	b.pause()
	if err := b.enterGraph(); err != nil {
		return err
	}
	wrapped := mpsgraph.NewCommandBuffer(b.buffer)
	x.Encode(wrapped, inputs, results, 0)
	if now := wrapped.Current(); now != b.buffer && now != 0 {
		b.buffer.WaitUntilCompleted() // see order
		b.before, b.parts = append(b.before, b.buffer), append(b.parts, 0)
		if b.buffer.Status() != mtl.CommandBufferStatusCompleted {
			// It may have ended before the work that it was to follow: the rest of the graph must not begin now.
			b.buffer = 0
			return status.Errorf(status.Device, "the GPU stopped a command buffer that MPSGraph committed")
		}
		b.buffer = objc.Retain(now)
	}
	b.dispatches++
	return nil
}

// copyMost is the longest copy that is encoded as one.
const copyMost = 2 << 30

// Blit encodes a copy of n bytes between two buffers; offsets and n are multiples of 4.
func (b *batch) Blit(from, to gpu.Span, n uint64) error {
	if err := b.begin(); err != nil {
		return err
	}
	defer objc.Pool().Close()
	b.pause()
	if err := b.enter(); err != nil {
		return err
	}
	encoder := b.buffer.BlitCommandEncoder()
	if encoder == 0 {
		return status.Errorf(status.Device, "the GPU gave no encoder")
	}
	encoder.WaitForFence(b.stream.fence)
	b.fenced()
	for done := uint64(0); done < n; done += copyMost {
		encoder.Copy(from.Buffer, from.Offset+done, to.Buffer, to.Offset+done, min(n-done, copyMost))
	}
	encoder.UpdateFence(b.stream.fence)
	encoder.EndEncoding()
	b.dispatches++
	return nil
}

// seal ends the filling of a batch that is not deferred: the last command buffer signals the batch's last ticket on
// the stream's event, and is committed. A batch of which nothing was encoded, such as one of cancelled calls, gets a command
// buffer for the signal: the CPU's signal could come after that of a later batch, and the event would fall. The caller
// holds a pool.
func (b *batch) seal() {
	s := b.stream
	b.committed = true
	if b.host == nil {
		_ = b.begin() // without a command buffer the CPU signals
	}
	if b.buffer != 0 {
		b.finishBuffer(s.clock.event, s.clock.at(b.last), b.last)
	}
}

// reset makes an ended batch ready to be filled again. Buffers go to the stream: which batches need some differs from run to run, and
// each would get its own before a run makes none. The stream's lock is held, and the caller holds a pool.
func (b *batch) reset() {
	s := b.stream
	s.buffers.words = append(s.buffers.words, b.blocks...)
	s.buffers.numbers = append(s.buffers.numbers, b.scalars...)
	for _, c := range b.before {
		objc.Release(c)
	}
	objc.Release(b.buffer)
	clear(b.calls)
	clear(b.events)
	clear(b.awaits)
	clear(b.endings)
	*b = batch{
		stream: s, blocks: b.blocks[:0], scalars: b.scalars[:0], asked: -1,
		hazards: b.hazards, encoding: b.encoding,
		calls: b.calls[:0], events: b.events[:0], awaits: b.awaits[:0], before: b.before[:0], parts: b.parts[:0], endings: b.endings[:0],
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
