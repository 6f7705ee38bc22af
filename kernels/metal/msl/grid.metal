
// Walks says how threads find the elements of up to four operands. Axes are in the order of the output's memory, the
// innermost first; there are three at least, of which the last ones may have one element.
template <typename I> struct Walks {
    uint last;        // axis
    uint shift;       // a thread's four elements on axis 0 are 1 << shift apart, and as many threads lie between them
    uint times;       // that a thread goes on, by the following two
    uint right, down; // on axes 0 and 1
    uint dims[9];
    uint lies[4]; // of an operand's four elements: see below
    I first[4], step[4], jump[4], strides[4][9]; // step: between the four; jump: from one time to the next
};

// How the four elements of a thread lie.
constant uint SAME = 0;  // they are one
constant uint TIGHT = 1; // as a vector, where there are four
constant uint APART = 2; // by steps

template <typename V, typename E, typename I> inline V read_four(device const E *from, I step, uint lies, uint count) {
    if (lies == TIGHT && count == 4) return *(device const V *)from;
    V v = V(*from); // what is beyond the last element is computed too, from an element that exists
    if (lies == SAME) return v;
    for (uint k = 1; k < 4; k++)
        if (k < count) v[k] = from[I(k) * step];
    return v;
}

template <typename V, typename E, typename I> inline void write_four(device E *to, I step, uint lies, uint count, V v) {
    if (lies == TIGHT && count == 4) {
        *(device V *)to = v;
        return;
    }
    for (uint k = 0; k < 4; k++)
        if (k < count) to[I(k) * step] = v[k];
}
