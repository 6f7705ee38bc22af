package inference

import (
	"errors"
	"fmt"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// Code classifies an error as the protocols do. The numbers are those of TRITONSERVER_Error_Code.
type Code int

// The codes.
const (
	Unknown Code = iota
	Internal
	NotFound
	InvalidArg
	Unavailable
	Unsupported
	AlreadyExists
	Cancelled
)

// words are the codes as messages about failed loads show them.
var words = [...]string{"Unknown", "Internal", "Not found", "Invalid argument", "Unavailable", "Unsupported", "Already exists", "Cancelled"}

// String is the code in words.
func (c Code) String() string {
	if c < 0 || int(c) >= len(words) {
		return words[Unknown]
	}
	return words[c]
}

// Error is an error with its code. The message is what clients see.
type Error struct {
	Code Code
	Text string
}

// Error is the message, without the code.
func (e *Error) Error() string { return e.Text }

// Errorf makes an error.
func Errorf(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Text: fmt.Sprintf(format, args...)}
}

// From is an error as one with a code. What the runtime refuses because of a value of the request is InvalidArg.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var s *status.Error
	if !errors.As(err, &s) {
		return &Error{Internal, err.Error()}
	}
	switch s.Code {
	case status.Invalid, status.Type, status.Index, status.Math:
		return &Error{InvalidArg, s.Msg}
	case status.Unsupported:
		return &Error{Unsupported, s.Msg}
	case status.OutOfMemory, status.Unavailable, status.Busy:
		return &Error{Unavailable, s.Msg}
	}
	return &Error{Internal, s.Msg}
}

// UnsupportedField is the error of a field of a configuration that the server does not obey.
func UnsupportedField(field, model string) *Error {
	return Errorf(Unsupported, "field '%s' in the configuration of model '%s' is not supported", field, model)
}
