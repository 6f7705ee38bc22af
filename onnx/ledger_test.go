package onnx

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// builders are the methods of build.Call that add a node which computes. Those that give an operand another dtype or shape, or read a
// part of it, are how arguments are translated.
var builders = map[string]bool{
	"Do": true, "All": true, "Unary": true, "Binary": true, "Add": true, "Sub": true, "Mul": true, "Div": true, "Exp": true, "Neg": true, "Where": true,
	"Matmul": true, "Clamp": true, "Sum": true, "Mean": true, "Highest": true, "Softmax": true, "Counted": true, "Looked": true,
}

// operatorSource is package ops as text.
type operatorSource struct {
	functions map[string]*ast.FuncDecl
	entries   map[string][]ast.Expr // the functions of an operator
}

func sourceOfOperators(t *testing.T) *operatorSource {
	s := &operatorSource{map[string]*ast.FuncDecl{}, map[string][]ast.Expr{}}
	files := token.NewFileSet()
	paths, err := filepath.Glob("ops/*.go")
	require.NoError(t, err)
	for _, path := range paths {
		file, err := parser.ParseFile(files, path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				s.functions[n.Name.Name] = n
			case *ast.CompositeLit:
				if kind, ok := n.Type.(*ast.ArrayType); ok && kind.Len == nil {
					if elem, ok := kind.Elt.(*ast.Ident); ok && elem.Name == "entry" {
						s.add(t, n.Elts)
					}
				}
			}
			return true
		})
	}
	return s
}

func (s *operatorSource) add(t *testing.T, entries []ast.Expr) {
	for _, e := range entries {
		fields := e.(*ast.CompositeLit).Elts
		name, err := strconv.Unquote(fields[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		s.entries[name] = append(s.entries[name], fields[3])
	}
}

// sites are the places in the source that add a node which computes and that a function may come to.
func (s *operatorSource) sites(from ast.Node) map[token.Pos]bool {
	found, seen := map[token.Pos]bool{}, map[string]bool{}
	var look func(n ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if builders[n.Sel.Name] {
				found[n.Sel.Pos()] = true
			}
			ast.Inspect(n.X, look)
			if f := s.functions[n.Sel.Name]; f != nil && f.Recv != nil && !seen[n.Sel.Name] {
				seen[n.Sel.Name] = true
				ast.Inspect(f.Body, look)
			}
			return false
		case *ast.Ident:
			if f := s.functions[n.Name]; f != nil && !seen[n.Name] {
				seen[n.Name] = true
				ast.Inspect(f.Body, look)
			}
		}
		return true
	}
	ast.Inspect(from, look)
	return found
}

// An operator builds one node that computes, a row, and translates its arguments: what several nodes say is no row yet. Those that
// do more stand in the ledger with the reason. An operator that has become a row is taken out of it.
func TestOperatorsAreOneNode(t *testing.T) {
	s := sourceOfOperators(t)
	listed := map[string]string{}
	for reason, names := range ledger {
		for _, name := range strings.Fields(names) {
			require.Empty(t, listed[name], "%s stands in the ledger twice", name)
			listed[name] = reason
		}
	}
	var more []string
	for _, name := range slices.Sorted(maps.Keys(s.entries)) {
		most := 0
		for _, function := range s.entries[name] {
			most = max(most, len(s.sites(function)))
		}
		switch reason := listed[name]; {
		case most > 1 && reason == "":
			more = append(more, name)
		case most <= 1 && reason != "":
			t.Errorf("%s builds one node and stands in the ledger: %s", name, reason)
		}
		delete(listed, name)
	}
	require.Empty(t, more, "build more than one node: make them rows, or say in the ledger why they are none")
	require.Empty(t, listed, "are in the ledger, and no operators")
}

// ledger is the operators that may build more than one node, by the reason.
var ledger = map[string]string{
	"one row of several, as attributes, dtypes and constants say": `Attention BitShift TensorScatter`,
	"a scale, a bias or a sum beside a row, which devices fuse with it, and which may be between integers that were dequantized": `
		CausalConvWithState Conv ConvTranspose Gemm MatMul com.microsoft:BiasGelu com.microsoft:FastGelu com.microsoft:FusedConv com.microsoft:FusedGemm
		com.microsoft:FusedMatMul com.microsoft:SkipLayerNormalization com.microsoft:SkipSimplifiedLayerNormalization`,
	"rows of integers, floats or both, as zero points and dtypes say: the sums are exact": `
		ConvInteger MatMulInteger QLinearConv QLinearMatMul QuantizeLinear com.microsoft:DynamicQuantizeLSTM
		com.microsoft:DynamicQuantizeMatMul com.microsoft:MatMulIntegerToFloat com.microsoft:QLinearAdd com.microsoft:QLinearMul
		com.microsoft:QuantizeLinear`,
	"projections or biases before the row of attention":                                       `com.microsoft:Attention com.microsoft:MultiHeadAttention`,
	"steps with what the rows lstm and gru lack: bounds, peepholes, lengths, other functions": `GRU LSTM RNN`,
	"functions of the model between the rows":                                                 `SequenceMap ai.onnx.preview:FlexAttention`,
	"sequences are lists of tensors, and no operands of rows":                                 `ConcatFromSequence SequenceAt SequenceErase SequenceInsert SequenceLength`,
	"strings and dictionaries of the file":                                                    `TfIdfVectorizer ai.onnx.ml:CategoryMapper ai.onnx.ml:LabelEncoder`,
	"element types that tensors lack: unsigned integers, floats of 8 bits and less":           `Cast CastLike Div Mod`,
	"results whose number of elements is counted":                                             `Compress NonMaxSuppression Unique`,
	"two results of two rows":                                                                 `SoftmaxCrossEntropyLoss`,
	"indices that count from the end, or from the last of equals":                             `ArgMax ArgMin OneHot Slice ai.onnx.ml:ArrayFeatureExtractor`,
	"the value is an attribute of the row, and may be known after the file is read alone":     `Pad`,
	"random numbers are drawn first, and are an operand of the row":                           `Bernoulli Multinomial`,
	"not a row yet": `
		AveragePool BatchNormalization Clip Det Dropout GroupNormalization LayerNormalization LpPool MaxPool MaxUnpool Mean Pow RMSNormalization ReduceL1 ReduceL2 ReduceLogSum ReduceSumSquare
		SimplifiedLayerNormalization com.microsoft:SimplifiedLayerNormalization`,
}
