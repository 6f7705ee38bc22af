package msl

import (
	"fmt"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Tail is the reduction that a group ends in: of the last axes of a result, whose elements each thread folds when it has
// computed them. What it reduces is in memory only if it is among [Group.Stored].
type Tail struct {
	Op   op.ID
	Out  dtype.DType
	Step int // whose result it reduces
}

// The kernels of a group with a tail have the names and sizes of those of [Rows], and are dispatched like them. Their arguments
// are those of the steps up to the numbers, then those of tail.metal.

// TailTakes reports whether a reduction of elements of a dtype can be the tail of a group.
func TailTakes(operator op.ID, out, in dtype.DType) bool {
	return storage[out] != "" && HasReduction(operator, in)
}

// tailed is the text of the kernels, behind the function of all steps.
func (g *Group) tailed(s *strings.Builder) {
	in := g.Steps[g.Tail.Step].Out
	s.WriteString(reducing(g.Tail.Op, in, g.Tail.Out, g.Wide) + file("reduce_lanes"))
	takes, gives, memory := "", "", ""
	operands := g.operands()
	for i, o := range operands {
		takes += o.kind + o.name + ", "
		gives += o.name + ", "
		memory += fmt.Sprintf("%s%s [[buffer(%d)]], ", o.kind, o.name, i)
	}
	n := len(operands)
	fmt.Fprintf(s, "#define TAKES %s\n#define GIVES %s\n#define MEMORY %s\n", takes, gives, memory)
	fmt.Fprintf(s, "#define OUT %d\n#define TO %d\n#define SIZES %d\n#define LANES %du\n", n, n+1, n+2, g.Lanes())
	result := fmt.Sprintf("t%d", len(g.Writes))
	s.WriteString("inline E element(TAKES uint e) {\n")
	g.call(s, "    ", "e", func(i int) string { return g.element(i, "e") })
	fmt.Fprintf(s, "    return %s;\n}\ninline A fold_lanes(TAKES uint i, A a, uint low) {\n", result)
	g.vector(s, "    ", fmt.Sprintf("a = fold(a, load(%s), i * LANES + k - low);", result))
	s.WriteString("    return a;\n}\n" + file("tail"))
}
