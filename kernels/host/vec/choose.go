package vec

// Choose sets dst[i] to a[i] where condition[i] is not 0, else to b[i]. It moves bits, of whatever they are.
func Choose(dst []uint32, condition []uint8, a, b []uint32) {
	n := min(len(dst), len(condition), len(a), len(b))
	active.choose(dst[:n], condition[:n], a[:n], b[:n])
}

// ChooseRow is the portable form of [Choose], for elements of any size.
func ChooseRow[T uint8 | uint16 | uint32 | uint64](dst []T, condition []uint8, a, b []T) {
	n := min(len(dst), len(condition), len(a), len(b))
	dst, a, b = dst[:n], a[:n], b[:n]
	for i, holds := range condition[:n] {
		x, y := a[i], b[i] // both, so that there is no branch to mispredict
		if holds == 0 {
			x = y
		}
		dst[i] = x
	}
}
