// What the verifier asks of operations whose types depend on each other.

package ttir

import "slices"

// shapes has a check for operations whose types must fit together: the error, or "".
var shapes = map[string]func(*Op) string{
	// A scalar becomes a tensor of itself.
	"tt.splat": func(o *Op) string {
		from, to := o.Operands[0].Type, o.Results[0].Type
		return unless(!from.IsTensor() && to.IsTensor() && to.Elem.Same(from), "want a tensor of the scalar's type")
	},
	// The other way round, of a tensor with one element.
	"tt.unsplat": func(o *Op) string {
		from := o.Operands[0].Type
		return unless(from.IsTensor() && from.Count() == 1 && from.Elem.Same(o.Results[0].Type), "want the only element of a tensor")
	},
	// end - start elements of i32.
	"tt.make_range": func(o *Op) string {
		t := o.Results[0].Type
		n := o.Int("end", 0) - o.Int("start", 0)
		return unless(t.IsTensor() && len(t.Shape) == 1 && t.Shape[0] == n && t.IsInt(32), "the shape is not the range's")
	},
	// A dimension of 1 at an axis, which may be behind the last one.
	"tt.expand_dims": func(o *Op) string {
		from, to, axis := o.Operands[0].Type, o.Results[0].Type, o.Int("axis", -1)
		ok := from.IsTensor() && to.IsTensor() && axis >= 0 && axis <= len(from.Shape) && to.Elem.Same(from.Elem)
		return unless(ok && slices.Equal(slices.Insert(slices.Clone(from.Shape), axis, 1), to.Shape), "want a dimension of 1 at axis")
	},
	// As many dimensions, of which those of 1 may grow.
	"tt.broadcast": func(o *Op) string {
		from, to := o.Operands[0].Type, o.Results[0].Type
		ok := from.IsTensor() && to.IsTensor() && len(from.Shape) == len(to.Shape) && to.Elem.Same(from.Elem)
		for i := 0; ok && i < len(to.Shape); i++ {
			ok = from.Shape[i] == to.Shape[i] || from.Shape[i] == 1
		}
		return unless(ok, "only dimensions of 1 can grow")
	},
	// As many elements, in the same order.
	"tt.reshape": func(o *Op) string {
		from, to := o.Operands[0].Type, o.Results[0].Type
		return unless(from.IsTensor() && to.IsTensor() && from.Count() == to.Count() && to.Elem.Same(from.Elem), "want as many elements")
	},
	// order says which dimension of the operand each of the result is.
	"tt.trans": func(o *Op) string {
		from, to := o.Operands[0].Type, o.Results[0].Type
		order, _ := o.Attr("order")
		ok := from.IsTensor() && to.IsTensor() && len(order.Ints) == len(from.Shape) && len(to.Shape) == len(from.Shape) && to.Elem.Same(from.Elem)
		seen := map[int64]bool{}
		for i := 0; ok && i < len(order.Ints); i++ {
			d := order.Ints[i]
			ok = d >= 0 && int(d) < len(from.Shape) && !seen[d] && to.Shape[i] == from.Shape[d]
			seen[d] = true
		}
		return unless(ok, "the shape is not the operand's in that order")
	},
	// An offset for each pointer.
	"tt.addptr": func(o *Op) string {
		p, x := o.Operands[0].Type, o.Operands[1].Type
		return unless(p.IsPointer() && x.IsInt(0) && slices.Equal(p.Shape, x.Shape), "want pointers and integers of one shape")
	},
	// Rows by columns, perhaps in a batch.
	"tt.dot": func(o *Op) string {
		a, b, c := o.Operands[0].Type, o.Operands[1].Type, o.Results[0].Type
		n := len(c.Shape)
		ok := n >= 2 && n <= 3 && len(a.Shape) == n && len(b.Shape) == n && c.Same(o.Operands[2].Type)
		ok = ok && a.Shape[n-2] == c.Shape[n-2] && b.Shape[n-1] == c.Shape[n-1] && a.Shape[n-1] == b.Shape[n-2]
		return unless(ok && (n == 2 || a.Shape[0] == c.Shape[0] && b.Shape[0] == c.Shape[0]), "the shapes are not those of a product")
	},
	// All operands have one shape; results lack the axis, and are scalars where nothing is left.
	"tt.reduce": func(o *Op) string {
		axis := o.Int("axis", -1)
		for i, v := range o.Operands {
			t := v.Type
			if !t.IsTensor() || axis < 0 || axis >= len(t.Shape) || !slices.Equal(t.Shape, o.Operands[0].Type.Shape) || i >= len(o.Results) {
				return "want tensors of one shape, and an axis of it"
			}
			rest := slices.Delete(slices.Clone(t.Shape), axis, axis+1)
			if r := o.Results[i].Type; !slices.Equal(r.Shape, rest) || !r.Element().Same(t.Elem) {
				return "the result is not the operand without the axis"
			}
		}
		return ""
	},
	// All operands have one shape, and results theirs.
	"tt.scan": func(o *Op) string {
		axis := o.Int("axis", -1)
		for i, v := range o.Operands {
			t := v.Type
			if !t.IsTensor() || axis < 0 || axis >= len(t.Shape) || !slices.Equal(t.Shape, o.Operands[0].Type.Shape) || i >= len(o.Results) || !o.Results[i].Type.Same(t) {
				return "want tensors of one shape, an axis of it, and results of the same types"
			}
		}
		return ""
	},
	// A new last dimension tells the operands apart.
	"tt.join": func(o *Op) string {
		from, to := o.Operands[0].Type, o.Results[0].Type
		return unless(from.IsTensor() && to.IsTensor() && slices.Equal(append(slices.Clone(from.Shape), 2), to.Shape) && from.Elem.Same(to.Elem), "want a last dimension of 2")
	},
	// The last dimension tells the results apart.
	"tt.split": func(o *Op) string {
		from, to := o.Operands[0].Type, o.Results[0].Type
		return unless(from.IsTensor() && to.IsTensor() && slices.Equal(append(slices.Clone(to.Shape), 2), from.Shape) && from.Elem.Same(to.Elem), "want a last dimension of 2")
	},
	// The first dimension grows.
	"tt.cat": func(o *Op) string {
		from, to := o.Operands[0].Type, o.Results[0].Type
		return unless(from.IsTensor() && to.IsTensor() && len(from.Shape) == len(to.Shape) && to.Count() == 2*from.Count() && 2*from.Shape[0] == to.Shape[0] && from.Elem.Same(to.Elem), "want twice the first dimension")
	},
	// Indices have the result's shape, which may differ from the source's along the axis.
	"tt.gather": func(o *Op) string {
		x, i, r := o.Operands[0].Type, o.Operands[1].Type, o.Results[0].Type
		axis := o.Int("axis", -1)
		ok := x.IsTensor() && i.IsInt(0) && slices.Equal(i.Shape, r.Shape) && len(x.Shape) == len(i.Shape) && axis >= 0 && axis < len(x.Shape) && r.Element().Same(x.Element())
		for d := 0; ok && d < len(x.Shape); d++ {
			ok = d == axis || x.Shape[d] == i.Shape[d]
		}
		return unless(ok, "the shapes are not those of a gather")
	},
	// Counters for the numbers from 0.
	"tt.histogram": func(o *Op) string {
		x, r := o.Operands[0].Type, o.Results[0].Type
		return unless(x.IsTensor() && r.IsTensor() && len(x.Shape) == 1 && len(r.Shape) == 1 && x.IsInt(0) && r.IsInt(32), "want integers of one dimension")
	},
}

// Operations on elements have operands and results of one shape.
func init() {
	elementwise := func(o *Op) string {
		for _, v := range slices.Concat(o.Operands, o.Results) {
			if !slices.Equal(v.Type.Shape, o.Results[0].Type.Shape) {
				return "the shapes differ"
			}
		}
		return ""
	}
	for name, r := range rows {
		if shapes[name] != nil || len(name) < 6 {
			continue
		}
		if (name[:6] == "arith." && r.sig != nil && r.sig != selected) || name[:5] == "math." {
			shapes[name] = elementwise
		}
	}
	for _, name := range []string{"tt.bitcast", "tt.fp_to_fp", "tt.int_to_ptr", "tt.ptr_to_int", "tt.mulhiui", "tt.clampf", "tt.precise_sqrt", "tt.precise_divf", "tt.extern_elementwise"} {
		shapes[name] = elementwise
	}
	shapes["arith.select"] = func(o *Op) string {
		c, r := o.Operands[0].Type, o.Results[0].Type
		return unless(!c.IsTensor() || slices.Equal(c.Shape, r.Shape), "the shapes differ")
	}
}

// unless is a message where something does not hold.
func unless(ok bool, message string) string {
	if ok {
		return ""
	}
	return message
}
