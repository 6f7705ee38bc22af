// Package metal is the device of Apple's GPUs: Metal, with kernels of our own, and MPSGraph.
//
// How a call runs: the stream takes it in order and hands it to its program, whose kernel encodes it
// into the open command buffer (batch.go), as a dispatch of a compute kernel or as an executable of
// MPSGraph. After some tens of dispatches, or when a caller waits, the command buffer is committed
// (stream.go). A goroutine of the stream waits for committed buffers in order, looks at how each ended
// and notifies the owners of its calls (complete.go).
//
// What the device can run is in one registry of variants (package gpu): shader kernels (package shaders) and
// lowerings to MPSGraph (package graphs), each under an operator and a dtype, with a predicate over the call.
// Which of them is tried first is a preference; what one of Apple's compilers refuses is left to the next (refuse.go),
// and what none has is status.Unsupported.
//
// Whatever a call will need is compiled in Compile, under no lock; Run compiles nothing. So what tells shaders
// apart, such as how operands lie, is part of the key of a program (key.go). A program is one kernel, or one for
// each step of a plan (plan.go), which a run encodes one behind the other.
//
// The invariants: nothing is sent to Metal that Metal would abort on, because that ends the process; and
// a goroutine that sends anything holds an autorelease pool.
//
// Everything Apple goes through objc; the package knows no selector. It makes no tensors and promotes no
// dtypes.
package metal

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	_ "github.com/paddle-mps/paddle-mps/kernels/metal/graphs" // registers its variants
	"github.com/paddle-mps/paddle-mps/kernels/metal/shaders"
	"github.com/paddle-mps/paddle-mps/kernels/metal/store"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// Prefer says which variants are tried first.
type Prefer = gpu.Prefer

// The preferences. Shaders are the default.
const (
	PreferShaders = gpu.PreferShaders
	PreferGraphs  = gpu.PreferGraphs
)

// Config says how to open the device. The zero value is the GPU of a Mac.
type Config struct {
	Library string // a mock of Apple's libraries; "" for Apple's own
	Prefer  Prefer // which way comes first where there are two

	// Leave are operators that the device refuses, so that the CPU runs them: for finding out which one a
	// wrong result comes from.
	Leave []op.ID

	// Linger is how long work may lie in an open command buffer without a caller waiting for it; 0 for the
	// default, below 0 for ever.
	Linger time.Duration

	// Serial makes the dispatches of an encoder run one behind the other, without barriers: for finding out whether
	// a wrong result comes from their order.
	Serial bool

	// Folder is where compiled graphs are stored for later processes, and FolderBytes how large that may become (0: the
	// store's default). "": nothing is stored. Without effect before macOS 14.
	Folder      string
	FolderBytes int64
}

// linger is long beside the time that a program takes to fill a command buffer, and short beside what
// a caller who polls would notice.
const linger = 5 * time.Millisecond

// Device is the GPU.
type Device struct {
	*gpu.Device
	info     device.Info
	prefer   Prefer
	variants *kernels.Variants[*gpu.Device, gpu.Kernel]
	leave    []op.ID
	linger   time.Duration
	serial   bool
	refusals refusals

	fault atomic.Pointer[status.Error] // the first failure of a command buffer

	mu     sync.Mutex
	clocks []clock // of streams that are closed
}

var (
	_ device.Device = (*Device)(nil)
	_ device.Storer = (*Device)(nil)
)

// families of GPUs that the device runs on, newest first.
var families = []mtl.GPUFamily{mtl.GPUFamilyApple10, mtl.GPUFamilyApple9, mtl.GPUFamilyApple8, mtl.GPUFamilyApple7}

// oldest is the first macOS with everything that the device needs.
const oldest = "13.0"

// Open opens the GPU. Where there is none that the device can run on, the error is status.Unavailable.
func Open(c Config) (*Device, error) {
	if err := objc.Load(c.Library); err != nil {
		return nil, err
	}
	defer objc.Pool().Close()
	if v := objc.MacOS(); !v.AtLeast(oldest) {
		return nil, status.Errorf(status.Unavailable, "[metal] this is macOS %s; want %s or later", v, oldest)
	}
	found, family, err := find()
	if err != nil {
		return nil, err
	}
	if c.Linger == 0 {
		c.Linger = linger
	}
	d := &Device{Device: gpu.Open(found, family), prefer: c.Prefer, variants: gpu.Variants(c.Prefer), leave: c.Leave, linger: c.Linger, serial: c.Serial}
	d.Copier = shaders.NewCopier(d.Device)
	if c.Folder != "" && mpsgraph.HasPackages() {
		d.Store = store.New(c.Folder, c.FolderBytes)
	}
	d.describe()
	return d, nil
}

// find is the first GPU of a family that we know, retained.
func find() (mtl.Device, int, error) {
	all, err := mtl.Devices()
	if err != nil {
		return 0, 0, err
	}
	defer objc.Release(all)
	names := ""
	for i := range all.Len() {
		found := mtl.Device(all.At(i))
		for _, f := range families {
			if found.SupportsFamily(f) && found.HasUnifiedMemory() {
				return objc.Retain(found), int(f - 1000), nil
			}
		}
		names += " " + found.Name()
	}
	if names == "" {
		return 0, 0, status.Errorf(status.Unavailable, "[metal] the system shows no GPU")
	}
	return 0, 0, status.Errorf(status.Unavailable, "[metal] got%s; want a GPU of Apple silicon", names)
}

// dispatchType is that of all compute encoders.
func (d *Device) dispatchType() mtl.DispatchType {
	if d.serial {
		return mtl.DispatchTypeSerial
	}
	return mtl.DispatchTypeConcurrent
}

// describe asks the GPU what it is.
func (d *Device) describe() {
	d.info = device.Info{
		Name:        d.Metal.Name(),
		Backend:     "metal",
		System:      "macOS " + objc.MacOS().String(),
		TotalMemory: int64(objc.PhysicalMemory()),
		Recommended: int64(d.Metal.RecommendedMaxWorkingSetSize()),
		Major:       d.Family,
		UUID:        identity(d.Metal.RegistryID()),
		Unified:     true, // other GPUs are not opened
		Async:       true,
		Compiles:    true,
		BFloat16:    true, // stored and converted by bits where macOS lacks it
	}
}

// identity is a UUID (RFC 9562, version 8: of our own making) from the number by which the system knows
// the GPU until it starts anew.
func identity(registry uint64) (id [16]byte) {
	copy(id[:], "metal\x00\x80m\x80")
	binary.BigEndian.PutUint64(id[8:], registry)
	id[8] = id[8]&0x3f | 0x80
	return id
}

// Info describes the device.
func (d *Device) Info() *device.Info { return &d.info }

// noteFault keeps the first failure of a command buffer, which may be the cause of later ones.
func (d *Device) noteFault(failure *status.Error) { d.fault.CompareAndSwap(nil, failure) }

// NewEvent makes an event that counts as done.
func (d *Device) NewEvent() (device.Event, error) { return &event{}, nil }

// Stored is what the store of compiled graphs has done; see device.Storer.
func (d *Device) Stored() device.Stored { return d.Store.Stats() }

// ResetStored sets its counts to 0.
func (d *Device) ResetStored() { d.Store.ResetStats() }

// Close gives the GPU back. Streams, heaps and programs have been closed before.
func (d *Device) Close() error {
	d.releaseClocks()
	d.Device.Close()
	return nil
}
