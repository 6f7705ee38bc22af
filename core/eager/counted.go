package eager

import (
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// uncounted is how many bytes a counted result may reserve for rows that it turns out not to have. A call that could
// reserve more counts first: it reads its operand twice, and the result holds no more memory than it needs.
const uncounted = 1 << 20

// countRows replaces the recipe of a counted row, which has room for all rows that there could be, by one for as many as
// there are. The count may be wrong when the kernel runs, because another thread may write the operand meanwhile: a
// device says with device.Info.CountsFirst that its kernels keep to the rows of the result.
func countRows(e *runtime.EagerCall, r *runtime.Recipe, in []runtime.Operand, where *runtime.Context, on *runtime.Stream, mode runtime.Mode) (*runtime.Recipe, error) {
	if e.Row.Counter == 0 || !e.Stream.Context().Info().CountsFirst || len(r.Steps) != 1 || len(r.Buffers) != 1 ||
		r.Buffers[0].Count*r.Buffers[0].DType.Size() <= uncounted {
		return r, nil
	}
	row := op.ByID(e.Row.Counter)
	made, err := callAs(e.Stream.Context().Runtime, row, in, make(op.Attrs, len(row.Attrs)), where, on, mode|runtime.Profiled)
	if err != nil {
		return nil, err
	}
	t := made[0]
	defer t.Store.Context.Runtime.Free(t.Handle())
	n, err := t.ScalarValue()
	if err != nil {
		return nil, err
	}
	s, b := r.Steps[0], r.Buffers[0]
	out := s.Out[0]
	out.Dims[0], b.Count = n.I, n.I*out.Dims[1]
	s.Out = []op.Ref{out}
	return &runtime.Recipe{Buffers: []graph.Buffer{b}, Steps: []op.Step{s}, Out: s.Out}, nil
}
