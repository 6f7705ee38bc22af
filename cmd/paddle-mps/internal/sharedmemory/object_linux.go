package sharedmemory

import (
	"fmt"
	"os"
	"syscall"
)

// folder is where Linux has the objects that shm_open opens: shm_overview(7).
const folder = "/dev/shm"

// file is an object as the file that it is on Linux.
type file struct{ *os.File }

// open opens the object with a key, which checkKey has seen, for reading and writing.
func open(key string) (object, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only looked into
	for key[0] == '/' {
		key = key[1:]
	}
	// A link or a pipe of that name is no object, and opening a pipe would wait for its other end.
	f, err := root.OpenFile(key, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close() // it is not used
		return nil, fmt.Errorf("%s is no shared-memory object", key)
	}
	return file{f}, nil
}

func (f file) size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// readAt and writeAt fail where the object has become shorter: nothing is mapped that could fault.
func (f file) readAt(to []byte, offset int64) error {
	_, err := f.ReadAt(to, offset)
	return err
}

func (f file) writeAt(from []byte, offset int64) error {
	_, err := f.WriteAt(from, offset)
	return err
}

func (f file) close() { _ = f.Close() } // the error cannot be reported
