// Package objc calls the Objective-C runtime: it loads the libraries, resolves classes and selectors, sends
// messages and manages autorelease pools. [Load] opens Apple's libraries or a mock of all of them; the packages
// above cannot tell the difference.
//
// An object is an integer of a type named after its class ([String], [Array], mtl.Buffer), a method
// a package variable declared with the Go types of its receiver, arguments and result:
//
//	var length = objc.Declare0[Buffer, uint64]("MTLBuffer", "length")
//
// Messages are sent through the declaration, and a test compares every declaration with the table of Apple's
// interface in testdata: the selector, the class of each argument, the result, the first macOS that has it. So a
// method that Apple does not have, or has with other types, fails a test on any machine.
//
// The invariant: the sender of a message has an open [Pool]. Each wrapper says who owns its result: +1 is owned
// by the caller, who releases it; +0 lives until the pool is closed, unless it is retained.
//
// There are no blocks, no variadic methods, no subclasses and no exceptions here: misuse that Apple's libraries
// answer with an exception or an abort has to be prevented by the caller.
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

// Pointer is an address that a method takes or returns: memory, not an object.
type Pointer uintptr

// NoBlock is the type of a block argument; its only use is nil.
type NoBlock uint8

// Void is the result of a method without one.
type Void uintptr

// Word is a type that fits an integer register: objects, addresses, integers and enumerations.
type Word interface {
	~uintptr | ~uint64 | ~int64 | ~uint32 | ~uint8
}

// Object is a class of objects.
type Object interface{ ~uintptr }
