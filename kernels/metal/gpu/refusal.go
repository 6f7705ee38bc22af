package gpu

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
)

// Refusal is the error of a kernel that a compiler of the system does not take: status.Unsupported, so that another
// kernel runs the call.
type Refusal struct {
	Graph bool   // by MPSGraph; else a shader
	Words string // of the compiler, one line
}

// Error quotes the compiler.
func (r *Refusal) Error() string {
	if r.Graph {
		return "MPSGraph refuses its graph: " + r.Words
	}
	return "Metal refuses its shader: " + r.Words
}

// Unwrap is the status.Unsupported.
func (r *Refusal) Unwrap() error { return &status.Error{Code: status.Unsupported, Msg: r.Error()} }

// refusalOf is the error of a compiler that has answered nil. It is a Refusal unless it says nothing about what was
// compiled: memory was short, the system reports it and not the compiler, or the compiler's process cannot be reached,
// as while a Mac shuts down. A compiler that crashes refuses: Metal has tried three times by then
// (https://github.com/KhronosGroup/MoltenVK/issues/1607).
func refusalOf(e objc.Error, what string) error {
	if e == 0 {
		return &Refusal{Words: what + " without an error message"}
	}
	err := e.Status(status.Device, what)
	switch {
	case saysAny(strings.ToLower(err.Msg), "out of memory", "insufficient memory", "allocate memory"):
		err.Code = status.OutOfMemory
		return err
	case e.FromSystem(), saysAny(err.Msg, "XPC_ERROR_CONNECTION_INVALID"):
		return err
	}
	return &Refusal{Words: essence(err.Msg)}
}

// saysAny reports whether a text has one of some parts.
func saysAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// mostQuoted is the bytes of a compiler that are quoted: a source with one mistake may be answered with pages.
const mostQuoted = 300

// essence is the first line of a text that names an error, or else its first line.
func essence(text string) string {
	lines := strings.Split(text, "\n")
	line := lines[max(0, slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "error: ") }))]
	if len(line) > mostQuoted {
		line = strings.ToValidUTF8(line[:mostQuoted], "") + " ..."
	}
	return line
}

// sources remembers the sources that were refused, so that each goes to the compiler once.
type sources struct {
	mu  sync.Mutex
	all map[string]*Refusal
}

// keyOf tells sources with the functions that are wanted of them apart.
func keyOf(source string, functions []string) string { return fmt.Sprintf("%q%s", functions, source) }

// refused is the refusal of a source; nil where there is none.
func (s *sources) refused(source string, functions []string) *Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return nil
	}
	return s.all[keyOf(source, functions)]
}

// remember keeps a refusal.
func (s *sources) remember(source string, functions []string, r *Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*Refusal{}
	}
	s.all[keyOf(source, functions)] = r
}

// ForgetRefusals has the compiler see again what it has refused.
func (d *Device) ForgetRefusals() {
	d.sources.mu.Lock()
	defer d.sources.mu.Unlock()
	d.sources.all = nil
}
