package objc

// The bounds of a dispatch: the buffer bindings of a compute encoder, and the limit of setBytes in bytes.
const (
	MaxArguments     = 31
	MaxConstantBytes = 4096
)

// Dispatch is one dispatch of a compute kernel: everything that is sent to an open encoder. Go fills it in and passes
// it to C as it is; encode.h describes the fields. One goroutine uses it at a time.
type Dispatch struct {
	Encoder   ID
	Pipeline  ID   // 0: the one that the encoder has
	Threads   Size // of the grid, or its threadgroups if InGroups is not 0
	Group     Size
	arguments uint32
	Shared    uint32 // bytes of threadgroup argument 0
	InGroups  uint32 // not 0: a grid of threadgroups may have more than 2**32 threads
	Barrier   uint32 // MTLBarrierScope of a memory barrier before it; 0: none
	buffer    [MaxArguments]ID
	offset    [MaxArguments]uint64
	length    [MaxArguments]uint32
	constant  [MaxConstantBytes]byte
}

// Clear starts a new dispatch in the same record; the caller sets the exported fields.
func (d *Dispatch) Clear() { d.arguments, d.Shared, d.InGroups, d.Barrier = 0, 0, 0, 0 }

// Bind makes a buffer, from an offset on, the next argument of the kernel.
func (d *Dispatch) Bind(buffer ID, offset uint64) {
	d.buffer[d.arguments], d.offset[d.arguments], d.length[d.arguments] = buffer, offset, 0
	d.arguments++
}

// Constant makes n constant bytes (> 0) the next argument of the kernel and returns the memory for them, which the
// caller fills before Encode.
func (d *Dispatch) Constant(n int) []byte {
	at := uint64(0)
	for i := range d.arguments {
		if d.length[i] != 0 {
			at = (d.offset[i] + uint64(d.length[i]) + 15) &^ 15
		}
	}
	d.offset[d.arguments], d.length[d.arguments] = at, uint32(n)
	d.arguments++
	return d.constant[at:][:n:n]
}

// Size is MTLSize.
type Size struct{ Width, Height, Depth uint64 }

// BarrierScope is MTLBarrierScope: the kinds of resources that a memory barrier is about.
type BarrierScope uint64

var (
	setComputePipelineState = Declare1[ID, ID, Void]("MTLComputeCommandEncoder", "setComputePipelineState:")
	setBuffer               = Declare3[ID, ID, uint64, uint64, Void]("MTLComputeCommandEncoder", "setBuffer:offset:atIndex:")
	setBytes                = Declare3[ID, Pointer, uint64, uint64, Void]("MTLComputeCommandEncoder", "setBytes:length:atIndex:")
	setThreadgroupMemory    = Declare2[ID, uint64, uint64, Void]("MTLComputeCommandEncoder", "setThreadgroupMemoryLength:atIndex:")
	memoryBarrier           = Declare1[ID, BarrierScope, Void]("MTLComputeCommandEncoder", "memoryBarrierWithScope:")
	dispatchThreads         = DeclareMixed[func(ID, Sel, Size, Size)]("MTLComputeCommandEncoder", "dispatchThreads:threadsPerThreadgroup:")
	dispatchThreadgroups    = DeclareMixed[func(ID, Sel, Size, Size)]("MTLComputeCommandEncoder", "dispatchThreadgroups:threadsPerThreadgroup:")
)
