package main

// #include "shim.h"
import "C"

import (
	"errors"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/tritonlang"
)

// goTritonCompile is pmps_triton_compile. Both texts are C memory that the caller owns. It needs no device.
//
//export goTritonCompile
func goTritonCompile(ttir unsafe.Pointer, size C.size_t, options C.text_in, source, metadata **C.char) C.fault {
	const who = "triton_compile"
	return try(func(*runtime.Runtime) error {
		if source == nil || metadata == nil {
			return convert.NullPointer(who)
		}
		text, err := convert.Bytes(who, ttir, uint64(size))
		if err != nil {
			return err
		}
		var given []byte
		if options != nil {
			given = []byte(C.GoString(options))
		}
		o, file, err := tritonlang.ParseOptions(given)
		if err != nil {
			return tritonStatus(err)
		}
		k, err := tritonlang.Compile(string(text), file, o)
		if err != nil {
			return tritonStatus(err)
		}
		*source, *metadata = C.CString(k.Source), C.CString(k.Metadata)
		return nil
	})
}

// tritonStatus gives an error of the compiler its code: what is refused is unsupported, the rest an invalid argument.
func tritonStatus(err error) error {
	var unsupported *tritonlang.Unsupported
	var resources *tritonlang.OutOfResources
	if errors.As(err, &unsupported) || errors.As(err, &resources) {
		return status.Errorf(status.Unsupported, "%s", err)
	}
	return status.Errorf(status.Invalid, "%s", err)
}
