package describe

// Descriptions of the rows of core/op/formula/composites_activation.go.

func describedCompositesActivation() []Description {
	return []Description{
		{Name: "elu", Attrs: []string{"what the result approaches far below zero, negated"}, NumPy: "np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))", Doc: "x above zero, alpha * (exp(x) - 1) elsewhere.", Settings: []Setting{{}, {{"alpha", -2.0}}}},
		{Name: "celu", Attrs: []string{"what the result approaches far below zero, negated; not 0"}, NumPy: "np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha))", Doc: "x above zero, alpha * (exp(x / alpha) - 1) elsewhere.", Settings: []Setting{{}, {{"alpha", 0.5}}, {{"alpha", -2.0}}}},
		{Name: "selu", Attrs: []string{"factor of the result, rounded to float32", "factor below zero, rounded to float32"}, NumPy: "float(np.float32(scale)) * np.where(x > 0, x, float(np.float32(alpha)) * np.expm1(np.minimum(x, 0)))", Doc: "scale * x above zero, scale * alpha * (exp(x) - 1) elsewhere.", Settings: []Setting{{}, {{"scale", 1.5}, {"alpha", 0.5}}}},
		{Name: "hardtanh", Attrs: []string{"the least result", "the largest result"}, NumPy: "np.minimum(np.maximum(x, min), max)", Doc: "min(max(x, min), max); nan stays.", Settings: []Setting{{}, {{"min", -0.5}, {"max", 0.25}}, {{"min", 2.0}, {"max", -2.0}}}},
		{Name: "relu6", NumPy: "np.clip(x, 0, 6)", Doc: "min(max(x, 0), 6); nan stays."},
		{Name: "hardsigmoid", Attrs: []string{"factor of x, rounded to float32", "what is added, rounded to float32"}, NumPy: "np.clip(x * float(np.float32(slope)) + float(np.float32(offset)), 0, 1)", Doc: "slope * x + offset between 0 and 1.", Settings: []Setting{{}, {{"slope", 0.25}, {"offset", 0.75}}}},
		{Name: "hardswish", NumPy: "x * (np.clip(x + 3, 0, 6) / 6)", Doc: "x * min(max(x + 3, 0), 6) / 6."},
		{Name: "hardshrink", Attrs: []string{"elements nearer to zero become zero"}, NumPy: "np.where((x <= -threshold) | (x >= threshold) | np.isnan(x), x, 0 * x)", Doc: "x where x <= -threshold or x >= threshold, 0 with the sign of x elsewhere.", Settings: []Setting{{}, {{"threshold", -1.0}}}},
		{Name: "softshrink", Attrs: []string{"how far elements move; not below 0"}, NumPy: "np.where(x > threshold, x - threshold, np.where(x < -threshold, x + threshold, np.where(np.isnan(x), x, 0)))", Doc: "x moved towards 0 by threshold, and 0 where |x| is not above it.", Settings: []Setting{{}, {{"threshold", 0.25}}}},
		{Name: "softsign", NumPy: "x / (1 + np.abs(x))", Doc: "x / (1 + |x|); nan for infinities."},
		{Name: "tanhshrink", NumPy: "x - np.tanh(x)", Scale: "np.abs(x) + np.abs(np.tanh(x))", Doc: "x - tanh(x)."},
		{Name: "thresholded_relu", Attrs: []string{"what elements have to exceed", "the result for all others"}, NumPy: "np.where(x <= threshold, value, x)", Doc: "x above threshold, value elsewhere.", Settings: []Setting{{}, {{"threshold", 0.5}, {"value", -2.0}}}},
		{Name: "log_sigmoid", NumPy: "np.where(-x > 40, x, -np.log1p(np.exp(-x)))", Doc: "log(1 / (1 + exp(-x))), without overflow."},
		{Name: "swish", Attrs: []string{"factor of x within the sigmoid: 1.702 for an approximation of gelu"}, Doc: "x * sigmoid(beta * x).", Elsewhere: oraclesElsewhere},
		{Name: "mish", NumPy: "x * np.tanh(np.logaddexp(0, x))", Doc: "x * tanh(log(1 + exp(x)))."},
		{Name: "prelu", NumPy: "np.where(x > 0, x, x * weight)", Doc: "x above zero, weight * x elsewhere."},
		{Name: "glu", Attrs: []string{"the axis of the two halves"}, Doc: "a * sigmoid(b) for the two halves a and b of x along an axis.", Elsewhere: "tests/python/test_composites.py"},
		{Name: "swiglu", NumPy: "x / (1 + np.exp(-x)) * y", Doc: "silu(x) * y; without y, of the two halves of x along the last axis."},
	}
}
