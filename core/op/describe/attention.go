package describe

// Descriptions of the rows of core/op/rows/attention.go.

func describedAttention() []Description {
	return []Description{
		{Name: "attention", Doc: "softmax(scale * query @ key.T + mask) @ value for query [batch..., heads, length, size]; a bool mask is true where a query sees a key.", Elsewhere: "tests/python/test_attention.py", Attrs: []string{"factor of the scores", "query i sees the keys up to i alone", "score of a key that a bool mask hides; none for -inf"}},
	}
}
