package file

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/paddle-mps/paddle-mps/core/mapped"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// External data: elements of tensors in files beside the model. A model names such a file by a path relative to its own
// folder; one that leads out of the folder is refused, so that a model from a stranger reads no file of the user.

// The files stay mapped as long as the model is there, because constants of its graphs are parts of them. Tensors of one file
// share one mapping, however many there are.

// Folder is the folder of a model, from which external data is read. Each file is mapped once.
type Folder struct {
	Path  string // empty: the model has none
	root  *os.Root
	Files map[string]*mapped.File

	unpacked int64 // bytes of tensors whose elements are copied, each to a byte
}

// Close unmaps the files.
func (d *Folder) Close() {
	for _, m := range d.Files {
		_ = m.Close() // read only
	}
	if d.root != nil {
		_ = d.root.Close() // read only
	}
	d.Files, d.root = nil, nil
}

// Read is the elements of a tensor. They are a part of the mapped file: its bytes from an offset on, which have to
// lie within it.
func (d *Folder) Read(t *Tensor) ([]byte, error) {
	location, offset, length := "", int64(0), int64(-1)
	for _, e := range t.External {
		var err error
		switch e.Key {
		case "location":
			location = e.Value
		case "offset":
			offset, err = strconv.ParseInt(e.Value, 10, 64)
		case "length":
			length, err = strconv.ParseInt(e.Value, 10, 64)
		}
		if err != nil {
			return nil, status.Errorf(status.Invalid, "[onnx] tensor %q has external data with %s %q; want a number", t.Name, e.Key, e.Value)
		}
	}
	m, err := d.open(t.Name, location)
	if err != nil {
		return nil, err
	}
	size := int64(len(m.Bytes))
	if length < 0 {
		length = size - offset
	}
	if offset < 0 || length < 0 || offset > size || length > size-offset {
		return nil, status.Errorf(status.Invalid, "[onnx] tensor %q is bytes %d to %d of %q; want bytes of that file, which has %d", t.Name, offset, offset+length, location, size)
	}
	return m.Bytes[offset:][:length:length], d.copied(t, length)
}

// copied counts the bytes of a tensor whose elements are unpacked. Tensors may overlap in a file; copies of all of them take
// no more memory than copies of the files, or they are refused.
func (d *Folder) copied(t *Tensor, length int64) error {
	if t.Elem.Bits() == 0 {
		return nil
	}
	size := int64(0)
	for _, m := range d.Files {
		size += int64(len(m.Bytes))
	}
	if d.unpacked += length; d.unpacked > size {
		return status.Errorf(status.Unsupported, "[onnx] tensor %q: tensors of %s overlap in the files with external data; want each in a place of its own", t.Name, t.Elem)
	}
	return nil
}

// open maps a file of the folder. [os.Root] follows no link that leads out of it. Files are opened without waiting,
// and only regular ones are mapped: a pipe would never end.
func (d *Folder) open(tensor, location string) (*mapped.File, error) {
	if d.Path == "" {
		return nil, status.Errorf(status.Invalid, "[onnx] tensor %q is in the file %q; want a model that was read from a file, not from bytes", tensor, location)
	}
	if m := d.Files[location]; m != nil {
		return m, nil
	}
	local := filepath.FromSlash(location)
	if !filepath.IsLocal(local) {
		return nil, status.Errorf(status.Invalid, "[onnx] tensor %q is in the file %q; want a path within the folder of the model", tensor, location)
	}
	if d.root == nil {
		root, err := os.OpenRoot(d.Path)
		if err != nil {
			return nil, status.Errorf(status.Invalid, "[onnx] %s", err)
		}
		d.root, d.Files = root, map[string]*mapped.File{}
	}
	f, err := d.root.OpenFile(local, mapped.ReadOnly, 0)
	if err != nil {
		return nil, status.Errorf(status.Invalid, "[onnx] tensor %q: %s", tensor, err)
	}
	defer f.Close()
	m, err := mapped.Of(f)
	if err != nil {
		return nil, status.Errorf(status.Invalid, "[onnx] tensor %q: %s", tensor, err)
	}
	d.Files[location] = m
	return m, nil
}
