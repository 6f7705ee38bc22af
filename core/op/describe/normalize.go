package describe

// Descriptions of the rows of core/op/rows/normalize.go.

func describedNormalize() []Description {
	return []Description{
		{Name: "layer_norm", Attrs: []string{"is added to the mean of the squares", "the mean is subtracted; without it this is RMS normalization"}, NumPy: "layer_norm(x, weight, bias, epsilon, centered, dtype)", Doc: "(x - mean(x)) * scale * weight + bias along the last axis, and scale, which is 1 / sqrt(mean((x - mean(x))**2) + epsilon).", Settings: []Setting{
			{{OperandShapes, [][]int{{5, 7}, {7}, {7}}}},
			{{OperandShapes, [][]int{{5, 7}}}, {"epsilon", 1e-3}},
			{{OperandShapes, [][]int{{2, 3, 33}, {33}}}, {"centered", false}},
			{{OperandShapes, [][]int{{3, 1500}, {1500}, {1500}}}},
			{{OperandShapes, [][]int{{700, 4}, {4}, {4}}}},
			{{OperandShapes, [][]int{{1}, {1}, {1}}}},
		}},
	}
}
