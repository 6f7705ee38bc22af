package device

// Shaders is a device that compiles kernels from source of the program's own.
type Shaders interface {
	// NewLibrary compiles source; status.Syntax with the compiler's words where it does not compile.
	NewLibrary(source string) (Library, error)
	// LoadLibrary reads a library that was compiled before, from a file.
	LoadLibrary(path string) (Library, error)
}

// Library is compiled source.
type Library interface {
	// Names are those of its kernels.
	Names() []string
	// Kernel makes one of them ready to run, as a program that knows of no operator; status.NotFound where
	// there is none of that name. A call of it has a Grid; its tensors are in Out where the kernel may write
	// them, else in In. It may be closed with runs in flight.
	Kernel(name string) (Program, *KernelInfo, error)
	// Close releases the library; its kernels stay.
	Close() error
}

// KernelInfo is what a caller has to know of a kernel. It never changes.
type KernelInfo struct {
	Name      string
	Params    []Param // by position
	MostGroup uint64  // threads of a threadgroup
	Width     uint64  // threads that run in step
	Shared    uint64  // bytes of threadgroup memory that the kernel declares
}

// Param is one argument that a kernel wants.
type Param struct {
	Name    string
	Used    bool // one that is not used may be left out
	Written bool // constant bytes will not do
}

// Grid is how a call of a kernel runs: every number is at least 1.
type Grid struct {
	Kernel         string // its name, for messages
	Threads, Group [3]uint64
	Args           []Argument
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

// MostConstants is how many constant bytes a call may have, each argument's rounded up to 16.
const MostConstants = 4096

// MostArguments is how many arguments a kernel may have.
const MostArguments = 31

// Native is a device made of objects of the system's, which other libraries may use beside it. All
// addresses are borrowed.
type Native interface {
	// Object is the device: an MTLDevice.
	Object() uintptr
	// QueueOf is the command queue of a stream. All that has been submitted to the stream is committed when
	// the call returns, and work of the CPU among it is done.
	QueueOf(s Stream) uintptr
	// BufferOf is the buffer that an operand lies in and its offset there in bytes; ok is false for
	// memory that is not the device's.
	BufferOf(o *Operand) (buffer uintptr, offset uint64, ok bool)
}

// Capturer is a device that records what it is told into a document for its maker's tools.
type Capturer interface {
	// CanCapture reports whether the process may.
	CanCapture() bool
	// Capturing reports whether a capture is under way, whoever has begun it.
	Capturing() bool
	// BeginCapture begins a document at a path where nothing is.
	BeginCapture(path string) error
	// EndCapture ends it. The caller has waited for the work that shall be in it.
	EndCapture() error
}
