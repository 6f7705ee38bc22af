// The emitter: where statements go, how values are found and named, and the tables that operations are looked up in.
//
// Statements are appended to a list. Operations on elements share a loop over registers as long as nothing else comes
// between them, so that a thread keeps what it computes in variables and only what is used later in arrays. Scalars go in
// front of such a loop: they cannot depend on it, because only other statements make scalars out of elements.

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

// value is a tensor or scalar in the text.
type value struct {
	// An expression; of pointers the base that offsets count from.
	scalar string
	// Elements; of pointers offsets, nil for none.
	regs *tree.Registers
	// Offsets are long.
	wide bool
	// Regs are whole pointers, and scalar is empty.
	full bool
}

// emitter builds the tree of one kernel.
type emitter struct {
	module *ttir.Module
	plan   *plan.Plan
	opts   *Options
	// By layout; "" for scalars.
	values map[*ttir.Value]map[string]*value
	// That statements go to.
	list  *[]*tree.Node
	where string
	names map[string]bool
	// Functions before the kernel.
	prefix []string
	// How often operations use a value.
	counts    map[*ttir.Value]int
	fragments map[*ttir.Value]*fragments
	roots     *plan.Roots
	// Of calls.
	leave []leaving
	// Places that may report.
	sites report.Sites
	// Declarations of pointers that are in a table.
	tabled []string
	// Statements go to a function in front of the kernel.
	inFunction bool
	// Of areas and temporaries.
	count int
	stats Stats
}

// Options are what a caller may choose.
type Options struct {
	Warps      int
	F64AsF32   bool
	MaxThreads int // 0: 1024
	MaxShared  int // 0: 32 KiB
	// No product and sum may be fused.
	NoFusion bool
}

// Stats are what `explain` prints.
type Stats struct {
	Shared, Barriers int
	Layouts          []string
	Exchanges        int
	Accesses         []string
}

// refuse leaves by a panic, which Compile returns.
func refuse(o *ttir.Op, typ, why string) {
	panic(&ttir.Unsupported{Op: o.Name, Type: typ, Where: o.Where(), Why: why})
}

// add appends a node.
func (e *emitter) add(n *tree.Node) *tree.Node {
	if n.Where == "" {
		n.Where = e.where
	}
	*e.list = append(*e.list, n)
	return n
}

// say appends a statement.
func (e *emitter) say(parts ...string) {
	e.add(&tree.Node{Kind: tree.Statement, Text: strings.Join(parts, "")})
}

// inside runs do with statements going to another list.
func (e *emitter) inside(list *[]*tree.Node, do func()) {
	outer := e.list
	e.list = list
	do()
	e.list = outer
}

// block appends a header whose body do builds.
func (e *emitter) block(header string, may, again bool, do func()) *tree.Node {
	n := e.add(&tree.Node{Kind: tree.Block, Text: header, May: may, Again: again})
	e.inside(&n.Body, do)
	return n
}

// name is an identifier that is not used yet, after the name of a value.
func (e *emitter) name(like string) string {
	var s strings.Builder
	for i := range len(like) {
		switch c := like[i]; {
		case c == '%' || c == '@':
		case c >= '0' && c <= '9' && s.Len() == 0:
			// %0 is no identifier: v0.
			s.WriteByte('v')
			s.WriteByte(c)
		case c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_':
			s.WriteByte(c)
		default:
			s.WriteByte('_')
		}
	}
	base := strings.TrimLeft(s.String(), "_")
	if base == "" {
		base = "v"
	}
	// Two underscores are reserved in C++, and a local name would hide a function of Metal.
	if reserved[base] || strings.HasPrefix(base, "simd_") || strings.Contains(base, "__") {
		base = strings.ReplaceAll(base, "__", "_") + "_v"
	}
	name := base
	// Inlined and repeated operations define a name more than once.
	for i := 1; e.names[name]; i++ {
		name = base + "_" + strconv.Itoa(i) + "n"
	}
	e.names[name] = true
	return name
}

// loopFor is the loop over registers that statements go to: the last one, if it has as many trips and may take more.
func (e *emitter) loopFor(n int) *tree.Node {
	if l := e.openLoop(); l != nil && l.Trips == n && !l.Effect.Stores {
		return l
	}
	return e.add(&tree.Node{Kind: tree.Loop, Trips: n})
}

// openLoop is the loop that is the last statement, nil if another one is.
func (e *emitter) openLoop() *tree.Node {
	if n := len(*e.list); n > 0 && (*e.list)[n-1].Kind == tree.Loop {
		return (*e.list)[n-1]
	}
	return nil
}

// before appends a statement on scalars: in front of an open loop, which cannot have computed what it needs.
func (e *emitter) before(n *tree.Node) {
	if n.Where == "" {
		n.Where = e.where
	}
	l := e.openLoop()
	if l == nil {
		e.add(n)
		return
	}
	// The loop stays last, so that later elements may still join it.
	all := *e.list
	all[len(all)-1] = n
	*e.list = append(all, l)
}

// identity is the index of n registers that are all apart.
func identity(n int) []int {
	all := make([]int, layout.Log(n))
	for i := range all {
		all[i] = i
	}
	return all
}

// define computes n registers by an expression of the register's number, and names the result.
func (e *emitter) define(like, ctype string, n int, expression func(read func(*tree.Registers) string) string) *tree.Registers {
	r := &tree.Registers{Name: e.name(like), CType: ctype, N: n, Index: identity(n), Array: new(bool)}
	early := false
	// One register needs no loop. Most of what it depends on has one register too, and is no part of an open loop.
	if n == 1 {
		l := e.openLoop()
		text := ctype + " " + r.Name + " = " + expression(func(v *tree.Registers) string {
			early = early || crosses(v, l, tree.RegisterNumber{})
			return e.element(v, nil, tree.RegisterNumber{})
		}) + ";"
		if early {
			e.say(text)
		} else {
			e.before(&tree.Node{Kind: tree.Statement, Text: text})
		}
		return r
	}
	l, text := e.loopFor(n), ""
	// Registers of the loop that have other numbers may not be computed yet: these need the whole loop in front.
	read := func(v *tree.Registers) string {
		early = early || crosses(v, l, tree.RegisterNumber{Name: "r"})
		return e.element(v, l, tree.RegisterNumber{Name: "r"})
	}
	if text = expression(read); early {
		l = e.add(&tree.Node{Kind: tree.Loop, Trips: n})
		text = expression(read)
	}
	r.Loop = l
	l.Body = append(l.Body, &tree.Node{Kind: tree.Statement, Text: text, Def: r, Where: e.where})
	return r
}

// crosses reports whether a register that a loop computes is read there under another number than that of the iteration.
func crosses(v *tree.Registers, l *tree.Node, i tree.RegisterNumber) bool {
	return v.N > 1 && v.Loop != nil && v.Loop == l && (i.Name != "r" || i.Text(v.Index, v.Plus) != "r")
}

// array declares n registers, which statements then assign.
func (e *emitter) array(like, ctype string, n int) *tree.Registers {
	r := &tree.Registers{Name: e.name(like), CType: ctype, N: n, Index: identity(n), Array: new(bool)}
	*r.Array = true
	if n == 1 {
		e.say(ctype, " ", r.Name, ";")
	} else {
		e.say(ctype, " ", r.Name, "[", strconv.Itoa(n), "];")
	}
	return r
}

// element is a register as an expression, in a loop over registers or outside.
func (e *emitter) element(v *tree.Registers, l *tree.Node, i tree.RegisterNumber) string {
	if v.N == 1 {
		return v.Name
	}
	// In the loop that computes it, an element is a variable unless it turns out to be used elsewhere.
	number := i.Text(v.Index, v.Plus)
	if v.Loop != nil && v.Loop == l && i.Name == "r" && number == "r" {
		return tree.Opens + v.Name + tree.Closes
	}
	*v.Array = true
	return v.Name + "[" + number + "]"
}

// whole assigns registers one by one: in a loop, or as a statement if there is one.
func (e *emitter) whole(n int, statement func(i tree.RegisterNumber) string) {
	if n == 1 {
		e.say(statement(tree.RegisterNumber{}))
		return
	}
	l := e.block("for (ushort r = 0; r < "+strconv.Itoa(n)+"; r++)", false, false, func() {
		e.say(statement(tree.RegisterNumber{Name: "r"}))
	})
	l.May = false
}

// get is a value in a layout, or a scalar.
func (e *emitter) get(v *ttir.Value, l layout.Layout) *value {
	key := ""
	if v.Type.IsTensor() {
		key = l.Key()
	}
	x := e.values[v][key]
	if x == nil {
		panic("tritonlang: value " + v.Ref() + " was not planned in layout " + key)
	}
	return x
}

// scalar is a scalar as an expression.
func (e *emitter) scalar(v *ttir.Value) string { return e.get(v, layout.Layout{}).scalar }

// set notes a value in a layout.
func (e *emitter) set(v *ttir.Value, l layout.Layout, x *value) {
	if e.values[v] == nil {
		e.values[v] = map[string]*value{}
	}
	key := ""
	if v.Type.IsTensor() {
		key = l.Key()
	}
	e.values[v][key] = x
}

// done notes a value in its home, and converts it to the other layouts that are wanted.
func (e *emitter) done(v *ttir.Value, x *value) {
	if !v.Type.IsTensor() {
		e.set(v, layout.Layout{}, x)
		return
	}
	home := e.plan.HomeOf(v)
	e.set(v, home, x)
	for _, l := range e.plan.Wanted[v] {
		// The exchange stands where the value is made, outside of loops that use it.
		if !l.Same(home) {
			e.set(v, l, e.convert(v, x, home, l))
		}
	}
}

// region emits the operations of a block but for its terminator, which it answers.
func (e *emitter) ops(b *ttir.Block) *ttir.Op {
	for _, o := range b.Ops {
		e.where = o.Where()
		if o == b.Terminator() && terminal[o.Name] {
			return o
		}
		e.op(o)
	}
	return nil
}

var terminal = map[string]bool{"tt.reduce.return": true, "tt.scan.return": true, "tt.return": true, "scf.yield": true, "scf.condition": true, "cf.br": true, "cf.cond_br": true}

// rule emits an operation.
type rule func(*emitter, *ttir.Op)

// rules is the table of operations that are not computed element by element.
var rules = map[string]rule{}

// op emits one operation.
func (e *emitter) op(o *ttir.Op) {
	for _, v := range append(append([]*ttir.Value{}, o.Operands...), o.Results...) {
		if name, ok := supported(v.Type); !ok && !(name == "f64" && e.opts.F64AsF32) {
			refuse(o, name, "Metal has no such type")
		}
	}
	// MLIR has removed most of what is not used; layouts that no operation asks for are decided here.
	if e.plan.Dead(o) {
		return
	}
	switch f, x := rules[o.Name], elements[o.Name]; {
	case f != nil:
		f(e, o)
	case x != nil:
		e.elementwise(o, x)
	default:
		refuse(o, "", "this operation is not supported")
	}
}

// reserved are words of the language, and functions and types that the text uses or <metal_stdlib> has.
var reserved = func() map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(`alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr
		const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto half if
		inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
		return short signed sizeof static static_assert static_cast struct switch template this throw true try typedef typeid typename uint ulong
		uchar ushort union unsigned using virtual void volatile while xor xor_eq kernel vertex fragment device constant threadgroup thread metal
		pool lane warp program programs records addresses numbers r q k exp exp2 log log2 sin cos sqrt rsqrt fabs abs floor ceil fma fmod fmin fmax min max pow tanh erf
		mulhi clamp as_type select mem_flags threadgroup_barrier main NAN INFINITY bfloat size_t ptrdiff_t atomic atomic_int atomic_uint precise fast
		sign step mix fract round rint trunc tan asin acos atan sinh cosh asinh acosh atanh atan2 copysign ldexp frexp modf popcount clz ctz dot
		cross length distance normalize array vec matrix sampler access ray uniform plus minus multiplies divides isnan isinf isfinite any all
		float2 float4 int2 int4 uint2 uint3 uint4 half2 half4 char4 uchar4 ushort4 long2 ulong2 quad saturate linux unix`) {
		all[w] = true
	}
	return all
}()
