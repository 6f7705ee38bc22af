package metal

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// wordSize is the bytes of a word.
const wordSize = uint64(unsafe.Sizeof(gpu.Word{}))

// wordBlock is a buffer of so many words as a batch mostly needs. The batch gives it back to the stream when it has ended, so that the
// next one that needs words takes it, whichever that is.
type wordBlock struct {
	buffer mtl.Buffer
	memory *[mostDispatches]gpu.Word // the same
}

// ending is what is left to do for a kernel when the GPU has ended its call. Those of a call are in the order of its
// steps; a call without words has none.
type ending struct {
	finisher gpu.Finisher
	step     *device.Step // of a program of several; nil: the call is the kernel's own
	word     int
}

// Word reserves a word for the kernel that is being encoded: the buffer and the offset to bind. When the
// call has ended, the kernel's finisher gets what the GPU has left there. Further requests of the kernel are
// answered with the same word.
func (b *batch) Word() (mtl.Buffer, uint64, error) {
	if b.asked < 0 {
		if err := b.wordsFor(b.words); err != nil {
			return 0, 0, err
		}
		b.asked = b.words
		*b.wordAt(b.asked) = gpu.Word{}
		b.words++
	}
	block := &b.blocks[b.asked/mostDispatches]
	return block.buffer, uint64(b.asked%mostDispatches) * wordSize, nil
}

// wordAt is the memory of a word.
func (b *batch) wordAt(i int) *gpu.Word { return &b.blocks[i/mostDispatches].memory[i%mostDispatches] }

// wordsFor makes sure that there is a block for a word.
func (b *batch) wordsFor(i int) error {
	if i/mostDispatches < len(b.blocks) {
		return nil
	}
	if block, ok := takeLast(&b.stream.buffers.words); ok {
		b.blocks = append(b.blocks, block)
		return nil
	}
	defer objc.Pool().Close()
	buffer := b.stream.device.Metal.NewBuffer(mostDispatches*wordSize, gpu.Resource)
	at := buffer.Contents()
	if at == 0 {
		objc.Release(buffer)
		return status.Errorf(status.OutOfMemory, "the GPU has no memory for a result")
	}
	// SAFETY: the memory belongs to the buffer, which lives as long as the stream.
	b.blocks = append(b.blocks, wordBlock{buffer, *(**[mostDispatches]gpu.Word)(unsafe.Pointer(&at))})
	return nil
}

// encode encodes a kernel, of a step of a program or of a call of its own (step is nil), and notes what is
// left to do when the GPU has ended it.
func (b *batch) encode(k gpu.Kernel, c *device.Call, step *device.Step) error {
	if isEmpty(c) {
		if n, ok := k.(gpu.Counter); !ok || !n.Counts() {
			return nil
		}
	}
	b.asked = -1
	b.encoding.begin(k, c)
	if err := k.Encode(b, c); err != nil {
		return err
	}
	if f, ok := k.(gpu.Finisher); ok && b.asked >= 0 {
		b.endings = append(b.endings, ending{f, step, b.asked})
	}
	for i := range c.In {
		b.bytes += bytesOf(&c.In[i])
	}
	for i := range c.Out {
		b.bytes += bytesOf(&c.Out[i])
	}
	return nil
}

// finish does what is left to do for a call that the GPU has ended. The first step that fails decides.
func (b *batch) finish(p *pending) error {
	for _, e := range b.endings[p.first:p.end] {
		w := *b.wordAt(e.word)
		if e.step == nil {
			if err := e.finisher.Finish(p.call, w); err != nil {
				return named(p.name(), err)
			}
			continue
		}
		c := &b.stream.ended.call
		e.step.Bind(p.call, c)
		if err := e.finisher.Finish(c, w); err != nil {
			return named(nameOf(c), err)
		}
	}
	return nil
}
