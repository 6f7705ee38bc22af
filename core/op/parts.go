package op

// PartsRule says a call on complex tensors as a call of the same row on their real and imaginary parts: floats in the same
// memory, with one more axis at the end. It gives the attributes of that call; rank is that of the first tensor, without the
// axis. ok is false for calls that are not the same function of either part.
//
// Kernels compute with real numbers. Backward passes need some sums of complex ones, and those have this rule. Its row's
// gradient needs no arithmetic on complex numbers but by rows that have the rule too, so that passes may be recorded.
type PartsRule func(at Attrs, rank int) (parts Attrs, ok bool)
