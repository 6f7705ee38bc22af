package onnx

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// External data: elements of tensors in files beside the model. A model names such a file by a path relative to its own
// folder; one that leads out of the folder is refused, so that a model from a stranger reads no file of the user.

// mapping is a file in memory. It stays there until close, and nothing may read the elements of its tensors later.
//
// A file that another process makes shorter meanwhile ends this process, as with every program that maps files.
type mapping struct{ bytes []byte }

// readOnly opens a file without waiting, should it turn out to be a pipe.
const readOnly = os.O_RDONLY | syscall.O_NONBLOCK

// mapFile maps a file for reading. An empty file has no bytes. The mapping is private and is never written to.
func mapFile(f *os.File) (*mapping, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, status.Errorf(status.Invalid, "[onnx] %s", err)
	}
	if !info.Mode().IsRegular() {
		return nil, status.Errorf(status.Invalid, "[onnx] %s is no regular file", f.Name())
	}
	if info.Size() == 0 {
		return &mapping{}, nil
	}
	bytes, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, status.Errorf(status.Invalid, "[onnx] %s cannot be mapped: %s", f.Name(), err)
	}
	return &mapping{bytes}, nil
}

// close unmaps the file.
func (m *mapping) close() {
	if m.bytes != nil {
		_ = syscall.Munmap(m.bytes) // it fails for addresses that are not mapped alone
		m.bytes = nil
	}
}

// folder is the folder of a model, from which external data is read. Each file is mapped once.
type folder struct {
	path  string // empty: the model has none
	root  *os.Root
	files map[string]*mapping
}

// close unmaps the files.
func (d *folder) close() {
	for _, m := range d.files {
		m.close()
	}
	if d.root != nil {
		_ = d.root.Close() // read only
	}
	d.files, d.root = nil, nil
}

// read is the elements of a tensor. They are a part of the mapped file: its bytes from an offset on, which have to
// lie within it.
func (d *folder) read(t *Tensor) ([]byte, error) {
	location, offset, length := "", int64(0), int64(-1)
	for _, e := range t.external {
		var err error
		switch e.key {
		case "location":
			location = e.value
		case "offset":
			offset, err = strconv.ParseInt(e.value, 10, 64)
		case "length":
			length, err = strconv.ParseInt(e.value, 10, 64)
		}
		if err != nil {
			return nil, status.Errorf(status.Invalid, "[onnx] tensor %q has external data with %s %q; want a number", t.Name, e.key, e.value)
		}
	}
	m, err := d.open(t.Name, location)
	if err != nil {
		return nil, err
	}
	size := int64(len(m.bytes))
	if length < 0 {
		length = size - offset
	}
	if offset < 0 || length < 0 || offset > size || length > size-offset {
		return nil, status.Errorf(status.Invalid, "[onnx] tensor %q is bytes %d to %d of %q; want bytes of that file, which has %d", t.Name, offset, offset+length, location, size)
	}
	return m.bytes[offset:][:length:length], nil
}

// open maps a file of the folder. [os.Root] follows no link that leads out of it. Files are opened without waiting,
// and only regular ones are mapped: a pipe would never end.
func (d *folder) open(tensor, location string) (*mapping, error) {
	if d.path == "" {
		return nil, status.Errorf(status.Invalid, "[onnx] tensor %q is in the file %q; want a model that was read from a file, not from bytes", tensor, location)
	}
	if m := d.files[location]; m != nil {
		return m, nil
	}
	local := filepath.FromSlash(location)
	if !filepath.IsLocal(local) {
		return nil, status.Errorf(status.Invalid, "[onnx] tensor %q is in the file %q; want a path within the folder of the model", tensor, location)
	}
	if d.root == nil {
		root, err := os.OpenRoot(d.path)
		if err != nil {
			return nil, status.Errorf(status.Invalid, "[onnx] %s", err)
		}
		d.root, d.files = root, map[string]*mapping{}
	}
	f, err := d.root.OpenFile(local, readOnly, 0)
	if err != nil {
		return nil, status.Errorf(status.Invalid, "[onnx] tensor %q: %s", tensor, err)
	}
	defer f.Close()
	m, err := mapFile(f)
	if err == nil {
		d.files[location] = m
	}
	return m, err
}
