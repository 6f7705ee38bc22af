package device

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Operand is a resolved tensor: an address, an element type and a layout. The address is that of the element
// with all indices zero; strides count elements and may be zero (broadcast) or negative.
// An optional operand that was left out has its place in the list, and no dtype and no address.
type Operand struct {
	Addr  unsafe.Pointer // CPU-visible; nil only when there are no elements, or no operand
	Heap  Heap           // the heap that Addr lies in; nil for scalars and foreign memory
	DType dtype.DType    // Invalid for an operand that was left out; see Absent
	// Const is the memory from Addr to the last element, where the elements are known when a plan is
	// compiled and no stride is negative; else nil. The layout says where in it they lie.
	Const []byte
	shape.Layout
}

// Call is one run of a program: its operands, attributes and scratch memory, in the canonical form in which
// every device takes an operator of that kind. Inputs have been cast to the dtypes that the row infers.
//
//   - Unary, Binary, Compare, Select, Convert, Create: inputs are broadcast to the output's
//     dimensions (broadcast axes have stride 0), so all operands have one shape.
//   - Reduce, Scan: the output has the input's rank; reduced axes (Axes) have dimension 1.
//   - Product: In[0] is batch..., M, K; In[1] is batch..., K, N; Out[0] is batch..., M, N; the
//     batch axes of all three agree (stride 0 where broadcast). Transposes are in the strides.
//   - Window: images are batch, channels, then one to three spatial axes, whatever the attribute
//     channels_last says: it is in the strides. Weights are as in the rows. op.WindowsOf reads the attributes.
//   - Attend: queries are batch..., length, size; keys batch..., keys, size; values batch..., keys, any; the result has the
//     lengths of the queries and the sizes of the values. A mask is batch..., length, keys, or left out. The batch axes
//     of all agree (stride 0 where broadcast).
//   - Recur: as the rows say it, in any layout.
//   - Index: see the rows; index operands are int64 and already broadcast.
//
// A scalar operand is an element in memory that lives as long as the call, with strides 0.
type Call struct {
	Op        op.ID
	In, Out   []Operand
	Attrs     op.Attrs
	Axes      op.Axes        // the axes that the operator works along
	Seed      [2]uint64      // for random operators: key and counter of a Philox generator
	Workspace unsafe.Pointer // as many bytes as Program.Workspace returned, aligned to 256
	Scratch   Heap           // the heap that Workspace lies in; nil where there is none
	Count     int64          // set by programs with a data-dependent result: elements along axis 0
	Grid      *Grid          // of a Library's kernel; nil for operators
	Stop      *Stop          // ends the call before its next step; nil where it cannot be ended

	// Owner is notified when the call completes.
	Owner Owner
}

// Owner is the side that submitted a call. The stream calls its methods from any goroutine.
type Owner interface {
	// Ready is called in the order of the stream and before Done, when all work that the call waits for has
	// completed: just before the call runs, or after it where a GPU ran it. An error means that an input was
	// not computed; the results are then invalid, and the stream passes the error to Done.
	Ready() error
	// Done is called exactly once, when the call has completed: with nil or its error. The stream must not
	// use the call afterwards.
	Done(err error)
}
