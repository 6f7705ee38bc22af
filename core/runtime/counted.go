package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// uncounted is how many bytes a counted result may reserve for rows that it turns out not to have. A call that could
// reserve more counts first: it reads its operand twice, and the result holds no more memory than it needs.
const uncounted = 1 << 20

// countRows replaces the recipe of a counted row, which has room for all rows that there could be, by one for as many as
// there are. The count may be wrong when the kernel runs, because another thread may write the operand meanwhile: a
// device says with device.Info.CountsFirst that its kernels keep to the rows of the result.
func (e *eager) countRows(r *recipe, in []Operand, where *Context, on *Stream, mode Mode) (*recipe, error) {
	if e.row.Counter == 0 || !e.stream.ctx.info.CountsFirst || len(r.steps) != 1 || len(r.buffers) != 1 ||
		r.buffers[0].Count*r.buffers[0].DType.Size() <= uncounted {
		return r, nil
	}
	row := op.ByID(e.row.Counter)
	made, err := e.stream.ctx.rt.call(row, in, make(op.Attrs, len(row.Attrs)), where, on, mode|profiled)
	if err != nil {
		return nil, err
	}
	t := made[0]
	defer t.store.ctx.rt.Free(t.handle)
	n, err := t.scalarValue()
	if err != nil {
		return nil, err
	}
	s, b := r.steps[0], r.buffers[0]
	out := s.Out[0]
	out.Dims[0], b.Count = n.I, n.I*out.Dims[1]
	s.Out = []op.Ref{out}
	return &recipe{buffers: []graph.Buffer{b}, steps: []op.Step{s}, out: s.Out}, nil
}
