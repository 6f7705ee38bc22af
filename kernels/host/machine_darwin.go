package host

import (
	"runtime"
	"syscall"
)

// processorName is what macOS calls the processor.
func processorName() string {
	name, err := syscall.Sysctl("machdep.cpu.brand_string")
	if err != nil || name == "" {
		return runtime.GOARCH
	}
	return name
}

// totalMemory is the memory of the machine in bytes. Sysctl takes the answer for a string and cuts
// a final zero byte off, which is the highest of the number's eight bytes.
func totalMemory() int64 {
	raw, err := syscall.Sysctl("hw.memsize")
	if err != nil || len(raw) > 8 {
		return 0
	}
	size := int64(0)
	for i := range len(raw) {
		size |= int64(raw[i]) << (8 * i)
	}
	return size
}

// adviseHuge does nothing: macOS has no such advice for anonymous memory.
func adviseHuge([]byte) {}
