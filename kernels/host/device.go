// Package host is the CPU device, written in Go. It exists on every machine.
//
// It is the `cpu` place everywhere, the reference for other devices, and, with [Config.Async], an
// emulated GPU whose streams are real queues with a worker each. Both run the same kernels.
//
// How a call runs: the stream (direct.go, queue.go) takes it in order, the program (program.go) hands it to the kernel that the
// registry of package engine holds for its operator and dtype, and the kernel splits its work over the threads of the device. The
// kernels are in packages by family: elem, reduce, scan, sort, index, create, product, conv, pool, rnn and attention, over engine,
// which has threads, walks and codecs. The arithmetic itself is in the rooms of kernels/host/vec.
//
// A program of one call is one kernel; one of many steps (sequence.go) runs the kernels of the steps one after the other, and groups
// of them block by block (package fusion). An operator has a portable kernel without state that takes every call, and may have
// variants beside it (product/constant.go, conv/choose.go) that take some steps, keep state, and give the same bits; those of the
// system's library (product/blas.go) may round otherwise.
//
// A kernel may rely on this: the runtime has inferred, cast, broadcast and framed the operands (device.Call),
// submits no call whose outputs are empty, and copies inputs that overlap an output unsafely. A kernel that is
// run without elements anyway does nothing. Another thread of the program may write to an input at any time,
// so a value that is checked and then used must be read only once.
//
// A new elementwise operator is a line in init of unary.go, binary.go or compare.go in package elem with a function of one
// or two elements: registerUnaryFloats and eachOf, registerBinaryFloats and eachPair. What kernels/host/vec has
// a loop for is a line in vectorFunctions. An operator of another kind is a type with the methods of engine.Kernel
// in a file of its family, and a call of engine.Register for each dtype. A new family is a line in families.go and in the table of
// layers in internal/lint. What others ask of a kernel beside that is an exported method: see engine.Stateful and
// engine.WeightHolder.
//
// The one invariant: a result does not depend on the number of threads, nor on whether a call ran
// on the caller or on a worker.
//
// The package makes no tensors, knows no views and promotes no dtypes; it runs resolved calls.
package host

import (
	"runtime"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
)

// Config says what kind of host device to make. The zero value is the cpu place.
type Config struct {
	Name    string   // "" for the name of the processor
	UUID    [16]byte // identity, chosen by the caller
	Threads int      // goroutines that compute one call; 0 for the number of CPUs
	Memory  int64    // bytes that the device claims to have; 0 for all of the machine's

	// Accelerate lets the system's BLAS library compute large products of matrices, where there is one: Accelerate on macOS.
	// Their roundings are not those of the portable kernels.
	Accelerate bool

	// TermByTerm computes every convolution term by term, and none in Winograd's tiles, whose roundings are others.
	TermByTerm bool

	// Async makes streams queues: Run may return before the call has run.
	Async bool
	// InlineLimit is the largest work, in additions of two elements, that an idle Async stream
	// runs on the caller instead of waking its worker; 0 for the default, below 0 for none.
	InlineLimit int64
}

// inlineLimit is about 10 to 20 microseconds of work without SIMD: what waking a worker and
// waiting for it costs anyway.
const inlineLimit = 1 << 14

// Device is the host device.
type Device struct {
	info    device.Info
	inline  int64
	threads *engine.Threads
}

var (
	_ device.Device  = (*Device)(nil)
	_ device.Adopter = (*Device)(nil)
)

// New makes a device. It never fails: there is always a CPU.
func New(c Config) *Device {
	if c.Threads <= 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	if c.Name == "" {
		c.Name = processorName()
	}
	if c.Memory <= 0 {
		c.Memory = totalMemory()
	}
	if c.InlineLimit == 0 {
		c.InlineLimit = inlineLimit
	}
	t := engine.StartThreads(c.Threads)
	t.TermByTerm, t.Accelerate = c.TermByTerm, c.Accelerate
	return &Device{
		info: device.Info{
			Name: c.Name, Backend: "host", UUID: c.UUID,
			TotalMemory: c.Memory, Recommended: c.Memory / 4 * 3, Processors: c.Threads,
			Unified: true, Async: c.Async, BFloat16: true, CountsFirst: true,
			Float64:      !c.Async, // an emulated GPU lacks what every GPU of its kind lacks
			ChannelsLast: gemm.ReadsInPlace(),
		},
		inline:  c.InlineLimit,
		threads: t,
	}
}

// Info describes the device.
func (d *Device) Info() *device.Info { return &d.info }

// NewStream makes a stream; with Async it is a queue with a worker of its own.
func (d *Device) NewStream() (device.Stream, error) {
	if d.info.Async {
		return newQueue(d), nil
	}
	return &direct{threads: d.threads}, nil
}

// NewEvent makes an event that counts as done.
func (d *Device) NewEvent() (device.Event, error) { return &event{}, nil }

// Close ends the threads. Streams and heaps have been closed before.
func (d *Device) Close() error {
	d.threads.Close()
	return nil
}
