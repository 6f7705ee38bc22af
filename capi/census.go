package main

import (
	"github.com/paddle-mps/paddle-mps/core/native"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// #include "shim.h"
import "C"

// goDeviceCensus is pmps_device_census. The text is C memory that the caller owns; pmps_text_free frees it.
//
//export goDeviceCensus
func goDeviceCensus(p C.place_in, out **C.char) C.fault {
	return at(p, func(c *runtime.Context) error {
		if out == nil {
			return null("device_census")
		}
		text, err := native.InterfaceReport(c)
		if err == nil {
			*out = C.CString(text)
		}
		return err
	})
}
