package host

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
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

// lastCache is the bytes of the largest cache of a processor; 32 MiB where the system does not say.
func lastCache() int64 {
	text, err := os.ReadFile("/sys/devices/system/cpu/cpu0/cache/index3/size")
	kib, isKiB := strings.CutSuffix(strings.TrimSpace(string(text)), "K")
	size, wrong := strconv.ParseInt(kib, 10, 64)
	if err != nil || !isKiB || wrong != nil || size <= 0 {
		return 32 << 20
	}
	return size << 10
}

// adviseHuge asks for huge pages. It is advice: a kernel without them runs as well, only slower.
func adviseHuge(mem []byte) { _ = syscall.Madvise(mem, syscall.MADV_HUGEPAGE) }
