package convert

import (
	"math"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// maxText bounds names and texts without a length: with a wrong pointer the search for the zero stops there.
const maxText = 1 << 12

// attributes puts named attributes into the row's order; those that are absent stay unset. Tensors among
// them are held until releaseTensors.
func attributes(rt *runtime.Runtime, row *op.Row, named []Attr) (op.Attrs, error) {
	at := make(op.Attrs, len(row.Attrs))
	for i := range named {
		if err := putAttribute(rt, row, at, i, &named[i]); err != nil {
			releaseTensors(at)
			return nil, err
		}
	}
	return at, nil
}

// ConstantAttributes are those of a call in a graph. Tensors are status.Unsupported, because the graph may outlive
// their handles.
func ConstantAttributes(rt *runtime.Runtime, row *op.Row, attrs unsafe.Pointer, count uint64) (op.Attrs, error) {
	named, err := Array[Attr](row.Name, "attributes", attrs, count)
	if err != nil {
		return nil, err
	}
	at, err := attributes(rt, row, named)
	if err != nil {
		return nil, err
	}
	for i := range at {
		if at[i].Kind == op.Tensor {
			releaseTensors(at)
			return nil, status.Errorf(status.Unsupported, "[%s] attribute %s is a tensor; want none in a graph", row.Name, row.Attrs[i].Name)
		}
	}
	return at, nil
}

// putAttribute puts attribute i of a call into its place.
func putAttribute(rt *runtime.Runtime, row *op.Row, at op.Attrs, i int, a *Attr) (err error) {
	name, ok := terminated(a.Name)
	if !ok {
		return status.Errorf(status.Invalid, "[%s] the name of attribute %d is null or has no zero within %d bytes", row.Name, i, maxText)
	}
	k := row.AttrIndex(name)
	switch {
	case k < 0:
		return status.Errorf(status.NotFound, "[%s] has no attribute %q; want %s", row.Name, name, attributeNames(row))
	case at[k].Set():
		return status.Errorf(status.Invalid, "[%s] attribute %s is given twice", row.Name, name)
	case a.reserved != 0:
		return status.Errorf(status.Invalid, "[%s] reserved of attribute %s is %d; want 0", row.Name, name, a.reserved)
	}
	at[k], err = a.Value(rt, row)
	return err
}

// attributeNames are a row's attributes for an error message.
func attributeNames(row *op.Row) string {
	if len(row.Attrs) == 0 {
		return "none"
	}
	var names []string
	for i := range row.Attrs {
		names = append(names, row.Attrs[i].Name)
	}
	return strings.Join(names, ", ")
}

// releaseTensors gives back the tensors among attributes.
func releaseTensors(at op.Attrs) {
	for i := range at {
		if t, ok := at[i].Ref.(*runtime.Tensor); ok {
			t.Release()
		}
	}
}

// Value reads an attribute's value. What it points to is copied, a tensor is held.
func (a *Attr) Value(rt *runtime.Runtime, row *op.Row) (v op.Value, err error) {
	v.Kind = op.ValueKind(min(a.Kind, math.MaxUint8))
	switch v.Kind {
	case op.None:
	case op.Bool:
		if a.Bits != 0 {
			v.I = 1
		}
	case op.Int, op.DType:
		v.I = int64(a.Bits)
	case op.Float:
		v.F = math.Float64frombits(a.Bits)
	case op.Ints:
		v.Ints, err = copied[int64](a, row)
	case op.Floats:
		v.Ref, err = copied[float64](a, row)
	case op.String:
		v.Ref, err = a.oneText(row)
	case op.Strings:
		v.Ref, err = a.texts(row)
	case op.Tensor:
		return a.tensor(rt, row)
	case op.Graph:
		return v, status.Errorf(status.Unsupported, "[%s] an attribute is a graph; there are no operators that take one yet", row.Name)
	default:
		return v, status.Errorf(status.Type, "[%s] an attribute has kind %d; want one of pmps_attr_kind", row.Name, a.Kind)
	}
	return v, err
}

// pointer is the address that the union holds for kinds with one.
func (a *Attr) pointer() unsafe.Pointer {
	// SAFETY: only read for kinds for which the caller says that the union holds an address; array checks it.
	return *(*unsafe.Pointer)(unsafe.Pointer(&a.Bits))
}

// copied is a list of numbers in memory of our own, never nil.
func copied[T int64 | float64](a *Attr, row *op.Row) ([]T, error) {
	list, err := Array[T](row.Name, "numbers of an attribute", a.pointer(), uint64(a.Count))
	if err != nil {
		return nil, err
	}
	return append(make([]T, 0, len(list)), list...), nil
}

// oneText is a text with a length, copied.
func (a *Attr) oneText(row *op.Row) (string, error) {
	bytes, err := Array[byte](row.Name, "bytes of an attribute", a.pointer(), uint64(a.Count))
	if err != nil {
		return "", err
	}
	return valid(row, string(bytes))
}

// texts are texts that end with a zero, copied.
func (a *Attr) texts(row *op.Row) ([]string, error) {
	list, err := Array[*byte](row.Name, "texts of an attribute", a.pointer(), uint64(a.Count))
	if err != nil {
		return nil, err
	}
	made := make([]string, 0, len(list))
	for i, p := range list {
		s, ok := terminated(p)
		if !ok {
			return nil, status.Errorf(status.Invalid, "[%s] text %d of an attribute is null or has no zero within %d bytes", row.Name, i, maxText)
		}
		if s, err = valid(row, strings.Clone(s)); err != nil {
			return nil, err
		}
		made = append(made, s)
	}
	return made, nil
}

// valid refuses text that is not UTF-8.
func valid(row *op.Row, s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", status.Errorf(status.Invalid, "[%s] an attribute is %q; want UTF-8", row.Name, s)
	}
	return s, nil
}

// tensor holds the tensor of an attribute until releaseTensors.
func (a *Attr) tensor(rt *runtime.Runtime, row *op.Row) (v op.Value, err error) {
	t := rt.Acquire(a.Bits)
	if t == nil {
		return v, status.Errorf(status.InvalidHandle, "[%s] an attribute is null, freed or not of a tensor; want a live tensor%s", row.Name, rt.HandleHistory(a.Bits))
	}
	return op.Value{Kind: op.Tensor, Ref: t}, nil
}

// terminated is the caller's text at p, borrowed, up to its zero; false for null, and if there is no zero within
// maxText bytes.
func terminated(p *byte) (string, bool) {
	if p == nil {
		return "", false
	}
	for n := range maxText {
		// SAFETY: the C contract says that p points to text that ends with a zero; none of it has come yet.
		if *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) == 0 {
			return unsafe.String(p, n), true
		}
	}
	return "", false
}
