package objc

import (
	"runtime"
	"unsafe"
)

// Name is a class by its name. Load resolves it.
type Name struct {
	name     string
	optional bool
	class    Class
}

// namedClasses lists the declared classes, in the order of initialisation; Load resolves them.
var namedClasses []*Name

// Named declares a class; Load fails where the system does not have it. It is called during initialisation only.
func Named(name string) *Name {
	c := &Name{name: name}
	namedClasses = append(namedClasses, c)
	return c
}

// Optional declares a class that may be missing: its Class is nil then.
func Optional(name string) *Name {
	c := Named(name)
	c.optional = true
	return c
}

// Class is the class; nil before Load.
func (c *Name) Class() Class { return c.class }

var (
	newObject = Declare0[Class, ID]("NSObject", "new")
	alloc     = Declare0[Class, ID]("NSObject", "alloc")
)

// New is +[c new], +1.
func (c *Name) New() ID { return newObject.Send(c.class) }

// Alloc is +[c alloc], +1, to be passed to an initialiser at once.
func (c *Name) Alloc() ID { return alloc.Send(c.class) }

// Retain adds a reference that the caller owns and returns the object; nil is ignored.
func Retain[T Object](object T) T {
	if object != 0 {
		call(retainObject, uintptr(object))
	}
	return object
}

// Release drops a reference of the caller; nil is ignored.
func Release[T Object](object T) {
	if object != 0 {
		call(releaseObject, uintptr(object))
	}
}

// Scope is an autorelease pool on the thread that opened it.
type Scope struct{ token uintptr }

// Pool opens an autorelease pool and keeps the goroutine on its thread until Close:
//
//	defer objc.Pool().Close()
//
// Pools are closed in the reverse order of opening.
func Pool() Scope {
	runtime.LockOSThread()
	return Scope{call(poolPush)}
}

// Close releases what was autoreleased since Pool.
func (s Scope) Close() {
	call(poolPop, s.token)
	runtime.UnlockOSThread()
}

// withCString calls f with a copy of text that C can read, for the time of the call.
func withCString(text string, f func(at uintptr) uintptr) uintptr {
	b := append([]byte(text), 0)
	var pin runtime.Pinner
	pin.Pin(&b[0])
	defer pin.Unpin()
	// SAFETY: the bytes are pinned until f has returned, and C keeps no pointer to them.
	return f(uintptr(unsafe.Pointer(&b[0])))
}
