// Package status is the error type of the library: a code that callers branch on and a message for people. A
// message starts with the operator in brackets and says what was given and what is wanted:
// `[transpose] axis is 3; want one of the 2 axes`.
//
// Errors cross the C ABI as this type; any other error becomes Internal there. The package imports nothing of
// ours, so that every package may use it.
package status

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Code classifies an error. The numbers are part of the C ABI: append only.
type Code int32

// The codes, each with the Python exception that it becomes.
const (
	OK            Code = 0
	Invalid       Code = 1  // a value, shape or attribute is wrong: ValueError
	Type          Code = 2  // a dtype or a kind of argument is wrong: TypeError
	Index         Code = 3  // an index is out of range: IndexError
	OutOfMemory   Code = 4  // no memory, after everything was tried: OutOfMemoryError
	Unsupported   Code = 5  // no device of this machine can do this: UnsupportedError
	Unavailable   Code = 6  // the device asked for does not exist on this machine: DeviceError
	Device        Code = 7  // the device failed while running: DeviceError
	InvalidHandle Code = 8  // a handle is null, stale or of another type: ValueError
	Forked        Code = 9  // the library was loaded before fork: RuntimeError
	Internal      Code = 10 // a bug of the library: RuntimeError
	NotFound      Code = 11 // no operator, attribute or key of that name: KeyError
	Math          Code = 12 // an integer was divided by zero: ValueError, as in Paddle
	Busy          Code = 13 // the call would have to wait and must not; Python waits and tries again
	Syntax        Code = 14 // the source of a shader does not compile: ShaderError
	Traced        Code = 15 // elements are wanted of a tensor of a function that is being traced: TracingError
	Cancelled     Code = 16 // a run was cancelled before it ended: RuntimeError
)

// names are those of the C header without their prefix, by code.
var names = [...]string{
	"OK", "INVALID_ARGUMENT", "TYPE_MISMATCH", "INDEX_OUT_OF_RANGE", "OUT_OF_MEMORY", "UNSUPPORTED",
	"UNAVAILABLE", "DEVICE_FAILED", "INVALID_HANDLE", "FORKED", "INTERNAL", "NOT_FOUND", "ARITHMETIC",
	"BUSY", "SYNTAX", "TRACED", "CANCELLED",
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

// Error is the message, without the code.
func (e *Error) Error() string { return e.Msg }

// Errorf makes an error with a code. Lists are written as callers write them, [1, 2], and not as Go does.
func Errorf(c Code, format string, args ...any) *Error {
	for i, arg := range args {
		if text, ok := list(arg); ok {
			args[i] = text
		}
	}
	return &Error{Code: c, Msg: fmt.Sprintf(format, args...)}
}

// list is the text of a slice that has none of its own; bytes are not a list.
func list(arg any) (string, bool) {
	v := reflect.ValueOf(arg)
	if _, own := arg.(fmt.Stringer); own || v.Kind() != reflect.Slice || v.Type().Elem().Kind() == reflect.Uint8 && v.Type().Elem().Name() == "uint8" {
		return "", false
	}
	items := make([]string, v.Len())
	for i := range items {
		items[i] = fmt.Sprint(v.Index(i))
	}
	return "[" + strings.Join(items, ", ") + "]", true
}

// Count is a number of things in words: Count(1, "index", "indices") is "1 index".
func Count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// From finds the Error in an error or what it wraps; for an error without one it makes an Internal error with
// the same message. From(nil) is nil.
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
