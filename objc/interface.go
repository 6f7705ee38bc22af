package objc

import "reflect"

// Finding is whether the running system has a class or a method that is declared here.
type Finding struct {
	Class    string
	Selector string // "" for the class itself
	Since    string // first macOS that has it, where that is newer than the macOS that the library requires
	Optional bool   // a class that the library can do without
	Found    bool
	Encoding string // type encoding of a method, from the system; "" where it is not found
}

//go:generate go run ./gen

// Constant is a constant of Apple's API that is compiled in. Its value cannot be read from the running system; only
// the version of the system can be compared with Since.
type Constant struct {
	Name  string
	Value int64
	Since string // first macOS that has it; "" where the table does not say
}

// Constants are all constants that the packages of this program declare.
func Constants() []Constant { return constants }

// CheckInterface looks up every class and every method that the packages of this program use in the running system.
// The methods of a protocol are looked up in the class of a sample, which is an object under the protocol's name;
// so are those of a class whose objects have another class. It sends nothing to the samples. The libraries have
// been loaded.
func CheckInterface(samples map[string]ID) ([]Finding, error) {
	look, err := lookups()
	if err != nil {
		return nil, err
	}
	var all []Finding
	for _, c := range namedClasses {
		all = append(all, Finding{Class: c.name, Optional: c.optional, Found: c.class != 0})
	}
	for _, m := range declared {
		f := Finding{Class: m.Class, Selector: m.Selector, Since: m.Since}
		f.Encoding, f.Found = look.method(m, samples[m.Class])
		all = append(all, f)
	}
	return all, nil
}

// lookup is the functions of the runtime that find methods.
type lookup struct{ classOf, instance, class, encoding uintptr }

// lookups finds the functions in the libraries.
func lookups() (l lookup, err error) {
	for _, f := range []struct {
		to   *uintptr
		name string
	}{
		{&l.classOf, "object_getClass"},
		{&l.instance, "class_getInstanceMethod"},
		{&l.class, "class_getClassMethod"},
		{&l.encoding, "method_getTypeEncoding"},
	} {
		if *f.to, err = Symbol(f.name); err != nil {
			return l, err
		}
	}
	return l, nil
}

// method looks a method up in its class, or in that of the sample where there is one.
func (l lookup) method(m *Method, sample ID) (encoding string, found bool) {
	class := withCString(m.Class, func(text uintptr) uintptr { return call(getClass, text) })
	if sample != 0 {
		class = call(l.classOf, uintptr(sample))
	}
	if class == 0 {
		return "", false
	}
	find := l.instance
	if m.OfClass() {
		find = l.class
	}
	method := call(find, class, m.sel)
	if method == 0 {
		return "", false
	}
	if text := call(l.encoding, method); text != 0 {
		encoding = cText(text)
	}
	return encoding, true
}

// OfClass reports whether the method is a class method.
func (m *Method) OfClass() bool { return m.Receiver == reflect.TypeFor[Class]() }
