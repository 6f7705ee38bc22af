package objc

// What a dispatch has room for.
const (
	MostArguments = 31
	MostConstants = 4096
)

// Dispatch is one dispatch of a compute kernel: everything that has to be said to an open encoder. It is
// filled in by Go and crosses to C as it is; see encode.h, which says what the fields mean.
type Dispatch struct {
	Encoder   ID
	Pipeline  ID // 0: the one that is set already
	Threads   Size
	Group     Size
	arguments uint32
	Shared    uint32 // bytes of threadgroup argument 0
	buffer    [MostArguments]ID
	offset    [MostArguments]uint64
	length    [MostArguments]uint32
	constant  [MostConstants]byte
}

// Clear begins a new dispatch in the same record.
func (d *Dispatch) Clear() { d.arguments, d.Shared = 0, 0 }

// Bind makes a buffer, from an offset on, the next argument of the kernel.
func (d *Dispatch) Bind(buffer ID, offset uint64) {
	d.buffer[d.arguments], d.offset[d.arguments], d.length[d.arguments] = buffer, offset, 0
	d.arguments++
}

// Constant makes n bytes (> 0) the next argument of the kernel and answers where to write them, until
// Encode.
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

var (
	setComputePipelineState = Declare1[ID, ID, Void]("MTLComputeCommandEncoder", "setComputePipelineState:")
	setBuffer               = Declare3[ID, ID, uint64, uint64, Void]("MTLComputeCommandEncoder", "setBuffer:offset:atIndex:")
	setBytes                = Declare3[ID, Pointer, uint64, uint64, Void]("MTLComputeCommandEncoder", "setBytes:length:atIndex:")
	setThreadgroupMemory    = Declare2[ID, uint64, uint64, Void]("MTLComputeCommandEncoder", "setThreadgroupMemoryLength:atIndex:")
	dispatchThreads         = DeclareMixed[func(ID, Sel, Size, Size)]("MTLComputeCommandEncoder", "dispatchThreads:threadsPerThreadgroup:")
)
