package sharedmemory

import (
	"fmt"
	"runtime/debug"
	"syscall"

	"github.com/ebitengine/purego"
)

// mapping is an object on macOS, where it can be mapped but neither read nor written through its descriptor. Its size can
// be set once (ftruncate in XNU's posix_shm.c refuses a second time), so that the mapping stays as long as it is; a fault
// that comes nevertheless is an error.
type mapping struct{ bytes []byte }

// open opens the object with a key, which checkKey has seen, and maps all of it. The system wants a slash in front, as the
// client gave it or not.
func open(key string) (object, error) {
	system, err := purego.Dlopen("/usr/lib/libSystem.B.dylib", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	// The third argument, the mode, is read only with O_CREAT.
	var shmOpen func(name string, flags int32) int32
	purego.RegisterLibFunc(&shmOpen, system, "shm_open")
	descriptor := shmOpen(key, syscall.O_RDWR)
	if descriptor < 0 {
		return nil, fmt.Errorf("shm_open %s has failed", key)
	}
	defer func() { _ = syscall.Close(int(descriptor)) }() // the mapping keeps the object
	var info syscall.Stat_t
	if err := syscall.Fstat(int(descriptor), &info); err != nil {
		return nil, err
	}
	if info.Size <= 0 {
		return &mapping{}, nil
	}
	bytes, err := syscall.Mmap(int(descriptor), 0, int(info.Size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &mapping{bytes}, nil
}

func (m *mapping) size() (int64, error) { return int64(len(m.bytes)), nil }

func (m *mapping) readAt(to []byte, offset int64) error {
	return guarded(func() int { return copy(to, m.bytes[offset:]) }, len(to))
}

func (m *mapping) writeAt(from []byte, offset int64) error {
	return guarded(func() int { return copy(m.bytes[offset:], from) }, len(from))
}

// guarded copies, and makes an error of a fault in the mapping. The setting is that of the goroutine.
func guarded(copied func() int, want int) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		if fault := recover(); fault != nil {
			err = fmt.Errorf("the object cannot be reached: %v", fault)
		}
	}()
	if n := copied(); n < want {
		return fmt.Errorf("the object has ended after %d of %d bytes", n, want)
	}
	return nil
}

func (m *mapping) close() {
	if m.bytes != nil {
		_ = syscall.Munmap(m.bytes) // the error cannot be reported
	}
}
