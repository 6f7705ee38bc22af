package describe

// Descriptions of the rows of core/op/rows/recurrent.go.

func describedRecurrent() []Description {
	return []Description{
		{Name: "lstm", Attrs: []string{"the last step of x comes first; results are in the order of x"}, Doc: "LSTM: with i, o, f, g = split(x[t] + h @ weight), cell = sigmoid(f) * cell + sigmoid(i) * tanh(g) and h = sigmoid(o) * tanh(cell); " +
			"out has h after each step, and last is the last cell.", Elsewhere: "tests/python/test_recurrent.py"},
		{Name: "gru", Attrs: []string{"the last step of x comes first; results are in the order of x", "the reset gate multiplies the product with its bias instead of h"}, Doc: "GRU: with products p = h @ weight + bias, z = sigmoid(x[t].z + p.z), r = sigmoid(x[t].r + p.r), n = tanh(x[t].n + r * p.n), or without linear " +
			"n = tanh(x[t].n + (r * h) @ weight.n + bias.n), and h = (1 - z) * n + z * h; out has h after each step.", Elsewhere: "tests/python/test_recurrent.py"},
	}
}
