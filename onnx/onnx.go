package onnx

import (
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
	"github.com/paddle-mps/paddle-mps/onnx/ops"
)

func init() { build.Define(ops.All()) }

// Model is a file that was read. It may be used from any goroutine until Close.
type Model = build.Model

// Form is a model for lists of tensors of some lengths.
type Form = build.Form

// Port is an input or output of a model, as the file declares it.
type Port = file.Port

// Open maps a file and reads the model in it. Errors of the system, such as a file that is not there, are
// status.Invalid with its message.
func Open(path string, fold build.Fold) (*Model, error) { return build.Open(path, fold) }

// Parse reads a model. bytes must not change until Close. dir is the folder for external data; empty: there is none.
// Nothing but the elements of tensors refers to bytes afterwards. It refuses operators that are missing, but
// resolves nothing: that takes the types of inputs.
func Parse(bytes []byte, dir string, fold build.Fold) (*Model, error) {
	return build.Parse(bytes, dir, fold)
}
