package formula

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// folding adds windows up on the axes of images.
type folding struct {
	*evaluation
	op.Windows
}

// addWindows computes fold: the axes are added up one after the other, from the last one on.
func addWindows(e *evaluation, args []quantity) quantity {
	size := args[1].value.Ints
	at := make(op.Attrs, len(args)-1)
	for i := range at {
		at[i] = args[1+i].value
	}
	w, err := op.WindowsOf(op.ByID(op.IDFold), at, len(size))
	if err != nil {
		e.Err = err
		return args[0]
	}
	f, s := folding{e, w}, e.Shape(args[0].v)
	apart := shape.Shape{Rank: 2 + 2*f.Axes, Dims: [shape.MaxRank]int64{s.Dims[0], s.Dims[1]}}
	for i := range f.Axes {
		apart.Dims[1] /= f.Kernel[i]
		apart.Dims[2+i], apart.Dims[2+f.Axes+i] = f.Kernel[i], f.Count(i, size[i])
	}
	v := e.Reshape(args[0].v, &apart)
	for i := f.Axes - 1; i >= 0; i-- {
		v = f.added(v, i, size[i])
		v = between(e.Calls, v, int64(2+2*i), f.Before[i], f.Before[i]+size[i])
	}
	return quantity{v: v}
}

// added are the sums on a padded axis of n elements between, where axis 2+i of v has the elements of a window, and an axis i+1 further
// the windows.
func (f *folding) added(v op.Var, i int, n int64) op.Var {
	s, element := f.Shape(v), 2+i
	if f.Err != nil {
		return v
	}
	at := element + i + 1
	count, stride, padded := s.Dims[at], f.Stride[i], n+f.Before[i]+f.Behind[i]
	if count == 1 && f.Dilation[i] == 1 { // a single window, of which a stride may be all
		stride = s.Dims[element]
	}
	switch {
	case f.Dilation[i] == 1 && (f.Kernel[i]-1)/max(stride, 1) < mostTaps:
		v = f.shifted(v, element, at, stride)
	case f.Dilation[i] > 1 && f.Kernel[i] <= mostTaps && stride <= mostTaps:
		v = f.interleaved(v, element, at, stride, f.Dilation[i])
	default:
		return f.placed(v, element, at, padded, stride, f.Dilation[i])
	}
	return f.pad(v, at-1, 0, max(padded-f.Shape(v).Dims[at-1], 0))
}

// shifted are sums of windows without dilation, in parts as long as a stride: part q of a window lies where part 0 of the window
// lies that is q further.
func (f *folding) shifted(v op.Var, element, at int, stride int64) op.Var {
	s := f.Shape(v)
	parts := (s.Dims[element]-1)/stride + 1
	v = f.pad(v, element, 0, parts*stride-s.Dims[element])
	l := shape.Layout{Shape: s}
	l.Dims[element] = stride
	l.Insert(element)
	l.Dims[element] = parts
	v = f.Reshape(v, &l.Shape)
	total, part := op.NoVar, s
	part.Dims[element] = stride
	for q := range parts {
		piece := f.Reshape(between(f.Calls, v, int64(element), q, q+1), &part)
		total = f.plus(total, f.pad(piece, at, q, parts-1-q))
	}
	return f.joined(total, element, at)
}

// joined merges an axis into another one behind it, of which it becomes the faster part.
func (f *folding) joined(v op.Var, fast, slow int) op.Var {
	s := f.Shape(v)
	var order []int64
	for i := range int64(s.Rank) {
		if i != int64(fast) {
			order = append(order, i)
		}
		if i == int64(slow) {
			order = append(order, int64(fast))
		}
	}
	l := shape.Layout{Shape: s}
	l.Dims[slow] *= l.Dims[fast]
	l.Remove(fast)
	return f.Reshape(permute(f.Calls, v, order), &l.Shape)
}

// interleaved are sums of windows with dilation: element k of window w lies at k * dilation + w * stride. Elements with one remainder
// by the stride are added up first, as lines that are moved by whole windows.
func (f *folding) interleaved(v op.Var, element, at int, stride, dilation int64) op.Var {
	s := f.Shape(v)
	last := (s.Dims[element] - 1) * dilation
	lines := make([]op.Var, stride)
	for r := range lines {
		lines[r] = op.NoVar
	}
	l := shape.Layout{Shape: s}
	l.Remove(element)
	for k := range s.Dims[element] {
		moved, r := k*dilation/stride, k*dilation%stride
		piece := f.Reshape(between(f.Calls, v, int64(element), k, k+1), &l.Shape)
		lines[r] = f.plus(lines[r], f.pad(piece, at-1, moved, last/stride-moved))
	}
	zeros, like := op.NoVar, f.Shape(lines[0])
	for r, line := range lines {
		if line == op.NoVar {
			if zeros == op.NoVar {
				zeros = f.Filled(&like, op.Value{Kind: op.Int}, f.TypeOf(v).DType)
			}
			lines[r] = zeros
		}
	}
	if stride == 1 {
		return lines[0]
	}
	together := f.Do(op.IDStack, op.Attrs{{Kind: op.Int, I: int64(at)}}, lines...)
	like.Dims[at-1] *= stride
	return f.Reshape(together, &like)
}

// placed adds each element of long windows to its place.
func (f *folding) placed(v op.Var, element, at int, padded, stride, dilation int64) op.Var {
	s := f.Shape(v)
	front, back := []int64{int64(element), int64(at)}, make([]int64, 0, s.Rank-1)
	sums := shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{padded}}
	for i, d := range s.Slice() {
		switch i {
		case element:
		case at:
			back = append(back, 0)
		default:
			back = append(back, int64(sums.Rank))
			front = append(front, int64(i))
			sums.Append(d)
		}
	}
	times := func(places op.Var, by int64) op.Var {
		return f.Do(op.IDMultiply, nil, places, f.Number(op.Value{Kind: op.Int, I: by}))
	}
	places := f.Add(times(rows.Column(f.Calls, s.Dims[element], 2, 0), dilation), times(rows.Column(f.Calls, s.Dims[at], 2, 1), stride))
	zeros := f.Filled(&sums, op.Value{Kind: op.Int}, f.TypeOf(v).DType)
	total := f.Do(op.IDIndexReduce, op.Attrs{{Kind: op.String, Ref: "add"}}, zeros, permute(f.Calls, v, front), places)
	return permute(f.Calls, total, back)
}

// plus is a sum, of which the first term may be missing.
func (f *folding) plus(x, y op.Var) op.Var {
	if x == op.NoVar {
		return y
	}
	return f.Add(x, y)
}

// pad adds zeros before and behind an axis.
func (f *folding) pad(v op.Var, axis int, before, behind int64) op.Var {
	if f.Err != nil || before == 0 && behind == 0 {
		return v
	}
	pads := make([]int64, 2*f.Shape(v).Rank)
	pads[2*axis], pads[2*axis+1] = before, behind
	return f.Do(op.IDPad, op.Attrs{op.PadPads: {Kind: op.Ints, Ints: pads}}, v)
}
