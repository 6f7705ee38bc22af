package objc

import (
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// String is NSString.
type String uintptr

// Number is NSNumber.
type Number uintptr

// Array is NSArray; the comment of each method says what its elements are.
type Array uintptr

// Dictionary is NSDictionary.
type Dictionary uintptr

// Data is NSData.
type Data uintptr

// URL is NSURL.
type URL uintptr

// Error is NSError.
type Error uintptr

var (
	classString, classNumber     = Named("NSString"), Named("NSNumber")
	classArray, classDictionary  = Named("NSArray"), Named("NSDictionary")
	classData, classURL          = Named("NSData"), Named("NSURL")
	stringWithUTF8String         = Declare1[Class, Pointer, String]("NSString", "stringWithUTF8String:")
	utf8String                   = Declare0[String, Pointer]("NSString", "UTF8String")
	numberWithLongLong           = Declare1[Class, int64, Number]("NSNumber", "numberWithLongLong:")
	longLongValue                = Declare0[Number, int64]("NSNumber", "longLongValue")
	arrayWithObjectsCount        = Declare2[Class, Pointer, uint64, Array]("NSArray", "arrayWithObjects:count:")
	count                        = Declare0[Array, uint64]("NSArray", "count")
	objectAtIndex                = Declare1[Array, uint64, ID]("NSArray", "objectAtIndex:")
	dictionaryWithObjectsForKeys = Declare3[Class, Pointer, Pointer, uint64, Dictionary]("NSDictionary", "dictionaryWithObjects:forKeys:count:")
	objectForKey                 = Declare1[Dictionary, ID, ID]("NSDictionary", "objectForKey:")
	dataWithBytesLength          = Declare2[Class, Pointer, uint64, Data]("NSData", "dataWithBytes:length:")
	fileURLWithPath              = Declare1[Class, String, URL]("NSURL", "fileURLWithPath:")
	code                         = Declare0[Error, int64]("NSError", "code")
	domain                       = Declare0[Error, String]("NSError", "domain")
	localizedDescription         = Declare0[Error, String]("NSError", "localizedDescription")
	physicalMemory               = Declare0[ID, uint64]("NSProcessInfo", "physicalMemory")
)

// Text is +[NSString stringWithUTF8String:], +0.
func Text(s string) String {
	return String(withCString(s, func(at uintptr) uintptr {
		return uintptr(stringWithUTF8String.Send(classString.Class(), Pointer(at)))
	}))
}

// String copies the text; "" for nil.
func (s String) String() string {
	at := utf8String.Send(s)
	if at == 0 {
		return ""
	}
	// SAFETY: the C string belongs to s, which the caller holds, and ends with a zero byte.
	return cText(uintptr(at))
}

// cText copies a C string.
func cText(at uintptr) string {
	// SAFETY: the caller passes the address of a C string that stays valid during the call.
	start := *(**byte)(unsafe.Pointer(&at))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(start), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(start, n))
}

// Int is +[NSNumber numberWithLongLong:], +0.
func Int(n int64) Number { return numberWithLongLong.Send(classNumber.Class(), n) }

// Int64 is -[NSNumber longLongValue].
func (n Number) Int64() int64 { return longLongValue.Send(n) }

// ArrayOf is +[NSArray arrayWithObjects:count:], +0. If an item is nil, the result is nil: Foundation would throw
// an exception.
func ArrayOf[T Object](items ...T) Array {
	if hasNil(items) {
		return 0
	}
	if len(items) == 0 {
		return arrayWithObjectsCount.Send(classArray.Class(), 0, 0)
	}
	defer pinned(&items[0]).Unpin()
	return arrayWithObjectsCount.Send(classArray.Class(), address(&items[0]), uint64(len(items)))
}

// Ints is an NSArray of NSNumber, +0: shapes, axes, permutations.
func Ints(values []int64) Array {
	numbers := make([]Number, len(values))
	for i, v := range values {
		numbers[i] = Int(v)
	}
	return ArrayOf(numbers...)
}

// Len is -[NSArray count].
func (a Array) Len() int { return int(count.Send(a)) }

// At is -[NSArray objectAtIndex:], +0; nil beyond the end, where Foundation would throw an exception.
func (a Array) At(i int) ID {
	if i < 0 || i >= a.Len() {
		return 0
	}
	return objectAtIndex.Send(a, uint64(i))
}

// DictionaryOf is +[NSDictionary dictionaryWithObjects:forKeys:count:], +0. values[i] belongs to keys[i]. If one
// of them is nil, the result is nil.
func DictionaryOf[K, V Object](keys []K, values []V) Dictionary {
	if len(keys) != len(values) || hasNil(keys) || hasNil(values) {
		return 0
	}
	if len(keys) == 0 {
		return dictionaryWithObjectsForKeys.Send(classDictionary.Class(), 0, 0, 0)
	}
	defer pinned(&keys[0]).Unpin()
	defer pinned(&values[0]).Unpin()
	return dictionaryWithObjectsForKeys.Send(classDictionary.Class(), address(&values[0]), address(&keys[0]), uint64(len(keys)))
}

// Get is -[NSDictionary objectForKey:], +0; nil where the key is missing.
func (d Dictionary) Get(key ID) ID { return objectForKey.Send(d, key) }

// Bytes is +[NSData dataWithBytes:length:], +0: a copy.
func Bytes(b []byte) Data {
	if len(b) == 0 {
		return dataWithBytesLength.Send(classData.Class(), 0, 0)
	}
	defer pinned(&b[0]).Unpin()
	return dataWithBytesLength.Send(classData.Class(), address(&b[0]), uint64(len(b)))
}

// File is +[NSURL fileURLWithPath:], +0.
func File(path string) URL { return fileURLWithPath.Send(classURL.Class(), Text(path)) }

// Code is -[NSError code].
func (e Error) Code() int64 { return code.Send(e) }

// Domain is -[NSError domain].
func (e Error) Domain() string { return domain.Send(e).String() }

// FromSystem reports whether an error is of the system and not of the framework that was asked: of POSIX, Mach or
// OSStatus.
func (e Error) FromSystem() bool {
	return slices.Contains([]string{"NSPOSIXErrorDomain", "NSMachErrorDomain", "NSOSStatusErrorDomain"}, e.Domain())
}

// Status converts an NSError; doing, which says what failed, comes first in the message. Nil is an error too: that
// of a method that failed without an NSError.
func (e Error) Status(c status.Code, doing string) *status.Error {
	if e == 0 {
		return status.Errorf(c, "%s failed without an error message", doing)
	}
	text := strings.TrimSpace(localizedDescription.Send(e).String())
	return status.Errorf(c, "%s: %s (%s %d)", doing, text, e.Domain(), e.Code())
}

// Out receives an object that a method returns through an argument, such as `NSError **`.
type Out[T Object] struct {
	pin   runtime.Pinner
	value T
}

// At is the address to pass to the method; it is valid until Get.
func (o *Out[T]) At() Pointer {
	o.pin.Pin(&o.value)
	return address(&o.value)
}

// Get is the object that the method stored, +0; nil if it stored none.
func (o *Out[T]) Get() T {
	o.pin.Unpin()
	return o.value
}

// PhysicalMemory is -[NSProcessInfo physicalMemory]: the bytes of RAM.
func PhysicalMemory() uint64 { return physicalMemory.Send(processInfo.Send(classProcessInfo.Class())) }

// hasNil reports whether one of the objects is nil.
func hasNil[T Object](items []T) bool {
	for _, item := range items {
		if item == 0 {
			return true
		}
	}
	return false
}

// pinned pins memory, so that C may access it, until Unpin.
func pinned[T any](p *T) *runtime.Pinner {
	pin := new(runtime.Pinner)
	pin.Pin(p)
	return pin
}

// address is the address of pinned memory.
// SAFETY: the callers keep it pinned while C may access it.
func address[T any](p *T) Pointer { return Pointer(unsafe.Pointer(p)) }
