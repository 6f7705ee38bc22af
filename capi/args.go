package main

import (
	"bytes"
	"math"
	"strings"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// arg, attr and item are pmps_arg, pmps_attr and pmps_index as Go sees them: a union is its bits.
// layout.go holds them to the header.
type (
	arg struct {
		kind, reserved uint32
		bits           uint64
	}
	attr struct {
		name  [20]byte
		kind  uint32
		bits  uint64
		count int64
	}
	item struct {
		kind, has         int32
		start, stop, step int64
	}
)

// Kinds of operands, as in the header. Those of attributes are the numbers of op.ValueKind.
const (
	argNone   = 0
	argTensor = 1
	argBool   = 2
	argInt    = 3
	argFloat  = 4
)

// rowOf finds an operator by its number.
func rowOf(id uint64) (*op.Row, error) {
	if id <= math.MaxUint16 {
		if row := op.ByID(op.ID(id)); row != nil {
			return row, nil
		}
	}
	return nil, status.Errorf(status.NotFound, "[op] no operator has the number %d", id)
}

// call is an operator with its operands and attributes, resolved. Its tensors are held until release.
type call struct {
	row *op.Row
	in  []runtime.Operand
	at  op.Attrs
}

// bind reads a call from the caller's memory and copies what it needs.
func bind(rt *runtime.Runtime, id uint64, args unsafe.Pointer, argCount uint64, attrs unsafe.Pointer, attrCount uint64) (c call, err error) {
	if c.row, err = rowOf(id); err != nil {
		return c, err
	}
	given, err := array[arg](c.row.Name, "operands", args, argCount)
	if err != nil {
		return c, err
	}
	named, err := array[attr](c.row.Name, "attributes", attrs, attrCount)
	if err != nil {
		return c, err
	}
	if c.at, err = attributes(c.row, named); err != nil {
		return c, err
	}
	c.in = make([]runtime.Operand, 0, max(len(given), len(c.row.In)))
	for i := range given {
		o, err := operand(rt, c.row, i, &given[i])
		if err != nil {
			c.release()
			return call{}, err
		}
		c.in = append(c.in, o)
	}
	for len(c.in) < len(c.row.In) { // trailing ones that were not given
		c.in = append(c.in, runtime.Operand{})
	}
	return c, nil
}

func (c *call) release() {
	for i := range c.in {
		if t := c.in[i].Tensor; t != nil {
			t.Release()
		}
	}
}

// operand resolves one operand; a tensor is held.
func operand(rt *runtime.Runtime, row *op.Row, i int, a *arg) (o runtime.Operand, err error) {
	if a.reserved != 0 {
		return o, status.Errorf(status.Invalid, "[%s] reserved of operand %d is %d; want 0", row.Name, i, a.reserved)
	}
	switch a.kind {
	case argNone:
	case argTensor:
		if o.Tensor = rt.Acquire(a.bits); o.Tensor == nil {
			return o, staleOperand(row, i, rt.Story(a.bits))
		}
	default:
		o.Value, err = scalar(row, uint64(a.kind), a.bits)
	}
	return o, err
}

// scalar reads a bool, an int or a float from its bits.
func scalar(row *op.Row, kind, bits uint64) (v op.Value, err error) {
	switch kind {
	case argBool:
		v.Kind = op.Bool
		if bits != 0 {
			v.I = 1
		}
	case argInt:
		v.Kind, v.I = op.Int, int64(bits)
	case argFloat:
		v.Kind, v.F = op.Float, math.Float64frombits(bits)
	default:
		return v, status.Errorf(status.Type, "[%s] an operand has kind %d; want one of pmps_arg_kind", row.Name, kind)
	}
	return v, nil
}

// staleOperand is the error for an operand whose handle is not valid.
func staleOperand(row *op.Row, i int, story string) error {
	name := "?"
	if n := len(row.In); n > 0 {
		name = row.In[min(i, n-1)].Name
	}
	return status.Errorf(status.InvalidHandle, "[%s] operand %d (%s) is null, freed or not of a tensor; want a live tensor%s", row.Name, i, name, story)
}

// attributes puts named attributes into the row's order; those that are absent stay unset.
func attributes(row *op.Row, named []attr) (op.Attrs, error) {
	at := make(op.Attrs, len(row.Attrs))
	for i := range named {
		a := &named[i]
		name, _, terminated := bytes.Cut(a.name[:], []byte{0})
		if !terminated {
			return nil, status.Errorf(status.Invalid, "[%s] the name of attribute %d (%q) has no zero at its end", row.Name, i, a.name[:])
		}
		k := row.AttrIndex(string(name))
		switch {
		case k < 0:
			return nil, status.Errorf(status.NotFound, "[%s] has no attribute %q; want %s", row.Name, name, attributeNames(row))
		case at[k].Set():
			return nil, status.Errorf(status.Invalid, "[%s] attribute %s is given twice", row.Name, name)
		}
		var err error
		if at[k], err = a.value(row); err != nil {
			return nil, err
		}
	}
	return at, nil
}

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

// value reads an attribute's value; ints are copied.
func (a *attr) value(row *op.Row) (v op.Value, err error) {
	v.Kind = op.ValueKind(min(a.kind, math.MaxUint8))
	switch v.Kind {
	case op.None:
	case op.Bool:
		if a.bits != 0 {
			v.I = 1
		}
	case op.Int, op.DType:
		v.I = int64(a.bits)
	case op.Float:
		v.F = math.Float64frombits(a.bits)
	case op.Ints:
		// SAFETY: for this kind the caller says that the union holds an address; array checks it.
		at := *(*unsafe.Pointer)(unsafe.Pointer(&a.bits))
		list, err := array[int64](row.Name, "numbers of an attribute", at, uint64(a.count))
		if err != nil {
			return v, err
		}
		v.Ints = append(make([]int64, 0, len(list)), list...)
	default:
		return v, status.Errorf(status.Type, "[%s] an attribute has kind %d; want one of pmps_attr_kind", row.Name, a.kind)
	}
	return v, nil
}

// indexItems reads the items of an index expression into room, which grows if it must.
func indexItems(room []runtime.IndexItem, p unsafe.Pointer, count uint64) ([]runtime.IndexItem, error) {
	given, err := array[item]("index", "items", p, count)
	if err != nil {
		return nil, err
	}
	for i := range given {
		it := &given[i]
		if it.kind < 0 || it.kind > int32(runtime.IndexEllipsis) {
			return nil, status.Errorf(status.Type, "[index] item %d has kind %d; want one of pmps_index_kind", i, it.kind)
		}
		if it.has < 0 || it.has > 7 {
			return nil, status.Errorf(status.Invalid, "[index] has of item %d is %d; want bits 0 to 2", i, it.has)
		}
		room = append(room, runtime.IndexItem{
			Kind: runtime.IndexKind(it.kind), Has: uint8(it.has),
			Start: it.start, Stop: it.stop, Step: it.step,
		})
	}
	return room, nil
}
