// Package mapped reads files through memory mappings: programs and models, whose weights are then read page by page and
// copied only when they go to a device.
//
// If another process truncates the file, reading the mapping ends this process, as in every program that maps files. To
// update such a file, write a new one and rename it into place.
package mapped

import (
	"fmt"
	"os"
	"syscall"
)

// ReadOnly opens a file for Of without waiting, should it turn out to be a pipe.
const ReadOnly = os.O_RDONLY | syscall.O_NONBLOCK

// File is a file in memory. The mapping is private and is never written to.
type File struct{ Bytes []byte }

// Open maps the file of a path. Errors are those of the system, which name it.
func Open(path string) (*File, error) {
	f, err := os.OpenFile(path, ReadOnly, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Of(f)
}

// Of maps an open file, which may be closed then. An empty file has no bytes.
func Of(f *os.File) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a folder; want a file", f.Name())
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", f.Name())
	}
	if info.Size() == 0 {
		return &File{}, nil
	}
	bytes, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be mapped: %w", f.Name(), err)
	}
	return &File{bytes}, nil
}

// Close unmaps the file, once. Nothing may read its bytes later: devices have copies of them, or what they made of them when
// they compiled.
func (m *File) Close() error {
	bytes := m.Bytes
	m.Bytes = nil
	if bytes == nil {
		return nil
	}
	return syscall.Munmap(bytes)
}
