package host

import (
	"bufio"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// processorName is what the kernel calls the processor.
func processorName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer func() { _ = f.Close() }() // opened for reading: nothing can be lost
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		if key = strings.TrimSpace(key); key == "model name" || key == "Model" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH // many ARM kernels give no name
}

// totalMemory is the memory of the machine in bytes.
func totalMemory() int64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit)) //nolint:unconvert // narrower on 32-bit machines
}

// adviseHuge asks for huge pages. It is advice: a kernel without them runs as well, only slower.
func adviseHuge(mem []byte) { _ = syscall.Madvise(mem, syscall.MADV_HUGEPAGE) }
