package mapped

import "syscall"

// Release has the system drop whole pages of a mapped file that were read: they count as memory of the process. Reading them
// again takes them from the file, or from the system's cache of it. Others may read meanwhile.
func Release(pages []byte) {
	_ = syscall.Madvise(pages, syscall.MADV_DONTNEED) // of a mapping that nobody writes to, the bytes stay what they are
}
