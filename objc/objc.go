// Package objc speaks to the Objective-C runtime: it loads the libraries, resolves classes and
// selectors, sends messages and holds autorelease pools. [Load] opens Apple's libraries, or one
// library that stands in for all of them; nothing above this package knows which.
//
// An object is an integer of a type named after its class ([String], [Array], mtl.Buffer), a method
// a package variable declared with the Go types of its receiver, arguments and result:
//
//	var length = objc.Declare0[Buffer, uint64]("MTLBuffer", "length")
//
// The declaration is what sends, and a test compares every declaration with the table of Apple's
// interface in testdata: the selector, each argument's class, the result, the first macOS that has
// it. So a method that Apple does not have, or has with other types, fails a test on any machine.
//
// The invariant: whoever sends a message holds a [Pool]. Each wrapper says who owns what it answers:
// +1 is the caller's to release, +0 lives until the pool is closed unless it is retained.
//
// There are no blocks, no variadic methods, no subclasses and no exceptions here: what Apple answers
// to misuse with an exception or an abort, the caller has to rule out before.
package objc

// ID is an object of any class; 0 is nil.
type ID uintptr

// Class is a class as an object, the receiver of class methods.
type Class uintptr

// Bool is BOOL.
type Bool uint8

// The two values of Bool.
const (
	No  Bool = 0
	Yes Bool = 1
)

// Of is a bool as a BOOL.
func Of(b bool) Bool {
	if b {
		return Yes
	}
	return No
}

// Pointer is an address that a method takes or answers: memory, not an object.
type Pointer uintptr

// NoBlock stands where Apple takes a block that may be nil, which is what it is: there are none here.
type NoBlock uint8

// Void is the result of a method that answers nothing.
type Void uintptr

// Word is what one integer register holds: objects, addresses, integers and enumerations.
type Word interface {
	~uintptr | ~uint64 | ~int64 | ~uint32 | ~uint8
}

// Object is a class of objects.
type Object interface{ ~uintptr }
