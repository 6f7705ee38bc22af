// A kernel as a whole: its arguments, the order of the steps, and the text of the file.
//
//	#include <metal_stdlib>
//	...                                                        functions of the prelude, then those of regions
//	[[max_total_threads_per_threadgroup(128)]]
//	kernel void add(
//	    device const float *x [[buffer(0)]],                   arguments, in the program's order
//	    ...
//	    device const ulong *addresses [[buffer(4)]],           if it follows addresses of the CPU
//	    device uint *records [[buffer(5)]],                    if it reports
//	    uint3 program [[threadgroup_position_in_grid]],        what the hardware gives
//	    ...) {
//	    threadgroup uint4 pool[2];                             all threadgroup memory
//
// max_total_threads_per_threadgroup lets Metal's compiler give a thread as many registers as the kernel's threads leave.

package emit

import (
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/tritonlang/layout"
	"github.com/paddle-mps/paddle-mps/tritonlang/plan"
	"github.com/paddle-mps/paddle-mps/tritonlang/report"
	"github.com/paddle-mps/paddle-mps/tritonlang/tree"
	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// Kernel is what a module was compiled to.
type Kernel struct {
	Name    string
	Args    []Arg
	Threads int
	// Without the comment at the head of the file.
	Body  string
	Stats Stats
	// Places that may report; the kernel then has one more buffer, or two: see package report.
	Sites report.Sites
	// Numbers lie in one buffer behind the pointers, because there are more arguments than buffers.
	Packed bool
	// Pointers are in a table, the first buffer, because there are more of them than buffers. Numbers are packed then, too.
	Tabled bool
}

// Arg is an argument of a kernel, at the index of buffers that is its number unless numbers are packed.
type Arg struct {
	Name string
	// As Triton's signatures have it: *fp32, i32.
	Type string
	// What the program promises of its address or value; 1: nothing.
	Divisible int
	Writes    bool
	// Of what a pointer points to.
	ElementSize int
}

// mostBuffers is how many buffers a kernel can have.
const mostBuffers = 31

// Emit compiles the public function of a module.
func Emit(m *ttir.Module, opts *Options) (k *Kernel, err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *ttir.Unsupported:
			k, err = nil, x
		case *ttir.OutOfResources:
			k, err = nil, x
		default:
			panic(x)
		}
	}()
	f := entry(m)
	if err := ttir.Inline(m, f); err != nil {
		return nil, err
	}
	return emitFunc(m, f, opts)
}

// entry is the function that is launched.
func entry(m *ttir.Module) *ttir.Func {
	for _, f := range m.Funcs {
		if f.Visibility == "public" {
			return f
		}
	}
	return m.Funcs[0]
}

// emitFunc takes the steps in their order: plan, tree, places of areas, barriers, text.
func emitFunc(m *ttir.Module, f *ttir.Func, opts *Options) (*Kernel, error) {
	// No threadgroup has more than 1,024 threads.
	most := opts.MaxThreads
	if most == 0 {
		most = 1024
	}
	if n := opts.Warps * 32; n > most {
		return nil, &ttir.OutOfResources{Name: "threads", Required: n, Limit: most}
	}
	if opts.Warps < 1 || opts.Warps&(opts.Warps-1) != 0 {
		return nil, &ttir.Unsupported{Op: "num_warps=" + strconv.Itoa(opts.Warps), Why: "want a power of two"}
	}
	// Operations on float64 that float32 holds are allowed: nothing is narrowed.
	if has, exact := holdsFloat64(f); has && exact {
		with := *opts
		with.F64AsF32 = true
		opts = &with
	}
	e := &emitter{
		module: m, opts: opts, values: map[*ttir.Value]map[string]*value{}, names: map[string]bool{}, counts: usesOf(f), fragments: map[*ttir.Value]*fragments{},
		plan: plan.Make(f, layout.Log(opts.Warps)), roots: plan.FindRoots(f),
	}
	refuseMixed(e.roots, f)
	k := &Kernel{Name: e.name(f.Name), Threads: opts.Warps * 32}
	params := e.params(f, k)
	var body []*tree.Node
	e.list = &body
	e.unpack(f, k)
	e.body(f.Body, nil)
	// Areas need their places before barriers, which depend on what overlaps.
	areas := tree.Measure(body)
	size, err := tree.PlaceAreas(areas)
	if err != nil {
		return nil, err
	}
	if opts.MaxShared > 0 && size > opts.MaxShared {
		return nil, &ttir.OutOfResources{Name: "shared memory", Required: size, Limit: opts.MaxShared}
	}
	body, e.stats.Barriers = tree.Synchronize(body)
	e.stats.Shared = size
	e.layouts(f)
	k.Stats, k.Sites = e.stats, e.sites
	k.Body = e.text(k, params, body)
	return k, nil
}

// params declares the arguments: argument i is [[buffer(i)]] as long as there are enough buffers.
func (e *emitter) params(f *ttir.Func, k *Kernel) (params []string) {
	// setBuffer takes an index up to 30.
	buffers, extra := len(f.Params()), 0
	finds := addressing(e.roots, f)
	if finds {
		extra++
	}
	reports := finds || reporting(f)
	if reports {
		extra++
	}
	if k.Packed = buffers+extra > mostBuffers; k.Packed {
		buffers = 1
		for _, v := range f.Params() {
			if v.Type.IsPointer() {
				buffers++
			}
		}
	}
	k.Tabled = buffers+extra > mostBuffers
	if k.Tabled {
		params = append(params, "constant ulong *argument_table [[buffer(0)]]")
	}
	var tabled []string // statements that declare what is in the table
	add := func(declaration, kind, name string) {
		if !k.Tabled {
			params = append(params, declaration+" [[buffer("+itoa(len(params))+")]]")
			return
		}
		tabled = append(tabled, kind+name+" = ("+kind+")(ulong)argument_table["+itoa(len(tabled))+"];")
	}
	for _, v := range f.Params() {
		// An argument is refused even if nothing uses it: its size would be wrong.
		if name, ok := supported(v.Type); !ok && !(name == "f64" && e.opts.F64AsF32) {
			panic(&ttir.Unsupported{Op: "argument " + strings.TrimPrefix(v.Name, "%"), Type: name, Where: v.Loc.Where(), Why: "Metal has no such type"})
		}
		own := paramName(v)
		name := e.name(own)
		a := Arg{Name: strings.TrimPrefix(own, "%"), Type: signature(v.Type), Divisible: e.plan.Facts.Of(v).Divisor[0]}
		text := "constant " + cType(v.Type) + " &" + name
		if v.Type.IsPointer() {
			text = e.pointerType(v) + name
			a.Writes, a.ElementSize = e.roots.Written[e.roots.Root(v)], v.Type.Elem.ByteSize()
		}
		e.set(v, layout.Layout{}, &value{scalar: name})
		if v.Type.IsPointer() {
			add(text, e.pointerType(v), name)
		} else if !k.Packed {
			params = append(params, text+" [[buffer("+itoa(len(params))+")]]")
		}
		k.Args = append(k.Args, a)
	}
	if k.Packed {
		params = append(params, "constant ulong *numbers [[buffer("+itoa(len(params))+")]]")
	}
	// The table of addresses and the buffer for reports stand behind the arguments, which keep their indices.
	if finds {
		add("device const ulong *addresses", "device const ulong *", "addresses")
	}
	if reports {
		add("device uint *records", "device uint *", "records")
	}
	e.tabled = tabled
	return params
}

// paramName is the name of a parameter: that of the program, which some printed IR has in the location alone.
func paramName(v *ttir.Value) string {
	if number, ok := strings.CutPrefix(v.Name, "%arg"); ok && v.Loc != nil && v.Loc.Name != "" {
		if _, err := strconv.Atoi(number); err == nil {
			return "%" + v.Loc.Name
		}
	}
	return v.Name
}

// unpack declares the pointers of the table, and the numbers that one buffer has, each in the lower bytes of 8. The launch writes them in the same form.
func (e *emitter) unpack(f *ttir.Func, k *Kernel) {
	for _, declaration := range e.tabled {
		e.say(declaration)
	}
	if !k.Packed {
		return
	}
	n := 0
	for _, v := range f.Params() {
		if v.Type.IsPointer() {
			continue
		}
		t, word := cType(v.Type), "numbers["+itoa(n)+"]"
		n++
		switch {
		case t == "bool":
			word = "(" + word + " & 0xff) != 0"
		case t == "float":
			word = "as_type<float>(uint(" + word + "))"
		case t == "half":
			word = "as_type<half>(ushort(" + word + "))"
		default:
			word = t + "(" + word + ")"
		}
		e.say("const ", t, " ", e.scalar(v), " = ", word, ";")
	}
}

// signature is a type as Triton's signatures have it.
func signature(t *ttir.Type) string {
	if t.Kind == ttir.Pointer {
		return "*" + signature(t.Elem)
	}
	names := map[string]string{
		"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "f8E4M3FN": "fp8e4nv", "f8E5M2": "fp8e5", "f8E4M3FNUZ": "fp8e4b8", "f8E5M2FNUZ": "fp8e5b16",
	}
	if n := names[t.Name]; n != "" {
		return n
	}
	return t.String()
}

// layouts notes for `explain` in which layouts tensors are.
func (e *emitter) layouts(f *ttir.Func) {
	f.Body.Walk(func(o *ttir.Op) {
		for _, v := range o.Results {
			for _, l := range e.plan.Wanted[v] {
				e.stats.Layouts = append(e.stats.Layouts, o.Where()+" "+o.Name+" "+v.Type.String()+" "+l.Key())
			}
		}
	})
}

// text is the file: functions that are used, those of regions, and the kernel.
func (e *emitter) text(k *Kernel, params []string, body []*tree.Node) string {
	w := &tree.Writer{Depth: 1}
	// One array of 16 bytes an element, so that every area is aligned for any type.
	if e.stats.Shared > 0 {
		w.Line("threadgroup uint4 pool["+itoa((e.stats.Shared+15)/16)+"];", "")
	}
	w.Nodes(body)
	inner, functions := w.Out.String(), strings.Join(e.prefix, "")
	// Numbers that the hardware gives, behind the buffers.
	params = append(params,
		"uint3 program [[threadgroup_position_in_grid]]", "uint3 programs [[threadgroups_per_grid]]",
		"uint lane [[thread_index_in_simdgroup]]", "uint warp [[simdgroup_index_in_threadgroup]]")
	var out strings.Builder
	out.WriteString("#include <metal_stdlib>\nusing namespace metal;\n\n")
	if e.opts.NoFusion {
		out.WriteString("#pragma METAL fp contract(off)\n\n")
	}
	out.WriteString(prelude(functions + inner))
	out.WriteString(functions)
	out.WriteString("[[max_total_threads_per_threadgroup(" + itoa(max(k.Threads, leastThreads)) + ")]]\nkernel void " + k.Name + "(\n    " + strings.Join(params, ",\n    ") + ") {\n")
	out.WriteString(inner)
	out.WriteString("}\n")
	return out.String()
}

// leastThreads is the least that the attribute of a kernel says of its threads: with 32, one SIMD group, barriers have not ordered
// threadgroup memory. https://github.com/KhronosGroup/MoltenVK/issues/2711
const leastThreads = 64

// usesOf counts the uses of values.
func usesOf(f *ttir.Func) map[*ttir.Value]int {
	all := map[*ttir.Value]int{}
	f.Body.Walk(func(o *ttir.Op) {
		for _, v := range o.Operands {
			all[v]++
		}
		for _, s := range o.Succs {
			for _, v := range s.Args {
				all[v]++
			}
		}
	})
	return all
}
