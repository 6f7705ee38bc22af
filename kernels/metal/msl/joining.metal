
// The slices of the list are joined with those of x, one after the other, so that a sum is the same each time. A thread has
// an element of all slices of x whose number is its own modulo LANES, and looks at all indices: no two threads write to one
// place. STEP joins two elements.
kernel void reduce(ARGUMENTS(device E *, device const E *)) {
    OWN;
    device const long *const index[K] = {NAMES};
    if (read(word) != 0) {
        if (i == 0) tell(index, n, word);
        return;
    }
    if (sizes.y == 0) return;
    const uint own = i / sizes.x, element = i % sizes.x, slices = sizes.y / sizes.x;
    if (own >= LANES) return;
    const I column = seek(slice, element);
    for (uint b = 0; b < slices; b++) {
        uint number;
        const I place = slice_at(index, n, b, number) + column;
        if (number % LANES == own) x[place] = step(load(x[place]), load(list[seek(slots, b * sizes.x + element)]));
    }
}
