package backend

import (
	"math"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// Datatype is an element type of the KServe protocol, with the numbers of the server's API.
type Datatype int32

// known is the type for a number; those that are none are tensors.Invalid.
func (d Datatype) known() tensors.Type {
	if d < 0 || d > math.MaxUint8 {
		return tensors.Invalid
	}
	return tensors.Type(d)
}

// dtype is that of the runtime's tensors with such elements, or with their bits; Invalid where there are none.
func (d Datatype) dtype() dtype.DType { return d.known().DType() }

// String is the name in a configuration: TYPE_FP32. A number that is none is TYPE_INVALID, as the server has it for what it does
// not know.
func (d Datatype) String() string { return d.known().ConfigName() }

// datatypeOfPort is the element type of an input or an output of a file; an error names a type that is none, or that no tensor
// of the runtime has.
func datatypeOfPort(p *onnx.Port) (Datatype, error) {
	if d := Datatype(tensors.OfElem(int32(p.Elem))); d != 0 && !p.Sequence && !p.Optional && !p.Other {
		return d, nil
	}
	var names []string
	for d := Datatype(tensors.Bool); d <= Datatype(tensors.BF16); d++ {
		if d.dtype() != dtype.Invalid {
			names = append(names, d.String())
		}
	}
	return 0, status.Errorf(status.Unsupported, "%q is %s in the file; want a tensor of one of %s", p.Name, p.Text(), strings.Join(names, ", "))
}
