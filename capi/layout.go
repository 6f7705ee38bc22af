package main

// #include "shim.h"
import "C"

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// The Go forms of C structs have the sizes and the offsets of the header, or this does not compile.
var (
	_ [unsafe.Sizeof(arg{})]byte        = [C.sizeof_pmps_arg]byte{}
	_ [unsafe.Offsetof(arg{}.bits)]byte = [unsafe.Offsetof(C.pmps_arg{}.value)]byte{}

	_ [unsafe.Sizeof(attr{})]byte         = [C.sizeof_pmps_attr]byte{}
	_ [unsafe.Offsetof(attr{}.name)]byte  = [unsafe.Offsetof(C.pmps_attr{}.name)]byte{}
	_ [unsafe.Offsetof(attr{}.kind)]byte  = [unsafe.Offsetof(C.pmps_attr{}.kind)]byte{}
	_ [unsafe.Offsetof(attr{}.bits)]byte  = [unsafe.Offsetof(C.pmps_attr{}.value)]byte{}
	_ [unsafe.Offsetof(attr{}.count)]byte = [unsafe.Offsetof(C.pmps_attr{}.count)]byte{}

	_ [unsafe.Sizeof(item{})]byte         = [C.sizeof_pmps_index]byte{}
	_ [unsafe.Offsetof(item{}.has)]byte   = [unsafe.Offsetof(C.pmps_index{}.has)]byte{}
	_ [unsafe.Offsetof(item{}.start)]byte = [unsafe.Offsetof(C.pmps_index{}.start)]byte{}
	_ [unsafe.Offsetof(item{}.step)]byte  = [unsafe.Offsetof(C.pmps_index{}.step)]byte{}

	_ [unsafe.Sizeof(dlTensor{})]byte              = [C.sizeof_DLTensor]byte{}
	_ [unsafe.Offsetof(dlTensor{}.rank)]byte       = [unsafe.Offsetof(C.DLTensor{}.ndim)]byte{}
	_ [unsafe.Offsetof(dlTensor{}.number)]byte     = [unsafe.Offsetof(C.DLTensor{}.dtype)]byte{}
	_ [unsafe.Offsetof(dlTensor{}.shape)]byte      = [unsafe.Offsetof(C.DLTensor{}.shape)]byte{}
	_ [unsafe.Offsetof(dlTensor{}.byteOffset)]byte = [unsafe.Offsetof(C.DLTensor{}.byte_offset)]byte{}

	_ [unsafe.Sizeof(kernelArg{})]byte        = [C.sizeof_pmps_kernel_arg]byte{}
	_ [unsafe.Offsetof(kernelArg{}.data)]byte = [unsafe.Offsetof(C.pmps_kernel_arg{}.data)]byte{}
	_ [unsafe.Offsetof(kernelArg{}.size)]byte = [unsafe.Offsetof(C.pmps_kernel_arg{}.size)]byte{}

	_ [argNone]byte   = [C.PMPS_ARG_NONE]byte{}
	_ [argTensor]byte = [C.PMPS_ARG_TENSOR]byte{}
	_ [argBool]byte   = [C.PMPS_ARG_BOOL]byte{}
	_ [argInt]byte    = [C.PMPS_ARG_INT]byte{}
	_ [argFloat]byte  = [C.PMPS_ARG_FLOAT]byte{}

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
