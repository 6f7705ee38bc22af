package objc

import (
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/ebitengine/purego"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// apple are the libraries of macOS. They are in the shared cache of the dynamic loader, with no file on disk.
// CoreGraphics is included because without it MTLCopyAllDevices returns no GPU to a command-line program.
var apple = []string{
	"/usr/lib/libobjc.A.dylib",
	"/System/Library/Frameworks/Foundation.framework/Foundation",
	"/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics",
	"/System/Library/Frameworks/Metal.framework/Metal",
	"/System/Library/Frameworks/MetalPerformanceShaders.framework/MetalPerformanceShaders",
	"/System/Library/Frameworks/MetalPerformanceShadersGraph.framework/MetalPerformanceShadersGraph",
}

// The results of Load. They are written once, before any message is sent, and need no lock afterwards.
var (
	msgSend, msgSendStruct      uintptr
	getClass, registerName      uintptr
	poolPush, poolPop           uintptr
	retainObject, releaseObject uintptr
	libraries                   []uintptr
	system                      Version
	loading                     sync.Mutex
	loaded                      bool
	loadedFrom                  string
	operatingSystemVersionText  = Declare0[ID, String]("NSProcessInfo", "operatingSystemVersionString")
	operatingSystemVersion      = DeclareMixed[func(ID, Sel) struct{ Major, Minor, Patch int64 }]("NSProcessInfo", "operatingSystemVersion")
	processInfo                 = Declare0[Class, ID]("NSProcessInfo", "processInfo")
	classProcessInfo            = Named("NSProcessInfo")
)

// Load opens Apple's libraries, or instead of them the library at path (a mock), and resolves all declared classes
// and methods. Libraries stay loaded until the process ends: a second Load of the same path returns nil, of
// another path status.Invalid. It returns status.Unavailable where a library, class or function is missing.
func Load(path string) error {
	loading.Lock()
	defer loading.Unlock()
	if loaded {
		if path != loadedFrom {
			return status.Errorf(status.Invalid, "[metal] got library %q, but %q is loaded already; want one library per process", path, loadedFrom)
		}
		return nil
	}
	names := apple
	switch {
	case path != "":
		names = []string{path}
	case runtime.GOOS != "darwin":
		return status.Errorf(status.Unavailable, "[metal] %s has no Metal; want macOS 13 or later", runtime.GOOS)
	}
	if err := open(names); err != nil {
		return err
	}
	if err := resolve(); err != nil {
		return err
	}
	loaded, loadedFrom = true, path
	return nil
}

// open opens the libraries; their symbols are found by Symbol.
func open(names []string) error {
	libraries = libraries[:0]
	for _, name := range names {
		h, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			return status.Errorf(status.Unavailable, "[metal] %s does not load: %v", name, err)
		}
		libraries = append(libraries, h)
	}
	return nil
}

// resolve finds the functions of the Objective-C runtime, then registers the selectors and looks up the classes.
// On amd64 results in memory need another function (objc_msgSend_stret).
func resolve() error {
	for _, f := range []struct {
		to   *uintptr
		name string
	}{
		{&msgSend, "objc_msgSend"},
		{&getClass, "objc_getClass"},
		{&registerName, "sel_registerName"},
		{&poolPush, "objc_autoreleasePoolPush"},
		{&poolPop, "objc_autoreleasePoolPop"},
		{&retainObject, "objc_retain"},
		{&releaseObject, "objc_release"},
	} {
		var err error
		if *f.to, err = Symbol(f.name); err != nil {
			return err
		}
	}
	msgSendStruct = msgSend
	if runtime.GOARCH == "amd64" {
		var err error
		if msgSendStruct, err = Symbol("objc_msgSend_stret"); err != nil {
			return err
		}
	}
	for _, m := range declared {
		m.sel = withCString(m.Selector, func(text uintptr) uintptr { return call(registerName, text) })
		if m.bind != nil {
			m.bind()
		}
	}
	if err := classes(); err != nil {
		return err
	}
	defer Pool().Close()
	v := operatingSystemVersion.Send(processInfo.Send(classProcessInfo.Class()), operatingSystemVersion.Sel())
	system = Version{v.Major, v.Minor}.told(Build())
	return bindEncoder()
}

// masked is the version that macOS 26 and later tell a process whose main program was linked with an older SDK, as those of most
// Pythons are. https://github.com/python/cpython/issues/135675
const masked = 16

// told is the version of a system, from what it tells: the version itself, or that of the build, which is not masked. Build 25A353
// is of macOS 26.0 and 26C101 of 27.2: the number is that of the kernel's release, and the letters count the minor versions from A.
func (v Version) told(build string) Version {
	_, build, _ = strings.Cut(build, "(Build ")
	digits := strings.IndexFunc(build, func(r rune) bool { return r < '0' || r > '9' })
	if v.Major != masked || digits <= 0 || build[digits] < 'A' || build[digits] > 'Z' {
		return v
	}
	release, err := strconv.ParseInt(build[:digits], 10, 64)
	if err != nil || release < 25 {
		return v
	}
	return Version{release + 1, int64(build[digits] - 'A')}
}

// classes looks up the declared classes; optional ones may be missing.
func classes() error {
	for _, c := range namedClasses {
		c.class = Class(withCString(c.name, func(text uintptr) uintptr { return call(getClass, text) }))
		if c.class == 0 && !c.optional {
			return status.Errorf(status.Unavailable, "[metal] class %s is missing; want macOS 13 or later", c.name)
		}
	}
	return nil
}

// Symbol is the address of a C function of the loaded libraries; status.Unavailable where none has it.
func Symbol(name string) (uintptr, error) {
	for _, l := range libraries {
		if at, err := purego.Dlsym(l, name); err == nil {
			return at, nil
		}
	}
	return 0, status.Errorf(status.Unavailable, "[metal] function %s is missing", name)
}

// Call calls a C function whose arguments are integers or addresses, at most 12.
func Call(function uintptr, args ...uintptr) uintptr { return call(function, args...) }

// call is Call; the words are passed in a recycled frame, because what goes through SyscallN escapes.
func call(function uintptr, args ...uintptr) uintptr {
	f := frames.Get().(*frame)
	n := copy(f[:], args)
	r, _, _ := purego.SyscallN(function, f[:n]...)
	frames.Put(f)
	return r
}

// Version is a version of macOS.
type Version struct{ Major, Minor int64 }

// Build is -[NSProcessInfo operatingSystemVersionString], which has the build: "Version 15.2 (Build 24C101)".
func Build() string {
	defer Pool().Close()
	return operatingSystemVersionText.Send(processInfo.Send(classProcessInfo.Class())).String()
}

// MacOS is the version of the running system; see told.
func MacOS() Version { return system }

// String is "15.2".
func (v Version) String() string {
	return strconv.FormatInt(v.Major, 10) + "." + strconv.FormatInt(v.Minor, 10)
}

// AtLeast reports whether v is the version since, such as "14.0", or newer; it is true for "".
func (v Version) AtLeast(since string) bool {
	if since == "" {
		return true
	}
	major, minor, _ := strings.Cut(since, ".")
	minor, _, _ = strings.Cut(minor, ".")
	a, _ := strconv.ParseInt(major, 10, 64)
	b, _ := strconv.ParseInt(minor, 10, 64)
	return v.Major > a || v.Major == a && v.Minor >= b
}
