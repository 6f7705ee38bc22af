// The table of operations. Adding one that is written as MLIR writes most is a line here and a rule in package emit.

package ttir

import "strings"

// row is how an operation is written: its head, and how the types behind the colon say those of operands and results.
//
// Words of a head: % is an operand, ?% an operand that may be absent with the comma before it, %* all operands;
// w:a is a word that is attribute a, s:a a string, k:a means ", a = word" or nothing, o:a "a = word" or nothing;
// f is overflow<...> or fastmath<...> or nothing, @ a symbol, {} attributes or nothing; others stand for themselves.
type row struct {
	name string
	head []string
	sig  *signature
	// Of operations with a form of their own, which neither head nor signature says.
	parse func(*parser, *Op, []token)
	print func(*printer, *Op)
}

// rows is the table of operations, by name.
var rows = map[string]*row{}

// The rows. Names of one dialect that are written alike share a call.
func init() {
	add := func(head string, sig *signature, names ...string) {
		// One row each, though the table writes them together.
		for _, name := range names {
			rows[name] = &row{name: name, head: strings.Fields(head), sig: sig}
		}
	}
	with := func(prefix string, names string) []string {
		all := strings.Fields(names)
		for i := range all {
			all[i] = prefix + all[i]
		}
		return all
	}
	// Arithmetic: x, y : T. nsw and nuw say that nothing overflows, which Triton prints seldom.
	add("% , % f {}", sameType, with("arith.", `addi subi muli divsi divui remsi remui ceildivsi floordivsi ceildivui andi ori xori shli shrsi shrui
		maxsi maxui minsi minui addf subf mulf divf remf maximumf minimumf maxnumf minnumf`)...)
	add("% f {}", sameType, "arith.negf")
	// Comparisons give i1, and the predicate is a word in front.
	add("w:predicate , % , % f {}", compared, "arith.cmpi", "arith.cmpf")
	add("% , % , % {}", selected, "arith.select")
	// Conversions: x : A to B.
	add("% f {}", cast, with("arith.", "extsi extui extf trunci truncf sitofp uitofp fptosi fptoui bitcast index_cast index_castui")...)
	// Functions of one operand; those of more follow.
	add("% f {}", sameType, with("math.", `exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh sqrt rsqrt cbrt
		absf absi erf floor ceil round roundeven trunc`)...)
	add("% , % f {}", sameType, "math.powf", "math.atan2", "math.copysign")
	add("% , % , % f {}", sameType, "math.fma")

	// Numbers of the program, ranges and values that do not matter have no operand.
	add("w:axis {}", sameType, "tt.get_program_id", "tt.get_num_programs")
	add("{}", sameType, "tt.make_range", "ub.poison")
	// What changes shape or type: x : A -> B.
	add("% {}", arrow, with("tt.", "splat expand_dims broadcast trans bitcast int_to_ptr ptr_to_int split")...)
	add("% {}", elementOf, "tt.unsplat")
	add("% allow_reorder? efficient_layout? {}", arrow, "tt.reshape")
	add("% , % {}", arrow, "tt.cat", "tt.join")
	add("% , % {}", offset, "tt.addptr")
	// Memory. The mask and the other value may be absent; the type of the pointer says all.
	add("% ?% ?% o:cacheModifier o:evictionPolicy {}", loaded, "tt.load")
	add("% , % ?% o:cacheModifier o:evictionPolicy {}", stored, "tt.store")
	// Atomic operations: what is done, the order, and among whom.
	add("w:atomic_rmw_op , w:sem , w:scope , % , % ?% {}", function, "tt.atomic_rmw")
	add("w:sem , w:scope , % , % , % {}", function, "tt.atomic_cas")
	add("w:sem , w:scope , % ?% {}", function, "tt.atomic_load")
	add("w:sem , w:scope , % , % ?% {}", stored, "tt.atomic_store")
	add("w:sem , w:scope , % , % {}", arrow, "tt.atomic_poll")
	// Products, and operations that read elements by number.
	add("% , % , % k:inputPrecision {}", product, "tt.dot")
	add("% [ % ] {}", function, "tt.gather")
	add("% ?% {}", histogram, "tt.histogram")
	// Arithmetic that Triton has beside the arith dialect's.
	add("% , % {}", sameType, "tt.mulhiui", "tt.precise_divf", "tt.approx_divf")
	add("% {}", sameType, "tt.precise_sqrt")
	add("% , % , % k:propagateNan {}", sameType, "tt.clampf")
	add("% k:rounding {}", arrow, "tt.fp_to_fp")
	// Calls: of libdevice, of assembly, of functions.
	add("%* {}", function, "tt.extern_elementwise")
	add("s:asm_string {} %*", arrow, "tt.elementwise_inline_asm")
	add("@ ( %* ) {}", function, "tt.call")
	// Descriptors and block pointers, as the builder of libtriton prints them; package clean lowers them.
	add("%* {}", function, with("tt.", `make_tensor_descriptor descriptor_load descriptor_store descriptor_reduce
		descriptor_gather descriptor_scatter make_tensor_ptr advance`)...)
	// What has an effect and no result.
	add("% , s:message {}", takes, "tt.assert")
	add("% {}", takes, "llvm.intr.assume")
	add("w:scope? {}", nothing, "gpu.barrier", "ttg.barrier")
	// Terminators.
	add("%* {}", listed, "tt.return", "scf.yield", "tt.reduce.return", "tt.scan.return", "tt.map_elementwise.return")

	// What the words of a head cannot say.
	for name, own := range map[string]row{
		"arith.constant": {parse: parseConstant, print: printConstant},
		"tt.print":       {parse: parsePrint, print: printPrint},
		"scf.for":        {parse: parseFor, print: printFor},
		"scf.if":         {parse: parseIf, print: printIf},
		"scf.while":      {parse: parseWhile, print: printWhile},
		"scf.condition":  {parse: parseCondition, print: printCondition},
		"cf.br":          {parse: parseBranch, print: printBranch},
		"cf.cond_br":     {parse: parseBranch, print: printBranch},
	} {
		own.name = name
		rows[name] = &own
	}
	// MLIR's generic form, in which any operation can be written.
	for _, name := range []string{"tt.reduce", "tt.scan", "tt.map_elementwise"} {
		rows[name] = &row{name: name, parse: parseGeneric, print: printGeneric}
	}
}

// Known are the names of the operations that can be parsed.
func Known() (all []string) {
	for name := range rows {
		all = append(all, name)
	}
	return all
}

// terminators end blocks.
var terminators = map[string]bool{
	"tt.return": true, "scf.yield": true, "scf.condition": true, "cf.br": true, "cf.cond_br": true,
	"tt.reduce.return": true, "tt.scan.return": true, "tt.map_elementwise.return": true,
}
