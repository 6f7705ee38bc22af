package runtime

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Operators that are others in disguise. Devices never see them: concat, stack and tile are copies
// into parts of the output, gather is index along another axis, clip gets the bounds left out.

type lowering func(s *Stream, row *op.Row, in []source, at op.Attrs, r *op.Result, out *view) error

var lowerings = map[op.ID]lowering{}

func init() {
	for name, f := range map[string]lowering{
		"concat": concat, "stack": stack, "tile": tile, "gather": gather, "clip": clip, "index_put": indexPut,
	} {
		lowerings[op.MustByName(name).ID] = f
	}
}

func concat(s *Stream, _ *op.Row, in []source, _ op.Attrs, r *op.Result, out *view) error {
	axis, start := r.Axes.First(), int64(0)
	for i := range in {
		l := out.Layout
		l.Dims[axis] = in[i].Dims[axis]
		to := out.part(start*out.Strides[axis], &l)
		if err := s.copy(&in[i].view, &to); err != nil {
			return err
		}
		start += in[i].Dims[axis]
	}
	return nil
}

func stack(s *Stream, _ *op.Row, in []source, _ op.Attrs, r *op.Result, out *view) error {
	axis := r.Axes.First()
	for i := range in {
		l := out.Layout
		l.Remove(axis)
		to := out.part(int64(i)*out.Strides[axis], &l)
		if err := s.copy(&in[i].view, &to); err != nil {
			return err
		}
	}
	return nil
}

// tile fills the first copy and doubles from there, axis by axis.
func tile(s *Stream, _ *op.Row, in []source, _ op.Attrs, _ *op.Result, out *view) error {
	if out.Numel() == 0 {
		return nil
	}
	x := in[0].view
	for x.Rank < out.Rank {
		x.Insert(0)
	}
	done := out.Layout
	done.Dims = x.Dims
	first := out.part(0, &done)
	if err := s.copy(&x, &first); err != nil {
		return err
	}
	for axis := range out.Rank {
		for done.Dims[axis] < out.Dims[axis] {
			from, more := done, done
			more.Dims[axis] = min(done.Dims[axis], out.Dims[axis]-done.Dims[axis])
			from.Dims[axis] = more.Dims[axis]
			src, dst := out.part(0, &from), out.part(done.Dims[axis]*out.Strides[axis], &more)
			if err := s.copy(&src, &dst); err != nil {
				return err
			}
			done.Dims[axis] += more.Dims[axis]
		}
	}
	return nil
}

var index = op.MustByName("index")

// gather is index with the axis in front.
func gather(s *Stream, _ *op.Row, in []source, _ op.Attrs, r *op.Result, out *view) error {
	axis := r.Axes.First()
	x, where, to := in[0], in[1], *out
	x.Layout = toFront(&x.Layout, axis)
	if where.Rank == 2 {
		where.Layout.Remove(1)
	}
	if where.Rank == 1 {
		to.Layout = toFront(&to.Layout, axis)
	}
	return s.run(index, []source{x, where}, nil, &op.Result{Shape: to.Shape}, &to)
}

// toFront moves an axis before all others.
func toFront(l *shape.Layout, axis int) shape.Layout {
	perm := make([]int64, 0, shape.MaxRank)
	perm = append(perm, int64(axis))
	for i := range l.Rank {
		if i != axis {
			perm = append(perm, int64(i))
		}
	}
	return l.Permute(perm)
}

// clip fills in the bounds that were left out, and keeps integer bounds inside the dtype.
func clip(s *Stream, row *op.Row, in []source, at op.Attrs, r *op.Result, out *view) error {
	low, high := op.Value{Kind: op.Float, F: math.Inf(-1)}, op.Value{Kind: op.Float, F: math.Inf(1)}
	if !r.Out.IsFloat() {
		lo, hi := r.Out.Range()
		low, high = op.Value{Kind: op.Int, I: lo}, op.Value{Kind: op.Int, I: hi}
	}
	for i, bound := range []op.Value{low, high} {
		v := &in[i+1]
		switch {
		case v.scalar && !v.value.Set():
			v.value = bound
		case v.scalar && !r.Out.IsFloat():
			v.value = op.Value{Kind: op.Int, I: min(max(v.value.I, low.I), high.I)}
		}
	}
	return s.run(row, in, at, r, out)
}

// indexPut checks what only the output can tell.
func indexPut(s *Stream, row *op.Row, in []source, at op.Attrs, r *op.Result, out *view) error {
	k := len(in) - 1
	if k > out.Rank {
		return status.Errorf(status.Index, "[%s] got %d index tensors for %d dimensions", row.Name, k, out.Rank)
	}
	if r.Shape.Rank+out.Rank-k > shape.MaxRank {
		return status.Errorf(status.Invalid, "[%s] the indexed part has %d dimensions; want at most %d", row.Name, r.Shape.Rank+out.Rank-k, shape.MaxRank)
	}
	want := r.Shape
	for _, d := range out.Slice()[k:] {
		want.Append(d)
	}
	if b, err := shape.Broadcast(row.Name, &in[0].Shape, &want); err != nil || b != want {
		return status.Errorf(status.Invalid, "[%s] the value has shape %s and the indexed part %s; want it to broadcast", row.Name, &in[0].Shape, &want)
	}
	return s.run(row, in, at, r, out)
}

// nonzero runs with room for every element and then keeps the rows that were found, which only the
// end of the call can tell.
func (s *Stream) nonzero(row *op.Row, in []Operand, out *view, r *op.Result) (view, error) {
	if out != nil {
		return view{}, status.Errorf(status.Unsupported, "[%s] has a result of unknown size; it cannot be written into a tensor", row.Name)
	}
	v, err := s.ctx.empty(row.Name, r.Out, &r.Shape, s)
	if err != nil {
		return v, err
	}
	found := int64(0)
	l := s.ctx.rt.newLaunch(s.ctx, s)
	l.count = &found
	l.read(&source{view: in[0].Tensor.view})
	l.write(&v)
	if err = l.submit(row); err == nil {
		err = v.store.settle(false)
	}
	if err != nil {
		v.store.release()
		return view{}, err
	}
	v.Dims[0] = found
	return v, nil
}
