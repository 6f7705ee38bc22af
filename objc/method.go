package objc

import (
	"reflect"
	"runtime"
	"sync"

	"github.com/ebitengine/purego"
)

// Method is a declared method: a row of Apple's interface in Go types.
type Method struct {
	Class    string // class or protocol that has the method
	Selector string
	Since    string // first macOS that has it, where that is newer than the macOS that the library requires; else ""
	Receiver reflect.Type
	Args     []reflect.Type
	Result   reflect.Type

	sel  uintptr
	bind func() // registers a function for the method; nil where all arguments are words
}

// declared lists all methods, in the order of initialisation; Load resolves them.
var declared []*Method

// Declared is every method that the packages of this program declare.
func Declared() []*Method { return declared }

// declare records a method, from its Go signature. It is called during initialisation only.
func declare(class, selector string, signature reflect.Type, since []string) *Method {
	m := &Method{Class: class, Selector: selector, Receiver: signature.In(0)}
	for i := 1; i < signature.NumIn(); i++ {
		m.Args = append(m.Args, signature.In(i))
	}
	if signature.NumOut() > 0 {
		m.Result = signature.Out(0)
	}
	if len(since) > 0 {
		m.Since = since[0]
	}
	declared = append(declared, m)
	return m
}

// Available reports whether the running system has the method. The version of macOS is not enough, because the
// table has only an upper bound for some methods: the receiver is asked too (respondsToSelector:).
func Available[T Object](m *Method, receiver T) bool {
	return MacOS().AtLeast(m.Since) && respondsToSelector.Send(ID(receiver), m.Sel()) == Yes
}

var respondsToSelector = Declare1[ID, Sel, Bool]("NSObject", "respondsToSelector:")

// frame has the words of one call; for a message these are the receiver, the selector and the arguments.
type frame [12]uintptr

// frames recycles frames, because what is passed to SyscallN escapes to the heap.
var frames = sync.Pool{New: func() any { return new(frame) }}

// send sends a message whose arguments are words. On amd64 and arm64 each argument has a register or an eight-byte
// slot of the stack. Arguments of less than eight bytes must not be passed on the stack: Darwin packs them there.
func (m *Method) send(receiver uintptr, args ...uintptr) uintptr {
	f := frames.Get().(*frame)
	f[0], f[1] = receiver, m.sel
	n := 2 + copy(f[2:], args)
	r, _, _ := purego.SyscallN(msgSend, f[:n]...)
	frames.Put(f)
	return r
}

// Method0 is a method without arguments of receiver S and result R.
type Method0[S, R Word] struct{ *Method }

// Declare0 declares a method of a class or protocol; since is the first macOS that has it, where that is newer than
// the macOS that the library requires.
func Declare0[S, R Word](class, selector string, since ...string) Method0[S, R] {
	return Method0[S, R]{declare(class, selector, reflect.TypeOf((func(S) R)(nil)), since)}
}

// Send sends the message.
func (m Method0[S, R]) Send(self S) R { return R(m.send(uintptr(self))) }

// Method1 is a method of one argument.
type Method1[S, A, R Word] struct{ *Method }

// Declare1 is Declare0 for one argument.
func Declare1[S, A, R Word](class, selector string, since ...string) Method1[S, A, R] {
	return Method1[S, A, R]{declare(class, selector, reflect.TypeOf((func(S, A) R)(nil)), since)}
}

// Send sends the message.
func (m Method1[S, A, R]) Send(self S, a A) R { return R(m.send(uintptr(self), uintptr(a))) }

// Method2 is a method of two arguments.
type Method2[S, A, B, R Word] struct{ *Method }

// Declare2 is Declare0 for two arguments.
func Declare2[S, A, B, R Word](class, selector string, since ...string) Method2[S, A, B, R] {
	return Method2[S, A, B, R]{declare(class, selector, reflect.TypeOf((func(S, A, B) R)(nil)), since)}
}

// Send sends the message.
func (m Method2[S, A, B, R]) Send(self S, a A, b B) R {
	return R(m.send(uintptr(self), uintptr(a), uintptr(b)))
}

// Method3 is a method of three arguments.
type Method3[S, A, B, C, R Word] struct{ *Method }

// Declare3 is Declare0 for three arguments.
func Declare3[S, A, B, C, R Word](class, selector string, since ...string) Method3[S, A, B, C, R] {
	return Method3[S, A, B, C, R]{declare(class, selector, reflect.TypeOf((func(S, A, B, C) R)(nil)), since)}
}

// Send sends the message.
func (m Method3[S, A, B, C, R]) Send(self S, a A, b B, c C) R {
	return R(m.send(uintptr(self), uintptr(a), uintptr(b), uintptr(c)))
}

// Method4 is a method of four arguments.
type Method4[S, A, B, C, D, R Word] struct{ *Method }

// Declare4 is Declare0 for four arguments.
func Declare4[S, A, B, C, D, R Word](class, selector string, since ...string) Method4[S, A, B, C, D, R] {
	return Method4[S, A, B, C, D, R]{declare(class, selector, reflect.TypeOf((func(S, A, B, C, D) R)(nil)), since)}
}

// Send sends the message.
func (m Method4[S, A, B, C, D, R]) Send(self S, a A, b B, c C, d D) R {
	return R(m.send(uintptr(self), uintptr(a), uintptr(b), uintptr(c), uintptr(d)))
}

// Method5 is a method of five arguments.
type Method5[S, A, B, C, D, E, R Word] struct{ *Method }

// Declare5 is Declare0 for five arguments.
func Declare5[S, A, B, C, D, E, R Word](class, selector string, since ...string) Method5[S, A, B, C, D, E, R] {
	return Method5[S, A, B, C, D, E, R]{declare(class, selector, reflect.TypeOf((func(S, A, B, C, D, E) R)(nil)), since)}
}

// Send sends the message.
func (m Method5[S, A, B, C, D, E, R]) Send(self S, a A, b B, c C, d D, e E) R {
	return R(m.send(uintptr(self), uintptr(a), uintptr(b), uintptr(c), uintptr(d), uintptr(e)))
}

// Method6 is a method of six arguments: with receiver and selector, as many as have registers on arm64.
type Method6[S, A, B, C, D, E, F, R Word] struct{ *Method }

// Declare6 is Declare0 for six arguments.
func Declare6[S, A, B, C, D, E, F, R Word](class, selector string, since ...string) Method6[S, A, B, C, D, E, F, R] {
	return Method6[S, A, B, C, D, E, F, R]{declare(class, selector, reflect.TypeOf((func(S, A, B, C, D, E, F) R)(nil)), since)}
}

// Send sends the message.
func (m Method6[S, A, B, C, D, E, F, R]) Send(self S, a A, b B, c C, d D, e E, f F) R {
	return R(m.send(uintptr(self), uintptr(a), uintptr(b), uintptr(c), uintptr(d), uintptr(e), uintptr(f)))
}

// Mixed is a method with floating-point numbers or structs among its arguments or as its result, or with more
// arguments than registers. It is a Go function with the method's signature, made by purego; a call costs some
// hundred nanoseconds and a few allocations, so it is not for the per-run path.
type Mixed[F any] struct {
	*Method
	Send F // sends the message; its second argument is Sel()
}

// Sel is a resolved selector.
type Sel uintptr

// DeclareMixed declares a method with floats or structs; F is func(receiver, Sel, arguments) result.
func DeclareMixed[F any](class, selector string, since ...string) *Mixed[F] {
	given := reflect.TypeOf(*new(F))
	args := []reflect.Type{given.In(0)}
	for i := 2; i < given.NumIn(); i++ {
		args = append(args, given.In(i))
	}
	var results []reflect.Type
	if given.NumOut() > 0 {
		results = append(results, given.Out(0))
	}
	m := &Mixed[F]{Method: declare(class, selector, reflect.FuncOf(args, results, false), since)}
	m.bind = func() { purego.RegisterFunc(&m.Send, entry(m.Result)) }
	return m
}

// Sel is the method's selector; 0 before Load.
func (m *Method) Sel() Sel { return Sel(m.sel) }

// entry is the function that sends messages with a result of some type. On amd64 a struct of more than two words is
// returned in memory of the caller, by objc_msgSend_stret.
func entry(result reflect.Type) uintptr {
	if runtime.GOARCH == "amd64" && result != nil && result.Kind() == reflect.Struct && result.Size() > 16 {
		return msgSendStruct
	}
	return msgSend
}
