package main

// #include "shim.h"
import "C"

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// The Go forms of C structs have the sizes and the offsets of the header, or this does not compile.
var (
	_ [unsafe.Sizeof(convert.Arg{})]byte        = [C.sizeof_pmps_arg]byte{}
	_ [unsafe.Offsetof(convert.Arg{}.Bits)]byte = [unsafe.Offsetof(C.pmps_arg{}.value)]byte{}

	_ [unsafe.Sizeof(convert.Attr{})]byte         = [C.sizeof_pmps_attr]byte{}
	_ [unsafe.Offsetof(convert.Attr{}.Name)]byte  = [unsafe.Offsetof(C.pmps_attr{}.name)]byte{}
	_ [unsafe.Offsetof(convert.Attr{}.Kind)]byte  = [unsafe.Offsetof(C.pmps_attr{}.kind)]byte{}
	_ [unsafe.Offsetof(convert.Attr{}.Bits)]byte  = [unsafe.Offsetof(C.pmps_attr{}.value)]byte{}
	_ [unsafe.Offsetof(convert.Attr{}.Count)]byte = [unsafe.Offsetof(C.pmps_attr{}.count)]byte{}

	_ [unsafe.Sizeof(convert.Item{})]byte         = [C.sizeof_pmps_index]byte{}
	_ [unsafe.Offsetof(convert.Item{}.Has)]byte   = [unsafe.Offsetof(C.pmps_index{}.has)]byte{}
	_ [unsafe.Offsetof(convert.Item{}.Start)]byte = [unsafe.Offsetof(C.pmps_index{}.start)]byte{}
	_ [unsafe.Offsetof(convert.Item{}.Step)]byte  = [unsafe.Offsetof(C.pmps_index{}.step)]byte{}

	_ [unsafe.Sizeof(convert.DLTensor{})]byte              = [C.sizeof_DLTensor]byte{}
	_ [unsafe.Offsetof(convert.DLTensor{}.Rank)]byte       = [unsafe.Offsetof(C.DLTensor{}.ndim)]byte{}
	_ [unsafe.Offsetof(convert.DLTensor{}.Number)]byte     = [unsafe.Offsetof(C.DLTensor{}.dtype)]byte{}
	_ [unsafe.Offsetof(convert.DLTensor{}.Shape)]byte      = [unsafe.Offsetof(C.DLTensor{}.shape)]byte{}
	_ [unsafe.Offsetof(convert.DLTensor{}.ByteOffset)]byte = [unsafe.Offsetof(C.DLTensor{}.byte_offset)]byte{}

	_ [unsafe.Sizeof(convert.KernelArg{})]byte        = [C.sizeof_pmps_kernel_arg]byte{}
	_ [unsafe.Offsetof(convert.KernelArg{}.Data)]byte = [unsafe.Offsetof(C.pmps_kernel_arg{}.data)]byte{}
	_ [unsafe.Offsetof(convert.KernelArg{}.Size)]byte = [unsafe.Offsetof(C.pmps_kernel_arg{}.size)]byte{}

	_ [convert.ArgNone]byte   = [C.PMPS_ARG_NONE]byte{}
	_ [convert.ArgTensor]byte = [C.PMPS_ARG_TENSOR]byte{}
	_ [convert.ArgBool]byte   = [C.PMPS_ARG_BOOL]byte{}
	_ [convert.ArgInt]byte    = [C.PMPS_ARG_INT]byte{}
	_ [convert.ArgFloat]byte  = [C.PMPS_ARG_FLOAT]byte{}

	_ [op.Bool]byte    = [C.PMPS_ATTR_BOOL]byte{}
	_ [op.Int]byte     = [C.PMPS_ATTR_INT]byte{}
	_ [op.Float]byte   = [C.PMPS_ATTR_FLOAT]byte{}
	_ [op.Ints]byte    = [C.PMPS_ATTR_INTS]byte{}
	_ [op.DType]byte   = [C.PMPS_ATTR_DTYPE]byte{}
	_ [op.String]byte  = [C.PMPS_ATTR_STRING]byte{}
	_ [op.Floats]byte  = [C.PMPS_ATTR_FLOATS]byte{}
	_ [op.Strings]byte = [C.PMPS_ATTR_STRINGS]byte{}
	_ [op.Tensor]byte  = [C.PMPS_ATTR_TENSOR]byte{}
	_ [op.Graph]byte   = [C.PMPS_ATTR_GRAPH]byte{}
)
