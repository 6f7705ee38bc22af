package sort

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// Lines of few elements cost less to sort than to set out for. Where they lie behind each other in row-major order, which
// they do along the last axis, a block of them is read, sorted by insertion and written at once.
//
// Of a line of 8 elements, setting out is finding its operands, opening two lanes and two frames, and resetting what is
// shared between threads: several times what the sort itself takes. A block pays that once. Results do not depend on
// where blocks begin, as each line is sorted by itself.

// brief reports whether the lines of a call are sorted so.
func brief(c *device.Call) bool {
	x := &c.In[0]
	return x.Rank > 0 && c.Axes.First() == x.Rank-1 && lengthOf(c, x) <= 2*ShortRun
}

// brief sorts lines lo to hi-1. Blocks with a -0, which is equal to 0, are sorted the other way.
func (k *sorter[K]) brief(c *device.Call, lo, hi int64) error {
	s, ok := k.sorters.Get().(*lineSorter[K])
	if !ok {
		s = new(lineSorter[K])
	}
	defer k.sorters.Put(s)
	s.order, s.flip, s.kept = k.order, c.Attrs[k.flip].I, lengthOf(c, &c.Out[0])
	length := lengthOf(c, &c.In[0])
	for lo < hi {
		n := min(hi-lo, engine.Block/length)
		s.resize(n*length, len(c.Out) > 1)
		if !s.together(c, lo, n, length) {
			if err := k.sort(nil, c, lo, lo+n); err != nil {
				return err
			}
		}
		lo += n
	}
	return nil
}

// Zeros of both signs are equal and keep their order, for which sort looks at the line again. That is rare enough to leave
// to it, a block at a time.

// together sorts n lines of one length from number lo on; false, with nothing written, where there is a -0.
func (s *lineSorter[K]) together(c *device.Call, lo, n, length int64) bool {
	f := engine.NewFrame()
	defer f.Free()
	var from, to engine.Lane[K]
	from.Open(&c.In[0], s.order.Codec[s.flip], f, lo*length)
	copy(s.keys, from.Next(n*length))
	if s.order.Float && slices.Contains(s.keys, s.order.Negative[s.flip]) {
		return false
	}
	for i := range s.at {
		s.at[i] = uint32(int64(i) % length)
	}
	for i := range n {
		if len(s.at) == 0 && length <= ShortRun {
			s.arrange(int(i*length), int((i+1)*length))
		} else if !s.quick(int(i*length), int((i+1)*length)) {
			s.insert(int(i*length), int((i+1)*length))
		}
	}
	for i := range n { // what is kept of each line moves to the front
		copy(s.keys[i*s.kept:(i+1)*s.kept], s.keys[i*length:])
		if len(s.at) > 0 {
			copy(s.at[i*s.kept:(i+1)*s.kept], s.at[i*length:])
		}
	}
	to.Open(&c.Out[0], s.order.Codec[s.flip], f, lo*s.kept)
	copy(to.Space(n*s.kept), s.keys)
	to.Keep()
	if len(s.at) > 0 {
		places := engine.Lane[int64]{}
		places.Open(&c.Out[1], new(engine.Codec[int64]), f, lo*s.kept)
		for i := range places.Space(n * s.kept) {
			places.Row[i] = int64(s.at[i])
		}
		places.Keep()
	}
	return true
}
