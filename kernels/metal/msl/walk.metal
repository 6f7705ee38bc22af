
// Walk finds the elements of an operand by their row-major number.
template <typename I> struct Walk {
    uint rank;
    uint dims[9];
    I first, strides[9];
};

template <typename I> inline I seek(constant Walk<I> &w, uint n) {
    I at = w.first;
    if (w.rank == 1) return at + I(n) * w.strides[0];
    for (uint axis = w.rank; axis-- > 0;) {
        at += I(n % w.dims[axis]) * w.strides[axis];
        n /= w.dims[axis];
    }
    return at;
}
