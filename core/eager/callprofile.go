package eager

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/profile"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// NotMade reports whether an error says that a call has had no effect and is to be made again: then it is recorded.
func NotMade(err error) bool {
	var refusal *runtime.Refusal
	var long *runtime.Long
	return errors.As(err, &refusal) || errors.As(err, &long)
}

// recordCall records a call of an operator that began at start. One that was traced has not run: its program's runs will be
// recorded. out are its results, none after an error.
func recordCall(row *op.Row, in []runtime.Operand, out []*runtime.Tensor, err error, on *runtime.Stream, start int64) {
	if on.Traces() || NotMade(err) {
		return
	}
	var text []byte
	if profile.Shapes() && err == nil { // a call that was refused may have operands that the row does not know
		text = appendOperands(text, row, in)
		text = AppendTensors(text, "output", "out", out)
	}
	profile.Span(profile.Operator, row.Name, string(AppendError(text, err)), start)
}

// AppendError appends the code of an error, if there is one.
func AppendError(text []byte, err error) []byte {
	if err == nil {
		return text
	}
	if len(text) > 0 {
		text = append(text, ',')
	}
	return fmt.Appendf(text, `"error":%q`, status.CodeOf(err).String())
}

// appendOperands appends the shapes and the dtypes of the operands that are tensors, by their names in the row: a list for
// each name, because the last one may stand for many.
func appendOperands(text []byte, row *op.Row, in []runtime.Operand) []byte {
	name := func(i int) string {
		if i >= len(row.In) {
			i = len(row.In) - 1
		}
		return row.In[i].Name
	}
	// Twice the same: once for shapes, once for dtypes.
	for what, write := range [2]func([]byte, *runtime.Tensor) []byte{appendDims, appendDType} {
		text = append(text, [2]string{`"input_shapes":{`, `"input_dtypes":{`}[what]...)
		last := ""
		for i := range in {
			t := in[i].Tensor
			switch {
			case t == nil:
				continue
			case name(i) == last: // another tensor of the list: its bracket opens again
				text = append(text[:len(text)-1], ',')
			default:
				if last != "" {
					text = append(text, ',')
				}
				last = name(i)
				text = append(strconv.AppendQuote(text, last), ":["...)
			}
			text = append(write(text, t), ']')
		}
		text = append(text, "},"...)
	}
	return text[:len(text)-1]
}

// AppendTensors appends the shapes and the dtypes of a list of tensors.
func AppendTensors(text []byte, what, name string, list []*runtime.Tensor) []byte {
	if len(text) > 0 && text[len(text)-1] != ',' {
		text = append(text, ',')
	}
	text = fmt.Appendf(text, `"%s_shapes":{"%s":[`, what, name)
	for i, t := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = appendDims(text, t)
	}
	text = fmt.Appendf(text, `]},"%s_dtypes":{"%s":[`, what, name)
	for i, t := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = appendDType(text, t)
	}
	return append(text, "]}"...)
}

func appendDims(text []byte, t *runtime.Tensor) []byte {
	var s shape.Shape = t.Shape
	text = append(text, '[')
	for i, n := range s.Slice() {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, n, 10)
	}
	return append(text, ']')
}

func appendDType(text []byte, t *runtime.Tensor) []byte {
	return strconv.AppendQuote(text, t.DType.String())
}
