// Package status is the one error type of the library: a code that callers branch on and a
// message that people read. A message starts with the operator in brackets and says what came and
// what was wanted: `[conv2d] input has rank 3; want 4 (N, C, H, W)`.
package status

import (
	"errors"
	"fmt"
)

// Code classifies an error. The numbers are part of the C ABI: append only.
type Code int32

// The codes, each with the Python exception that it becomes.
const (
	OK            Code = 0
	Invalid       Code = 1  // a value, shape or attribute is wrong: ValueError
	Type          Code = 2  // a dtype or a kind of argument is wrong: TypeError
	Index         Code = 3  // an index is out of range: IndexError
	OutOfMemory   Code = 4  // memory could not be had after everything was tried: OutOfMemoryError
	Unsupported   Code = 5  // nobody here can do this: UnsupportedError
	Unavailable   Code = 6  // the device asked for does not exist on this machine: DeviceError
	Device        Code = 7  // the device failed while running: DeviceError
	InvalidHandle Code = 8  // a handle is null, stale or of another type: ValueError
	Forked        Code = 9  // the library was loaded before fork: RuntimeError
	Internal      Code = 10 // our bug: RuntimeError
	NotFound      Code = 11 // no operator, attribute or key of that name: KeyError
	Math          Code = 12 // an integer was divided by zero: ValueError, as in Paddle
	Busy          Code = 13 // the call would have to wait, and must not: never seen in Python
	Syntax        Code = 14 // the source of a shader does not compile: ShaderError
)

var names = [...]string{
	"OK", "INVALID_ARGUMENT", "TYPE_MISMATCH", "INDEX_OUT_OF_RANGE", "OUT_OF_MEMORY", "UNSUPPORTED",
	"UNAVAILABLE", "DEVICE_FAILED", "INVALID_HANDLE", "FORKED", "INTERNAL", "NOT_FOUND", "ARITHMETIC",
	"BUSY", "SYNTAX",
}

// String is the code's name in the C header without its prefix.
func (c Code) String() string {
	if c < 0 || int(c) >= len(names) {
		return fmt.Sprintf("CODE_%d", int32(c))
	}
	return names[c]
}

// Error is a code with its message. It is immutable and may be shared between goroutines.
type Error struct {
	Code Code
	Msg  string
}

func (e *Error) Error() string { return e.Msg }

// Errorf makes an error with a code.
func Errorf(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Msg: fmt.Sprintf(format, args...)}
}

// From turns any error into one with a code; what has none is Internal. From(nil) is nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: Internal, Msg: err.Error()}
}

// CodeOf is the code of an error, OK for nil.
func CodeOf(err error) Code {
	if err == nil {
		return OK
	}
	return From(err).Code
}
