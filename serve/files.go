package serve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// The sizes of files in bytes. A load reads a file as a whole, so that one without an end must not take all memory.
const (
	largestConfig = 16 << 20
	largestLabels = 16 << 20
	largestModel  = 2<<30 - 1 // the limit of protobuf; larger weights are external data, which are mapped
)

// opener opens a file: os.OpenFile, or that of an os.Root, which no path leads out of.
type opener func(path string, flag int, mode fs.FileMode) (*os.File, error)

// readFile reads a regular file of at most limit bytes. Nothing else is read: a pipe would keep the load, and the end of the
// server, waiting for its other end, and a device such as /dev/zero has no end.
func readFile(open opener, path string, limit int64) ([]byte, error) {
	// Without O_NONBLOCK, opening a pipe waits as well. For regular files it has no effect.
	f, err := open(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is %s; want a regular file", kindOf(info.Mode()))}
	case info.Size() > limit:
		return nil, tooLong(path, info.Size(), limit)
	}
	// The size is a hint: a file may grow while it is read. One more byte shows the end without another buffer.
	text := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case errors.Is(err, io.EOF):
			return text, nil
		case err != nil:
			return nil, err
		case int64(len(text)) > limit:
			return nil, tooLong(path, int64(len(text)), limit)
		case len(text) == cap(text):
			text = append(text, 0)[:len(text)]
		}
	}
}

// kindOf describes what is no regular file.
func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// tooLong is the error of a file that exceeds its limit.
func tooLong(path string, size, limit int64) error {
	return &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has %d bytes; want at most %d", size, limit)}
}
