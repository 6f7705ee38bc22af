package convert

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// DLTensor is DLTensor of dlpack.h as Go sees it; layout.go holds it to the C struct.
type DLTensor struct {
	data       unsafe.Pointer
	deviceType int32
	DeviceID   int32
	Rank       int32
	Number     DLNumber
	Shape      unsafe.Pointer
	strides    unsafe.Pointer
	ByteOffset uint64
}

// DLNumber is DLDataType.
type DLNumber struct {
	Code, Bits uint8
	Lanes      uint16
}

// dlCPU is the device type kDLCPU.
const dlCPU = 1

// DLNumbers are our element types in DLPack's terms: kDLInt is 0, kDLUInt 1, kDLFloat 2, kDLBfloat 4,
// kDLComplex 5 and kDLBool 6.
var DLNumbers = [dtype.Last + 1]DLNumber{
	dtype.Bool:     {6, 8, 1},
	dtype.Uint8:    {1, 8, 1},
	dtype.Int8:     {0, 8, 1},
	dtype.Int16:    {0, 16, 1},
	dtype.Int32:    {0, 32, 1},
	dtype.Int64:    {0, 64, 1},
	dtype.Float16:  {2, 16, 1},
	dtype.BFloat16: {4, 16, 1},
	dtype.Float32:  {2, 32, 1},
	dtype.Float64:  {2, 64, 1},

	dtype.Complex64:  {5, 64, 1},
	dtype.Complex128: {5, 128, 1},
}

// dtype finds our element type; status.Type where there is none.
func (n DLNumber) dtype() (dtype.DType, error) {
	for d := dtype.Bool; d <= dtype.Last; d++ {
		if DLNumbers[d] == n {
			return d, nil
		}
	}
	return dtype.Invalid, status.Errorf(status.Type, "[from_dlpack] the numbers are %s with %d bits in %s; want a dtype of this library in 1 lane", n.kind(), n.Bits, status.Count(int(n.Lanes), "lane", "lanes"))
}

// kind is the kind of number in words, DLDataTypeCode.
func (n DLNumber) kind() string {
	names := [...]string{"integers", "unsigned integers", "floats", "opaque handles", "bfloats", "complex numbers", "bools"}
	if int(n.Code) < len(names) {
		return names[n.Code]
	}
	return fmt.Sprintf("of type code %d", n.Code)
}

// Read is what a tensor of another library is in our terms: its element type, its layout and the
// address of the element with all indices zero.
func (t *DLTensor) Read() (d dtype.DType, l shape.Layout, data unsafe.Pointer, err error) {
	if t.deviceType != dlCPU {
		return d, l, nil, status.Errorf(status.Unsupported, "[from_dlpack] the tensor is on a device of type %d; want memory of the CPU (%d): copy it there first", t.deviceType, dlCPU)
	}
	if d, err = t.Number.dtype(); err != nil {
		return d, l, nil, err
	}
	if l, err = LayoutOf("from_dlpack", t.Rank, t.Shape, t.strides, d.Size()); err != nil {
		return d, l, nil, err
	}
	if t.ByteOffset > math.MaxInt64 {
		return d, l, nil, status.Errorf(status.Invalid, "[from_dlpack] byte_offset is %d; want one that fits into memory", t.ByteOffset)
	}
	if t.data == nil {
		return d, l, nil, nil // the runtime refuses it unless there are no elements
	}
	// SAFETY: the other library owns both addresses and keeps them until its deleter is called.
	return d, l, unsafe.Add(t.data, int(t.ByteOffset)), nil
}
