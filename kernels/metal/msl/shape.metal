
// Shape finds the elements of up to four operands that are walked together.
template <typename I> struct Shape {
    uint rank;
    uint dims[9];
    I first[4], strides[4][9];
};
