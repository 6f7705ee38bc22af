// Package gpu is the interface between the Metal kernels and the device that runs them. Kernels use nothing else of
// the device.
//
// A [Device] is the GPU with its detected properties. A [Heap] is its memory; [Locate] finds the buffer and offset
// of an operand. [Device.Pipelines] compiles shaders. A [Kernel] computes one operator and encodes each call
// through an [Encoder], which is the device's command buffer. [Register] adds variants of operators to the
// registry from which the device chooses.
//
// The invariants: nothing is sent to Metal that Metal would abort on, because that ends the process; and a
// goroutine that sends anything holds an autorelease pool. Kernels are immutable, so that many streams may
// encode one at once, and compile nothing while they are encoded.
//
// The package has no kernels, knows no operator, and keeps no order of work: that is the business of package
// metal, which implements Encoder.
package gpu

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/metal/store"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// Elements are the dtypes that Metal can read and write.
var Elements = dtype.All &^ dtype.SetOf(dtype.Float64)

// Device is a GPU as kernels see it.
type Device struct {
	Metal  mtl.Device
	Graphs mpsgraph.Device // nil where there is no MPSGraph
	Family int             // of Apple's GPUs: 7 for M1

	// Copier carries elements between layouts and dtypes; the device sets it before anything is compiled.
	Copier Copier

	// Store has what earlier processes have compiled; nil where nothing is stored.
	Store *store.Store

	// Compiling is called before each compilation, in tests; it may be nil.
	Compiling func()

	lists    func(source string, functions []string) // see NewLister
	sources  sources                                 // that were refused
	shared   shared
	needs    needs
	unplaced *Heap // see Unplaced
}

// Copier has shaders that copy the elements of one operand to another one of the same dimensions, with a
// cast where the dtypes differ. Kernels that stage operands use it.
type Copier interface {
	// Prepare compiles what a copy between operands that lie like these takes. The values are not looked at.
	Prepare(to, from *device.Operand) error
	// Copy encodes a copy, which has been prepared.
	Copy(e Encoder, to, from *device.Operand) error
	// Close releases the shaders.
	Close()
}

// Open takes over a GPU, retained, and asks how its memory has to lie. The caller holds a pool and sets the Copier.
// SAFETY: the heap of unplaced operands names memory that is never read.
func Open(m mtl.Device, family int) *Device {
	d := &Device{Metal: m, Family: family, Graphs: objc.Retain(mpsgraph.NewDevice(m))}
	d.unplaced = &Heap{device: d, base: unsafe.Pointer(&nowhere[0])}
	return d
}

// NewLister is a device without a GPU, for tools: it passes on what it would compile, and its pipelines cannot run.
// Variants accept and make kernels with it as with any other device; operands come from Unplaced.
// SAFETY: as in Open.
func NewLister(lists func(source string, functions []string)) *Device {
	d := &Device{lists: lists}
	d.unplaced = &Heap{device: d, base: unsafe.Pointer(&nowhere[0])}
	return d
}

// Close releases the GPU. Whatever was made of it has been released before.
func (d *Device) Close() {
	d.Copier.Close()
	d.Store.Close()
	objc.Release(d.Graphs)
	objc.Release(d.Metal)
}

// Granule is what blocks of memory are aligned to. Buffers are as long as whole ones, because MPSGraph may
// ask for more than the elements take (a row of 8 bytes counts as 16).
const Granule = 256

// RoundUp is the next multiple.
func RoundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

// needs remembers what buffers take of a heap, by their length. It is part of every look-up of a graph.
type needs struct {
	mu  sync.RWMutex
	all map[uint64]mtl.SizeAndAlign
}

// mostNeeds bounds what is remembered; then Metal is asked anew.
const mostNeeds = 4096

// Need is what a buffer of that length takes of a heap, at least the length, and what its offset has to be a multiple
// of, a granule at least.
func (d *Device) Need(length uint64) mtl.SizeAndAlign {
	d.needs.mu.RLock()
	n, ok := d.needs.all[length]
	d.needs.mu.RUnlock()
	if ok {
		return n
	}
	defer objc.Pool().Close()
	if length <= d.Metal.MaxBufferLength() {
		n = d.Metal.HeapBufferSizeAndAlign(length, Resource)
	}
	n = mtl.SizeAndAlign{Size: max(length, n.Size), Align: max(Granule, n.Align)}
	d.needs.mu.Lock()
	defer d.needs.mu.Unlock()
	if d.needs.all == nil || len(d.needs.all) >= mostNeeds {
		d.needs.all = map[uint64]mtl.SizeAndAlign{}
	}
	d.needs.all[length] = n
	return n
}

// nowhere is what unplaced operands point to. Nothing is read from it or written to it.
var nowhere [2 * device.PlanAlign]byte

// Unplaced is an operand whose memory is not known yet but for being the device's, so many bytes behind a
// multiple of device.PlanAlign: as Locate sees it, nothing more is known of its address, and no window
// fits there.
func (d *Device) Unplaced(o device.Operand, offset int64) device.Operand {
	// SAFETY: the address stays within the array, which is as long as twice the alignment. An address one
	// PlanAlign behind the start is a multiple of nothing larger.
	o.Addr = unsafe.Add(d.unplaced.base, device.PlanAlign+offset&(device.PlanAlign-1))
	o.Heap = d.unplaced
	return o
}

// Same reports whether two operands begin at one address. Of unplaced ones that is not known: the operands of a step that
// reads what it writes are at one address only where its row is elementwise.
func (d *Device) Same(a, b *device.Operand) bool {
	return a.Addr == b.Addr && HeapOf(a) != d.unplaced
}

// Staged is a contiguous operand in memory that begins at a granule and that is not known yet.
func (d *Device) Staged(o device.Operand) device.Operand {
	o.Addr, o.Heap = d.unplaced.base, d.unplaced
	return o
}

// Word is what a kernel leaves for the CPU: a fault, a count. It begins as zero.
type Word [4]uint32

// Kernel computes one operator for all calls with one key. It is immutable and may be encoded into many
// streams at once; everything about a call is in the call.
type Kernel interface {
	// Encode records a call. The error, without the operator's name, is that of the call. A call whose
	// outputs have no elements does not come here unless the kernel is a Counter.
	Encode(e Encoder, c *device.Call) error
	// Workspace is the scratch bytes of a call.
	Workspace(c *device.Call) int64
	// Bytes is an estimate of the memory that the kernel holds.
	Bytes() int64
	// Close releases what the kernel has of Metal; command buffers keep what they use.
	Close()
}

// Finisher is a kernel with something left to do when the GPU has ended a call: to see whether it
// failed, or how many results there are.
type Finisher interface {
	// Finish gets the word that the kernel has asked the encoder for, and is called where it has.
	Finish(c *device.Call, w Word) error
}

// Counter is a kernel that counts elements, even where there is no room for what it finds.
type Counter interface {
	Finisher
	// Counts reports that calls whose outputs have no elements are to be run.
	Counts() bool
}

// Encoder is a command buffer that a kernel is being recorded into. What a kernel encodes through it for one call runs
// in that order, each behind the one before. The device sees from the operands of a call which calls it depends on, so a
// kernel writes to outputs and workspace only, and reads no further than the lines of memory that its operands lie in.
type Encoder interface {
	// Arguments begins a dispatch: a record for its arguments, valid until the next one is begun.
	Arguments() *objc.Dispatch
	// Use makes a buffer resident for the dispatches that follow, which may read and write it although it is not bound.
	Use(b mtl.Buffer) error
	// Dispatch encodes a shader with the arguments and the grid of a record.
	Dispatch(pipeline mtl.ComputePipelineState, d *objc.Dispatch) error
	// Execute encodes an executable of MPSGraph.
	Execute(x mpsgraph.Executable, inputs, results objc.Array) error
	// Blit encodes a copy of n bytes between two buffers; offsets and n are multiples of 4.
	Blit(from, to Span, n uint64) error
	// Word reserves the word of the call: the buffer and the offset to bind.
	Word() (mtl.Buffer, uint64, error)
	// Number is a buffer with eight bytes that stay as they are until the GPU has ended the call.
	Number(value [8]byte) (mtl.Buffer, error)
}

// Operand is operand i of a call, the output first.
func Operand(c *device.Call, i int) *device.Operand {
	if i == 0 {
		return &c.Out[0]
	}
	return &c.In[i-1]
}

// IsFixed reports whether all indices of an operand name one element.
func IsFixed(o *device.Operand) bool {
	for i := range o.Rank {
		if o.Dims[i] != 1 && o.Strides[i] != 0 {
			return false
		}
	}
	return true
}
