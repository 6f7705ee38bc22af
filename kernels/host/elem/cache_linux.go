package elem

import (
	"os"
	"strconv"
	"strings"
)

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
