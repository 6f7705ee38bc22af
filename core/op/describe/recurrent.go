package describe

// Descriptions of the rows of core/op/rows/recurrent.go.

func describedRecurrent() []Description {
	return []Description{
		{Name: "lstm", Doc: "LSTM: with i, o, f, g = split(x[t] + h @ weight), cell = sigmoid(f) * cell + sigmoid(i) * tanh(g) and h = sigmoid(o) * tanh(cell); " +
			"out has h after each step, and last is the last cell.", Elsewhere: "tests/python/test_recurrent.py"},
		{Name: "gru", Doc: "GRU: with products p = h @ weight + bias, z = sigmoid(x[t].z + p.z), r = sigmoid(x[t].r + p.r), n = tanh(x[t].n + r * p.n), or without linear " +
			"n = tanh(x[t].n + (r * h) @ weight.n + bias.n), and h = (1 - z) * n + z * h; out has h after each step.", Elsewhere: "tests/python/test_recurrent.py"},
	}
}
