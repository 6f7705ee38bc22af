package convert

import (
	"math"
	"slices"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Arg, attr and item are pmps_arg, pmps_attr and pmps_index as Go sees them: a union is its bits.
// layout.go holds them to the header.
type (
	Arg struct {
		kind, reserved uint32
		Bits           uint64
	}
	Attr struct {
		Name           *byte
		Kind, reserved uint32
		Bits           uint64
		Count          int64
	}
	Item struct {
		kind, Has         int32
		Start, stop, Step int64
	}
)

// Kinds of operands, as in the header. Those of attributes are the numbers of op.ValueKind.
const (
	ArgNone   = 0
	ArgTensor = 1
	ArgBool   = 2
	ArgInt    = 3
	ArgFloat  = 4
)

// RowOf finds an operator by its number.
func RowOf(id uint64) (*op.Row, error) {
	if id <= math.MaxUint16 {
		if row := op.ByID(op.ID(id)); row != nil {
			return row, nil
		}
	}
	return nil, status.Errorf(status.NotFound, "[op] no operator has the number %d", id)
}

// Call is an operator with its operands and attributes, resolved. Its tensors are held until release.
type Call struct {
	Row *op.Row
	In  []runtime.Operand
	At  op.Attrs
	// Room for attributes of a call of the pool, all zero: the runtime keeps no part of it but lists of numbers, unless it traces.
	Room op.Attrs
	Out  *runtime.Tensor // nil: the results are new

	Displaced int32 // what marks new tensors; see placed
}

// Bind reads a call from the caller's memory and copies what it needs. After an error no tensor is held.
func Bind(rt *runtime.Runtime, id uint64, args unsafe.Pointer, argCount uint64, attrs unsafe.Pointer, attrCount uint64) (c Call, err error) {
	if c.Row, err = RowOf(id); err != nil {
		return c, err
	}
	given, err := Array[Arg](c.Row.Name, "operands", args, argCount)
	if err != nil {
		return c, err
	}
	named, err := Array[Attr](c.Row.Name, "attributes", attrs, attrCount)
	if err != nil {
		return c, err
	}
	if c.At, err = attributes(rt, c.Row, named); err != nil {
		return c, err
	}
	if err := c.Operands(rt, given); err != nil {
		c.Release()
		return Call{}, err
	}
	return c, nil
}

// Operands resolves the operands. Those before the first wrong one are held even after an error: release is
// for the caller to call.
func (c *Call) Operands(rt *runtime.Runtime, given []Arg) error {
	c.In = slices.Grow(c.In[:0], max(len(given), len(c.Row.In)))
	for i := range given {
		o, err := operand(rt, c.Row, i, &given[i])
		if err != nil {
			return err
		}
		c.In = append(c.In, o)
	}
	for len(c.In) < len(c.Row.In) { // trailing ones that were not given
		c.In = append(c.In, runtime.Operand{})
	}
	return nil
}

// Release ends what bind holds; it may be called once.
func (c *Call) Release() {
	for i := range c.In {
		if t := c.In[i].Tensor; t != nil {
			t.Release()
		}
	}
	releaseTensors(c.At)
	if c.Out != nil {
		c.Out.Release()
	}
}

// operand resolves one operand; a tensor is held.
func operand(rt *runtime.Runtime, row *op.Row, i int, a *Arg) (o runtime.Operand, err error) {
	if a.reserved != 0 {
		return o, status.Errorf(status.Invalid, "[%s] reserved of operand %d is %d; want 0", row.Name, i, a.reserved)
	}
	switch a.kind {
	case ArgNone:
	case ArgTensor:
		if o.Tensor = rt.Acquire(a.Bits); o.Tensor == nil {
			return o, StaleOperand(row, i, rt.HandleHistory(a.Bits))
		}
	default:
		o.Value, err = Scalar(row.Name, uint64(a.kind), a.Bits)
	}
	return o, err
}

// Scalar reads a scalar, or one that is not given, which is not Set.
func (a *Arg) Scalar(who string) (v op.Value, err error) {
	switch {
	case a.reserved != 0:
		return v, status.Errorf(status.Invalid, "[%s] reserved is %d; want 0", who, a.reserved)
	case a.kind == ArgTensor:
		return v, status.Errorf(status.Type, "[%s] got a tensor; want a bool, an int or a float", who)
	case a.kind == ArgNone:
		return v, nil
	}
	return Scalar(who, uint64(a.kind), a.Bits)
}

// Scalar reads a bool, an int or a float from its bits.
func Scalar(who string, kind, bits uint64) (v op.Value, err error) {
	switch kind {
	case ArgBool:
		v.Kind = op.Bool
		if bits != 0 {
			v.I = 1
		}
	case ArgInt:
		v.Kind, v.I = op.Int, int64(bits)
	case ArgFloat:
		v.Kind, v.F = op.Float, math.Float64frombits(bits)
	default:
		return v, status.Errorf(status.Type, "[%s] an operand has kind %d; want one of pmps_arg_kind", who, kind)
	}
	return v, nil
}

// StaleOperand is the error for operand i, whose handle is not valid. history is what is known of the handle.
func StaleOperand(row *op.Row, i int, history string) error {
	name := "?"
	if n := len(row.In); n > 0 {
		name = row.In[min(i, n-1)].Name
	}
	return status.Errorf(status.InvalidHandle, "[%s] operand %d (%s) is null, freed or not of a tensor; want a live tensor%s", row.Name, i, name, history)
}

// AcquireAll holds the tensors of handles, and appends them to ts. After an error it returns those before the first
// invalid handle, for the caller to release.
func AcquireAll(ts []*runtime.Tensor, rt *runtime.Runtime, who string, handles []uint64) ([]*runtime.Tensor, error) {
	for i, h := range handles {
		t := rt.Acquire(h)
		if t == nil {
			return ts, status.Errorf(status.InvalidHandle, "[%s] input %d is null, freed or not of a tensor; want a live tensor%s", who, i, rt.HandleHistory(h))
		}
		ts = append(ts, t)
	}
	return ts, nil
}

// ReleaseAll ends what acquireAll holds.
func ReleaseAll(ts []*runtime.Tensor) {
	for _, t := range ts {
		t.Release()
	}
}

// IndexItems appends the items of an index expression to room, which the caller may have on its stack.
func IndexItems(room []runtime.IndexItem, p unsafe.Pointer, count uint64) ([]runtime.IndexItem, error) {
	given, err := Array[Item]("index", "items", p, count)
	if err != nil {
		return nil, err
	}
	for i := range given {
		it := &given[i]
		if it.kind < 0 || it.kind > int32(runtime.IndexEllipsis) {
			return nil, status.Errorf(status.Type, "[index] item %d has kind %d; want one of pmps_index_kind", i, it.kind)
		}
		if it.Has < 0 || it.Has > 7 {
			return nil, status.Errorf(status.Invalid, "[index] has of item %d is %d; want bits 0 to 2", i, it.Has)
		}
		room = append(room, runtime.IndexItem{
			Kind: runtime.IndexKind(it.kind), Has: uint8(it.Has),
			Start: it.Start, Stop: it.stop, Step: it.Step,
		})
	}
	return room, nil
}
