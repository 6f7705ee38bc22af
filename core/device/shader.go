package device

// Shaders is implemented by devices that compile user-written kernels.
type Shaders interface {
	// NewLibrary compiles source; status.Syntax with the compiler's message where it does not compile.
	NewLibrary(source string) (Library, error)
	// LoadLibrary reads a compiled library from a file.
	LoadLibrary(path string) (Library, error)
	// AddressOf is the address of an operand as kernels see it, which differs from that of the CPU; ok is false for memory
	// that the device does not have.
	AddressOf(o *Operand) (address uint64, ok bool)
}

// Library is compiled source.
type Library interface {
	// Names are the names of its kernels.
	Names() []string
	// Kernel makes the program of one kernel; status.NotFound where there is none of that name. A call of it has
	// a Grid and no operator; its tensors are in Out where the kernel may write them, otherwise in In. It may be
	// closed with runs in flight.
	Kernel(name string) (Program, *KernelInfo, error)
	// Close releases the library; its kernels stay.
	Close() error
}

// KernelInfo describes a kernel to its callers. It is immutable.
type KernelInfo struct {
	Name     string
	Params   []Param // by position
	MaxGroup uint64  // most threads of a threadgroup
	Width    uint64  // threads of a SIMD group
	Shared   uint64  // bytes of threadgroup memory that the kernel declares
}

// Param is one parameter of a kernel.
type Param struct {
	Name    string
	Used    bool // a parameter that is not used may be left out
	Written bool // the argument has to be a tensor, not constant bytes
}

// Grid is how a call of a kernel runs: every number is at least 1.
type Grid struct {
	Kernel         string // its name, for messages
	Threads, Group [3]uint64
	Args           []Argument
	Resident       []Heap // that the kernel may access beside its arguments
}

// Argument is one argument of a call of a kernel: constant bytes, or a tensor where there are none.
type Argument struct {
	Bytes   []byte // those of the call's owner
	Tensor  int    // position in Call.Out or Call.In
	Written bool   // it is in Call.Out
}

// Of is the tensor of an argument of c.
func (a *Argument) Of(c *Call) *Operand {
	if a.Written {
		return &c.Out[a.Tensor]
	}
	return &c.In[a.Tensor]
}

// MaxConstantBytes is the most constant bytes of a call, those of each argument rounded up to 16: the limit of
// Metal's setBytes.
const MaxConstantBytes = 4096

// MaxArguments is the most arguments of a kernel: the number of Metal's buffer bindings.
const MaxArguments = 31

// Native is implemented by devices that are built on objects of a vendor API, which other libraries in the
// process may use too. All results are borrowed.
type Native interface {
	// Object is the device object: an MTLDevice.
	Object() uintptr
	// QueueOf is the command queue of a stream. When it returns, all work submitted to the stream has been
	// committed to the queue, and steps that run on the CPU have completed.
	QueueOf(s Stream) uintptr
	// BufferOf is the buffer that contains an operand and the operand's offset in it, in bytes; ok is false
	// for memory that the device did not allocate.
	BufferOf(o *Operand) (buffer uintptr, offset uint64, ok bool)
}

// Capturer is implemented by devices that can record their commands into a document for the vendor's tools.
type Capturer interface {
	// CanCapture reports whether this process is allowed to.
	CanCapture() bool
	// Capturing reports whether a capture is running, including one that another library started.
	Capturing() bool
	// BeginCapture starts a document at a path that does not exist.
	BeginCapture(path string) error
	// EndCapture ends it. The caller has waited for the work that it should contain.
	EndCapture() error
}
