// The verifier. The compiler relies on what is checked here and in the parser, and panics on nothing that passes.

package ttir

// Verify checks what the parser has not: that blocks end with a terminator, that regions yield what their operation says,
// and that shapes fit together. The error is an *Error at the operation.
func Verify(m *Module) (err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *Error:
			err = e
		default:
			panic(e)
		}
	}()
	// Functions do not depend on each other; the parser has checked calls.
	v := &verifier{file: m.File}
	for _, f := range m.Funcs {
		v.function = f
		v.region(f.Body, nil)
	}
	return nil
}

type verifier struct {
	file     string
	function *Func
}

// fail leaves with an error at the next token.
func (v *verifier) fail(o *Op, message string) {
	panic(&Error{v.file, o.Line, o.Col, o.Name + ": " + message})
}

// region checks the blocks of a region, whose operation is nil for a function's body.
func (v *verifier) region(r *Region, parent *Op) {
	v.dominance(r)
	for _, b := range r.Blocks {
		if len(b.Ops) == 0 || !terminators[b.Terminator().Name] {
			// MLIR leaves out a yield of nothing.
			implied := parent != nil && len(parent.Results) == 0 && (parent.Name == "scf.for" || parent.Name == "scf.if")
			if !implied {
				v.end(b, parent)
			}
			b.Ops = append(b.Ops, &Op{Name: "scf.yield", row: rows["scf.yield"], Loc: locOf(parent)})
		}
		// Operands were defined before, which the parser has seen to.
		for _, o := range b.Ops {
			v.op(o, parent, b)
		}
	}
}

// locOf is the location of an operation, or none.
func locOf(o *Op) *Loc {
	if o == nil {
		return nil
	}
	return o.Loc
}

// end fails at a block without a terminator.
func (v *verifier) end(b *Block, parent *Op) {
	if len(b.Ops) > 0 {
		v.fail(b.Terminator(), "the block ends here without a terminator")
	}
	if parent != nil {
		v.fail(parent, "a block is empty")
	}
	panic(&Error{v.file, v.function.Line, v.function.Col, "a block is empty"})
}

// yields are the terminators that the regions of an operation must end with; functions end with tt.return.
var yields = map[string]string{
	"scf.for": "scf.yield", "scf.if": "scf.yield", "tt.reduce": "tt.reduce.return", "tt.scan": "tt.scan.return",
	"tt.map_elementwise": "tt.map_elementwise.return",
}

// op checks an operation, then its regions.
func (v *verifier) op(o, parent *Op, b *Block) {
	if terminators[o.Name] {
		v.terminator(o, parent, b)
	}
	// The parser has compared types with the text, here they are compared with each other.
	if check := shapes[o.Name]; check != nil {
		if message := check(o); message != "" {
			v.fail(o, message)
		}
	}
	for i, r := range o.Regions {
		if message := regionArgs(o, i); message != "" {
			v.fail(o, message)
		}
		v.region(r, o)
	}
}

// terminator checks that a block ends as its region must, with values of the right types.
func (v *verifier) terminator(o, parent *Op, b *Block) {
	// A branch to the first block would be a loop, and gives no arguments.
	for _, s := range o.Succs {
		if !sameTypes(s.Args, s.To.Args) {
			v.fail(o, "a branch gives other values than its block takes")
		}
	}
	if o.Name == "cf.br" || o.Name == "cf.cond_br" {
		if parent != nil && parent.Name != "tt.map_elementwise" {
			v.fail(o, "branches stand in functions only")
		}
		return
	}
	// A function's blocks end with tt.return, or a branch.
	if parent == nil {
		if o.Name != "tt.return" || len(o.Operands) != len(v.function.Results) {
			v.fail(o, "the function does not return what it says")
		}
		for i, t := range v.function.Results {
			if !o.Operands[i].Type.Same(t) {
				v.fail(o, "the function does not return what it says")
			}
		}
		return
	}
	// The two regions of a while loop end in different ways.
	want := yields[parent.Name]
	if parent.Name == "scf.while" {
		want = "scf.yield"
		if len(parent.Regions) == 1 || b == parent.Regions[0].Blocks[0] {
			want = "scf.condition"
		}
	}
	if o.Name != want {
		v.fail(o, "want "+want+" at the end of a region of "+parent.Name)
	}
	v.yielded(o, parent)
}

// yielded checks the values that a region ends with.
func (v *verifier) yielded(o, parent *Op) {
	ok := true
	switch parent.Name {
	case "scf.for", "scf.if":
		ok = sameTypes(o.Operands, parent.Results)
	case "scf.while":
		if o.Name == "scf.condition" {
			ok = sameTypes(o.Operands[1:], parent.Results)
		} else {
			ok = sameTypes(o.Operands, parent.Operands)
		}
	default:
		ok = len(o.Operands) == len(parent.Results) || parent.Name == "tt.map_elementwise"
		for i, r := range parent.Results {
			ok = ok && i < len(o.Operands) && o.Operands[i].Type.Same(r.Type.Element())
		}
	}
	if !ok {
		v.fail(o, "the region gives other values than "+parent.Name+" has")
	}
}

// sameTypes reports whether two lists of values have the same types.
func sameTypes(a, b []*Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Type.Same(b[i].Type) {
			return false
		}
	}
	return true
}

// regionArgs checks the blocks and arguments of a region; it answers "" if they are as they must be.
func regionArgs(o *Op, i int) string {
	r := o.Regions[i]
	if len(r.Blocks) == 0 {
		return "a region is empty"
	}
	// Only functions and maps have branches.
	if len(r.Blocks) > 1 && o.Name != "tt.map_elementwise" {
		return "a region has several blocks"
	}
	args := r.Blocks[0].Args
	switch o.Name {
	case "scf.while":
		want := o.Operands
		if i == 1 {
			want = o.Results
		}
		if !sameTypes(args, want) {
			return "the region's arguments are not the values that the loop carries"
		}
	case "scf.if":
		if len(args) > 0 {
			return "the region has arguments"
		}
		if len(o.Regions) == 1 && len(o.Results) > 0 {
			return "want an else region, since there are results"
		}
	case "tt.reduce", "tt.scan":
		n := len(o.Operands)
		if n == 0 || len(args) != 2*n || len(o.Results) != n {
			return "want two arguments of the region for each operand"
		}
		for k, a := range args {
			if !a.Type.Same(o.Operands[k%n].Type.Element()) {
				return "the region's arguments are not elements of the operands"
			}
		}
	}
	return ""
}
