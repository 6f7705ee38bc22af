package sort

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/order"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/sorting"
)

const (
	ShortRun   = 12      // elements that are sorted fastest by insertion
	shortLine  = 400     // elements that are sorted fastest by merging
	LongLine   = 1 << 16 // elements that are worth several threads
	digits     = 1 << 11 // that a part of a key may have: three parts are a key of 32 bits
	WideLine   = 1 << 13 // elements that are worth counting so many digits; of shorter lines parts are bytes
	leastDigit = 10      // bits that a part of an integer has, but for the last
	few        = 16      // to sort fewer than one in so many, the others are left out first
)

// counts is how many keys of a piece of a line have each digit, and then where the next of them goes.
type counts [digits]uint32

// radix sorts the keys of one line, and with them where they come from, by one part of them after the other
// from the last: a byte where the line is short, else the bits that vary in as few parts of one width as parts of at most 11
// bits are. Parts as narrow as that leave fewer places to write to at once, for which caches have room. Numbers of a range, as
// integers often are, have equally many keys for each highest part: these places are so many powers of two apart and share
// lines of the caches, so that integers have wider parts first and few bits in the last one.
// Equals stay in their order, so that the result is one, however many pieces the work is cut into.
//
// For each part the keys of each piece are counted by it, the counts are turned into the places where each piece's keys
// go, and the keys are moved there: two passes over memory. Keys of 32 bits in one piece are
// counted by all parts at once. A part that is the same in all keys is passed over, which
// makes small integers and floats of one magnitude cheaper. See Knuth, The Art of Computer Programming 3, 5.2.5.
type radix[K order.Key] struct {
	keys, spare []K
	at, moved   []uint32 // of each key its place in the line; empty where they are not asked for
	pieces      []counts
	whole       *[3]counts // by all three digits of keys in one piece, where they are counted at once
	least       int        // bits of a digit at least
	shift       int        // of the digit that is being sorted by
	mask        K          // its bits
	phase       phase
}

// phase is what is being done with all pieces of a line.
type phase func(piece int, lo, hi int64)

// Part does a phase with pieces lo to hi-1, beside others.
func (r *radix[K]) Part(_ *device.Call, lo, hi int64) error {
	n, pieces := int64(len(r.keys)), int64(len(r.pieces))
	for ; lo < hi; lo++ {
		r.phase(int(lo), n*lo/pieces, n*(lo+1)/pieces)
	}
	return nil
}

// do runs a phase on all pieces; without threads on the caller.
func (r *radix[K]) do(t *engine.Threads, f phase) error {
	r.phase = f
	if t == nil || len(r.pieces) == 1 {
		return r.Part(nil, 0, int64(len(r.pieces)))
	}
	return t.Each(r, nil, int64(len(r.pieces)), sortWeight*int64(len(r.keys)))
}

// sortBytes is what an element of a line needs: two keys, and two places where they are asked for.
func sortBytes[K order.Key](places bool) int64 {
	size := 2 * int64(unsafe.Sizeof(K(0)))
	if places {
		size += 8
	}
	return size
}

// resize makes room for a short line of n elements in one piece, with undefined contents. The memory stays with the
// radix, which its owner keeps in a pool.
func (r *radix[K]) resize(n int64, places bool) {
	r.keys, r.spare = resized(r.keys, n), resized(r.spare, n)
	r.at, r.moved = r.at[:0], r.moved[:0]
	if places {
		r.at, r.moved = resized(r.at, n), resized(r.moved, n)
	}
	r.pieces = resized(r.pieces, 1)
}

// place is resize for a long line in so many pieces, in memory of the caller's.
// SAFETY: room has n times sortBytes and stays until leave, which comes before the end of the call.
func (r *radix[K]) place(room unsafe.Pointer, n int64, places bool, pieces int) {
	keys := unsafe.Slice((*K)(room), 2*n)
	r.keys, r.spare, r.at, r.moved = keys[:n:n], keys[n:], nil, nil
	if places {
		at := unsafe.Slice((*uint32)(unsafe.Add(room, 2*n*int64(unsafe.Sizeof(K(0))))), 2*n)
		r.at, r.moved = at[:n:n], at[n:]
	}
	r.pieces = resized(r.pieces, int64(pieces))
}

// leave forgets memory of the caller's.
func (r *radix[K]) leave() { r.keys, r.spare, r.at, r.moved = nil, nil, nil, nil }

// resized is a list of n, in the memory of an old one if that is long enough.
func resized[T any](old []T, n int64) []T {
	if int64(cap(old)) < n {
		return make([]T, n)
	}
	return old[:n]
}

// narrow leaves out keys that are not among the first, where few of them are wanted; vary are the bits in which keys
// differ. It goes from the highest bits down as long as that leaves out most: the keys that begin with the bits of the
// last that is wanted are counted by their next byte, which tells that byte of it. Those that are left stay in order.
func (r *radix[K]) narrow(wanted int64, vary K) {
	shift := bits.Len64(uint64(vary))
	last, before := r.keys[0]>>shift, int64(0) // how the last that is wanted begins, and how many begin with less
	for shift > 0 && int64(len(r.keys)) > few*max(wanted, shortLine) {
		step := min(shift, 8)
		c, rest := &r.pieces[0], shift-step
		clear(c[:])
		for _, k := range r.keys {
			if k>>shift == last {
				c[uint8(k>>rest)&(1<<step-1)]++
			}
		}
		digit := 0
		for ; before+int64(c[digit]) < wanted; digit++ {
			before += int64(c[digit])
		}
		last, shift = last<<step|K(digit), rest
		n := 0
		for i, k := range r.keys {
			if k>>shift > last {
				continue
			}
			r.keys[n] = k
			if len(r.at) > 0 {
				r.at[n] = r.at[i]
			}
			n++
		}
		r.cut(n)
	}
}

// cut makes the line n keys long, of those that there is room for.
func (r *radix[K]) cut(n int) {
	r.keys, r.spare = r.keys[:n], r.spare[:n]
	if len(r.at) > 0 {
		r.at, r.moved = r.at[:n], r.moved[:n]
	}
}

// sort sorts by the bits of keys that vary.
func (r *radix[K]) sort(t *engine.Threads, vary K) error {
	if r.quick(0, len(r.keys)) {
		return nil
	}
	if len(r.keys) <= shortLine {
		r.merge()
		return nil
	}
	if vary == 0 {
		return nil
	}
	first, width, together := bits.TrailingZeros64(uint64(vary)), 8, false
	if len(r.keys) >= WideLine {
		const widest = 11 // bits of digits
		length := bits.Len64(uint64(vary)) - first
		parts := (length + widest - 1) / widest
		width = max((length+parts-1)/parts, r.least)
		together = parts <= len(r.whole) && len(r.pieces) == 1
	}
	r.mask = 1<<width - 1
	if together {
		r.countAll(first, width)
	}
	for r.shift = first; vary>>r.shift != 0; r.shift += width {
		if vary>>r.shift&r.mask == 0 {
			continue
		}
		if together {
			r.pieces[0] = r.whole[(r.shift-first)/width]
		} else if err := r.do(t, r.count); err != nil {
			return err
		}
		r.begin()
		if err := r.do(t, r.scatter); err != nil {
			return err
		}
		r.keys, r.spare, r.at, r.moved = r.spare, r.keys, r.moved, r.at
	}
	return nil
}

// quick sorts keys lo to hi-1 by quicksort, with vectors, and reports whether it has: keys of 32 bits in one piece, of which equal ones
// need no order.
func (r *radix[K]) quick(lo, hi int) bool {
	keys, ok := any(&r.keys).(*[]uint32)
	if !ok || len(r.at) > 0 || len(r.pieces) > 1 || hi-lo <= ShortRun {
		return false
	}
	return sorting.SortUint32((*keys)[lo:hi], (*any(&r.spare).(*[]uint32))[lo:hi])
}

// digit is the part of a key at a shift. The second mask tells the compiler how many digits there are.
func digit[K order.Key](k, mask K, shift int) uint32 {
	return uint32(k>>(shift&63)&mask) & (digits - 1)
}

// count counts the digits of a piece.
func (r *radix[K]) count(piece int, lo, hi int64) {
	c, shift, mask := &r.pieces[piece], r.shift, r.mask
	clear(c[:mask+1])
	for _, k := range r.keys[lo:hi] {
		c[digit(k, mask, shift)]++
	}
}

// countAll counts three digits of all keys, of so many bits each from a shift on, of which sort uses those that vary.
func (r *radix[K]) countAll(shift, width int) {
	if r.whole == nil {
		r.whole = new([3]counts)
	}
	c, mask := r.whole, r.mask
	clear(c[:])
	for _, k := range r.keys {
		c[0][digit(k, mask, shift)]++
		c[1][digit(k, mask, shift+width)]++
		c[2][digit(k, mask, shift+2*width)]++
	}
}

// begin makes of counts the places where each piece's keys of each digit go: behind all keys of smaller digits and
// behind those of the digit in the pieces before. So no two pieces write the same place, and need no lock for it. Places
// have 32 bits; see mostSorted.
func (r *radix[K]) begin() {
	next := uint32(0)
	for d := range int(r.mask) + 1 {
		for p := range r.pieces {
			c := &r.pieces[p][d]
			*c, next = next, next+*c
		}
	}
}

// scatter moves the keys of a piece to their places by one digit.
func (r *radix[K]) scatter(piece int, lo, hi int64) {
	next, to, shift, mask := &r.pieces[piece], r.spare, r.shift, r.mask
	if len(r.at) == 0 {
		for _, k := range r.keys[lo:hi] {
			d := digit(k, mask, shift)
			to[next[d]] = k
			next[d]++
		}
		return
	}
	at, moved := r.at[lo:hi], r.moved
	for i, k := range r.keys[lo:hi] {
		d := digit(k, mask, shift)
		place := next[d]
		to[place], moved[place] = k, at[i]
		next[d] = place + 1
	}
}

// merge sorts a short line: runs by insertion, and runs that are next to each other to one of twice the length. Counting
// the digits of each byte would take longer than that.
func (r *radix[K]) merge() {
	n := len(r.keys)
	for lo := 0; lo < n; lo += ShortRun {
		r.insert(lo, min(lo+ShortRun, n))
	}
	for run := ShortRun; run < n; run *= 2 {
		for lo := 0; lo < n; lo += 2 * run {
			r.join(lo, min(lo+run, n), min(lo+2*run, n))
		}
		r.keys, r.spare, r.at, r.moved = r.spare, r.keys, r.moved, r.at
	}
}

// arrange sorts a few keys alone, of which equal ones need no order. Each is carried through those in front of it, the smaller
// of the two staying, without a branch that could be mispredicted.
func (r *radix[K]) arrange(lo, hi int) {
	keys := r.keys[lo:hi]
	for i, k := range keys {
		for j, x := range keys[:i] {
			keys[j], k = min(x, k), max(x, k)
		}
		keys[i] = k
	}
}

func (r *radix[K]) insert(lo, hi int) {
	keys, at := r.keys, r.at
	for i := lo + 1; i < hi; i++ {
		k, j := keys[i], i
		for ; j > lo && keys[j-1] > k; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = k
		if len(at) > 0 {
			from := at[i]
			copy(at[j+1:i+1], at[j:i])
			at[j] = from
		}
	}
}

// join merges the keys from lo on and from mid to hi-1 into the spare list. Of equals the first run's come first.
func (r *radix[K]) join(lo, mid, hi int) {
	keys, to := r.keys, r.spare
	i, j := lo, mid
	for at := lo; at < hi; at++ {
		from := j
		if j == hi || i < mid && keys[i] <= keys[j] {
			from = i
			i++
		} else {
			j++
		}
		to[at] = keys[from]
		if len(r.at) > 0 {
			r.moved[at] = r.at[from]
		}
	}
}

// find is the number of keys below k, of keys in order: where the first key that equals k lies, if there is one.
// restoreZeros looks for the zeros of a line with it.
func (r *radix[K]) find(k K) int {
	lo, hi := 0, len(r.keys)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); r.keys[mid] < k {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// varying collects from several pieces the bits in which keys differ, and whether -0 is among the elements.
type varying struct {
	some, none   atomic.Uint64 // bits that are set in some key, and not set in some
	negativeZero atomic.Bool
}

// reset is for the next line, of which nothing is known yet.
func (v *varying) reset() {
	v.some.Store(0)
	v.none.Store(0)
	v.negativeZero.Store(false)
}

// bits are those in which keys differ.
func (v *varying) bits() uint64 { return v.some.Load() & v.none.Load() }
