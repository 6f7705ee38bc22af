package mapped

import "syscall"

// Release has the system drop whole pages of a mapped file that were read: they count as memory of the process. Reading them
// again takes them from the file, or from the system's cache of it. Others may read meanwhile.
func Release(pages []byte) {
	_ = syscall.Madvise(pages, syscall.MADV_DONTNEED) // the mapping is read only, so that the bytes stay what they are
}
