package backend

import (
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx"
)

// Datatype is an element type of the KServe protocol, with the numbers of the server's API.
type Datatype int32

// datatypes are the element types by number; those without a dtype are the ones that no tensor of the runtime has.
var datatypes = [...]struct {
	name  string // in a configuration, behind TYPE_
	dtype dtype.DType
}{
	{"INVALID", dtype.Invalid},
	{"BOOL", dtype.Bool},
	{"UINT8", dtype.Uint8},
	{"UINT16", dtype.Invalid},
	{"UINT32", dtype.Invalid},
	{"UINT64", dtype.Invalid},
	{"INT8", dtype.Int8},
	{"INT16", dtype.Int16},
	{"INT32", dtype.Int32},
	{"INT64", dtype.Int64},
	{"FP16", dtype.Float16},
	{"FP32", dtype.Float32},
	{"FP64", dtype.Float64},
	{"STRING", dtype.Invalid},
	{"BF16", dtype.BFloat16},
}

// String is the name in a configuration: TYPE_FP32. A number that is none is TYPE_INVALID, as the server has it for what it does
// not know.
func (d Datatype) String() string {
	if d < 0 || int(d) >= len(datatypes) {
		d = 0
	}
	return "TYPE_" + datatypes[d].name
}

// A dtype has one number at most, so that both directions agree. Complex numbers have none: the protocol does not know them.

// datatypeOf is the element type for a dtype; 0 where there is none.
func datatypeOf(d dtype.DType) Datatype {
	for i := range datatypes {
		if d != dtype.Invalid && datatypes[i].dtype == d {
			return Datatype(i)
		}
	}
	return 0
}

// datatypeOfPort is the element type of an input or an output of a file; an error names a type that is none, or that the
// runtime has no tensors of.
func datatypeOfPort(p *onnx.Port) (Datatype, error) {
	if d := datatypeOf(p.Elem.DType()); d != 0 && !p.Sequence && !p.Optional && !p.Other {
		return d, nil
	}
	var names []string
	for i := range datatypes {
		if datatypes[i].dtype != dtype.Invalid {
			names = append(names, Datatype(i).String())
		}
	}
	return 0, status.Errorf(status.Unsupported, "%q is %s in the file; want a tensor of one of %s", p.Name, p.Text(), strings.Join(names, ", "))
}
