// Three kinds of errors leave the compiler, and each has its own reader: the author of the text, the author of the program,
// and Triton's autotuner, which goes on to the next configuration where resources are short.

package ttir

import "strconv"

// Error is a text that is no Triton IR, at a place in it.
type Error struct {
	File      string
	Line, Col int
	Message   string
}

// Error gives the place as compilers do: file:line:column.
func (e *Error) Error() string {
	return e.File + ":" + strconv.Itoa(e.Line) + ":" + strconv.Itoa(e.Col) + ": " + e.Message
}

// Unsupported is a valid program that the compiler refuses.
type Unsupported struct {
	// The operation, such as tt.elementwise_inline_asm.
	Op string
	// The element type that is the reason; "" if it is not.
	Type string
	// File.py:line; "" if the text has no locations.
	Where string
	Why   string
}

// Error names the operation, the element type and the line of the program.
func (e *Unsupported) Error() string {
	text := "[triton] " + e.Op
	if e.Type != "" {
		text += " of " + e.Type
	}
	if e.Where != "" {
		text += " at " + e.Where
	}
	return text + ": " + e.Why
}

// OutOfResources is a program that needs more of something than a threadgroup has.
type OutOfResources struct {
	// Shared memory, threads.
	Name            string
	Required, Limit int
}

// Error names both numbers.
func (e *OutOfResources) Error() string {
	return "[triton] out of resource: " + e.Name + ", required: " + strconv.Itoa(e.Required) + ", limit: " + strconv.Itoa(e.Limit)
}
