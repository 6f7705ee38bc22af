package metal

import (
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// Metal tracks no hazards in our memory, so encoders and command buffers of a stream are put in order here, at a cost per
// command buffer and not per dispatch. Dispatches of one encoder are the matter of hazards.go.
//
//   - Each encoder of ours waits for the stream's fence and updates it. That orders encoders of one command buffer and of
//     all, for the GPU overlaps command buffers of one queue where nothing joins them.
//   - A graph is encoded by MPSGraph, whose encoders know no fence. Within a command buffer a signal and a wait for it
//     (a mark) order it and its neighbours.
//   - Each command buffer ends with a signal, and waits right before that for the signal of the one before: signals come
//     in order, and each says that all before it has ended. Where a command buffer begins with a graph, or follows work
//     that no encoder of ours came after, that wait comes first.
//   - MPSGraph may commit the command buffer and go on in another, into which nothing can be encoded before it does: the
//     CPU waits for the one that is committed. It does so for graphs that are long.
//
// Between streams: no command buffer is committed that waits for one of another stream that is not committed and
// scheduled, and none waits for the CPU at all (batch.release, stream.advance). The GPU ends what waits too long.

// order is what is known of the command buffer that is being filled.
type order struct {
	follows bool // it waits for the one before
	passes  bool // there are passes since its last mark
	loose   bool // the fence says nothing about some work before: a graph, or what another stream has done
}

// tail is the signal with which a stream's last command buffer ends.
type tail struct {
	event  mtl.SharedEvent
	value  uint64
	ticket uint64 // passed with it; 0 for a part of a batch
	loose  bool   // as order has it: no encoder of ours came after that work
}

// follow waits for the command buffer before.
func (b *batch) follow() {
	if t := &b.stream.tail; !b.order.follows && t.event != 0 && (t.ticket == 0 || b.stream.done.Load() < t.ticket) {
		b.buffer.EncodeWaitForEvent(t.event, t.value)
	}
	b.order.follows = true
}

// enter puts an encoder of ours, which waits for the fence, behind all before it; the caller then calls fenced.
func (b *batch) enter() error {
	if b.order.loose && b.order.passes {
		if err := b.bar(); err != nil {
			return err
		}
	}
	b.order.passes = true
	return nil
}

// fenced says that there is an encoder of ours, which updates the fence at its end, behind all before it.
func (b *batch) fenced() { b.order.loose = false }

// enterGraph puts a graph behind all before it.
func (b *batch) enterGraph() error {
	b.follow()
	if b.order.passes {
		if err := b.bar(); err != nil {
			return err
		}
	}
	b.order.passes, b.order.loose = true, true
	return nil
}

// bar puts what comes next in the command buffer behind all that is in it.
func (b *batch) bar() error {
	s := b.stream
	if !s.hasMarks() {
		return status.Errorf(status.Device, "the GPU gave no event")
	}
	s.mark++
	b.buffer.EncodeSignalEvent(s.marks, s.mark)
	b.buffer.EncodeWaitForEvent(s.marks, s.mark)
	b.order.passes = false
	return nil
}

// finishBuffer commits the command buffer with a signal at its end. The caller holds a pool.
func (b *batch) finishBuffer(event mtl.SharedEvent, value, ticket uint64) {
	b.pause()
	b.follow()
	b.buffer.EncodeSignalEvent(event, value)
	b.buffer.Commit()
	b.stream.tail = tail{event: event, value: value, ticket: ticket, loose: b.order.loose}
}

// hasMarks makes sure that the stream has an event for marks.
func (s *stream) hasMarks() bool {
	if s.marks == 0 {
		s.marks = s.device.Metal.NewSharedEvent()
	}
	return s.marks != 0
}

// passMarks signals, from the CPU, what a part of a batch has failed to: the part after it waits for that.
func (b *batch) passMarks(part int) {
	if m := b.parts[part]; m != 0 && b.stream.marks.SignaledValue() < m {
		b.stream.marks.SetSignaledValue(m)
	}
}
