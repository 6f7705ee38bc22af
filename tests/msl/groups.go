package main

import (
	"fmt"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// Programs have any combination of steps in a group, and shaders are made of the same functions for each: so it is enough to
// list every operator with its dtypes in some group, and every way in which operands lie.

// The text is made by package msl and not by way of a plan, because a plan would choose its groups by itself.

// mostSteps is how many operators a listed group has, each of which writes its result.
const mostSteps = 8

// groups lists shaders of groups: those of the operators that can be in one, some at a time.
func (l *lister) groups() {
	for _, d := range gpu.Elements.Members() {
		var steps []msl.GroupStep
		for i := range op.Table {
			row := &op.Table[i]
			// Variants of another kind, such as those of composites, are no steps of groups.
			if row.Elementwise() && len(shaders(row.ID, d)) > 0 {
				for _, types := range dtypesOf(row, d) {
					if msl.GroupTakes(row.ID, types[0], types[1:]) {
						steps = append(steps, msl.GroupStep{Op: row.ID, Out: types[0], In: types[1:]})
					}
				}
			}
		}
		for n := 0; len(steps) > 0; n++ {
			// The last group of a dtype may have fewer.
			some := steps[:min(mostSteps, len(steps))]
			steps = steps[len(some):]
			l.group(fmt.Sprintf("group_%s_%d", d, n), some, n%2 == 1, n%3 == 1)
		}
		l.tails(d)
	}
}

// A tail depends on the reduction, its dtype and how wide offsets are. That each of them reads one operand straight and another
// one in runs or anywhere, and stores what it reduces or not, is enough to see every line of tail.metal.

// tails lists shaders of groups that end in a reduction of elements of a dtype: each reduction behind one step, whose result
// every other one stores.
func (l *lister) tails(d dtype.DType) {
	step, operands := op.IDMaximum, 2
	if d == dtype.Bool {
		step = op.IDLogicalOr
	}
	for i := range op.Table {
		row := &op.Table[i]
		out := d // results of other dtypes come from casts in front of the reduction
		switch {
		case row.ID == op.IDAny || row.ID == op.IDAll:
			out = dtype.Bool
		case row.ID == op.IDCountNonzero || row.ID == op.IDWholeSum || row.ID == op.IDWholeProd:
			out = dtype.Int64
		}
		if !row.Tail || !msl.TailTakes(row.ID, out, d) {
			continue
		}
		g := msl.Group{Wide: i%3 == 1, Tail: &msl.Tail{Op: row.ID, Out: out}}
		x := msl.GroupStep{Op: step, Out: d}
		for j := range operands {
			g.Reads = append(g.Reads, msl.Operand{DType: d, Lie: msl.Lie((i + j) % 3)})
			x.In, x.Sources = append(x.In, d), append(x.Sources, msl.Source{From: msl.Read, Index: j})
		}
		g.Steps = []msl.GroupStep{x}
		if i%2 == 1 {
			// What the group writes lies straight for some reductions and anywhere for others.
			g.Writes, g.Stored = []msl.Operand{{DType: d, Lie: msl.Lie(i / 2 % 2 * int(msl.Anywhere))}}, []int{0}
		}
		// The library compiles all kernels of a tail, too, because sizes decide which of them runs.
		l.name = fmt.Sprintf("tail_%s_%s", row.Name, d)
		if _, err := l.device.Pipelines(g.Source(), "staged", "rows", "parts", "whole"); err != nil {
			l.err = fmt.Errorf("%s: %w", l.name, err)
		}
	}
}

// group lists the shader of some steps, each of which reads its operands in another way than the one before.
func (l *lister) group(name string, steps []msl.GroupStep, wide, repeats bool) {
	g := msl.Group{Steps: steps, Wide: wide}
	reads := map[msl.Operand]int{} // each dtype in each way is read once
	read := func(d dtype.DType, lie msl.Lie) msl.Source {
		o := msl.Operand{DType: d, Lie: lie, Repeats: repeats && lie != msl.Straight}
		if _, ok := reads[o]; !ok {
			reads[o] = len(g.Reads)
			g.Reads = append(g.Reads, o)
		}
		return msl.Source{From: msl.Read, Index: reads[o]}
	}
	for i := range steps {
		for j, d := range steps[i].In {
			from := read(d, msl.Lie((i+j)%3))
			// Some second operands are numbers of the CPU's.
			if j == 1 && i%2 == 1 {
				from = msl.Source{From: msl.Number, Index: g.Numbers()}
			}
			steps[i].Sources = append(steps[i].Sources, from)
		}
		// Every other result is stored element by element.
		g.Writes = append(g.Writes, msl.Operand{DType: steps[i].Out, Lie: msl.Lie(i % 2 * int(msl.Anywhere))})
		g.Stored = append(g.Stored, i)
	}
	l.name = name
	if _, err := l.device.Pipelines(g.Source(), msl.Name); err != nil {
		l.err = fmt.Errorf("%s: %w", name, err)
	}
}
