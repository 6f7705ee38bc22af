package graph

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Explain is a plan as text: a step a line, with where its operands lie and what note says of it, and the size of the arena.
// Steps of a group follow a line that names it, and one that says so if it has a tail.
//
//	group of steps 0 to 1: 16 elements, 1 locals
//	   0  local0 = exp(in0)  float32[4, 4]
//	   1  out0 = multiply(local0, number)  float32[4, 4]
//	arena of 0 bytes
func Explain(p *device.Plan, note func(step int) string) string {
	var b strings.Builder
	groups := p.Groups
	for i := range p.Steps {
		if len(groups) > 0 && groups[0].First == i {
			g := &groups[0]
			fmt.Fprintf(&b, "group of steps %d to %d: %d elements, %d locals\n", g.First, g.End-1, g.Elements, g.Locals)
			if g.Tail {
				b.WriteString("the last one reduces a result of the others block by block\n")
			}
			groups = groups[1:]
		}
		call := p.Steps[i].Call
		fmt.Fprintf(&b, "%4d  %s = %s(%s)", i, slots(p.Steps[i].Out), op.ByID(call.Op).Name, slots(p.Steps[i].In))
		for j := range call.Out {
			fmt.Fprintf(&b, "  %s%s", call.Out[j].DType, &call.Out[j].Shape)
		}
		if text := note(i); text != "" {
			b.WriteString("  " + text)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "arena of %d bytes\n", p.Arena)
	return b.String()
}

// slots is where operands lie.
func slots(list []device.Slot) string {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = [...]string{"number", "in", "out", "arena", "local"}[s.Space]
		if s.Space == device.Input || s.Space == device.Output || s.Space == device.Local {
			texts[i] += strconv.Itoa(s.Index)
		}
		if s.Offset != 0 {
			texts[i] += "+" + strconv.FormatInt(s.Offset, 10)
		}
	}
	return strings.Join(texts, ", ")
}
