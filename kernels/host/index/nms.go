package index

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// suppression is non-maximum suppression, as ONNX defines it: of the boxes of a class, the one with the best score is chosen,
// and all that overlap it too much are dropped, until none is left. Of equal scores the first box is the best.
//
// Only boxes above the threshold of scores are sorted, which are few of those of a detector.
type suppression struct{}

func init() { engine.Register(op.IDNms, dtype.Float32, suppression{}) }

// candidate is a box with a score above the threshold.
type candidate struct {
	score float32
	box   int32
}

// rectangle is a chosen box: its corners with the smallest and the largest coordinates, and its area.
type rectangle struct {
	low, high [2]float32
	area      float32
}

// Cost takes a box of a class for a few additions.
func (suppression) Cost(c *device.Call) int64 { return 8 * c.In[1].Numel() }

// Workspace has the candidates of a class, and the boxes that were chosen of it.
func (suppression) Workspace(c *device.Call) int64 {
	n, most := c.In[1].Dims[2], c.Out[0].Dims[2]
	return n*int64(unsafe.Sizeof(candidate{})) + most*int64(unsafe.Sizeof(rectangle{}))
}

// Run chooses the boxes of one class after the other.
func (s suppression) Run(_ *engine.Threads, c *device.Call) error {
	scores, out := &c.In[1], &c.Out[0]
	n, most := scores.Dims[2], out.Dims[2]
	if n > 1<<31-1 {
		return status.Errorf(status.Unsupported, "[%s] got %d boxes; want fewer than 2^31", op.ByID(c.Op).Name, n)
	}
	if c.Workspace == nil && s.Workspace(c) > 0 {
		return status.Errorf(status.Internal, "[%s] got no workspace; want %d bytes", op.ByID(c.Op).Name, s.Workspace(c))
	}
	// SAFETY: the caller provides workspace bytes, aligned for any element, for the time of the call.
	room := engine.Slice[candidate](c.Workspace, n)
	chosen := engine.Slice[rectangle](unsafe.Add(c.Workspace, uintptr(n)*unsafe.Sizeof(candidate{})), most)
	for batch := range scores.Dims[0] {
		for class := range scores.Dims[1] {
			list := s.candidates(c, batch, class, room)
			count := s.choose(c, batch, list, chosen)
			for i := range most {
				number := int64(-1)
				if i < int64(count) {
					number = int64(list[i].box)
				}
				*element[int64](out, batch, class, i) = number
			}
		}
	}
	return nil
}

// element is the address of an element of an operand with three axes.
// SAFETY: the caller's indices are within the dimensions of the operand.
func element[T any](o *device.Operand, i, j, k int64) *T {
	at := i*o.Strides[0] + j*o.Strides[1] + k*o.Strides[2]
	return (*T)(unsafe.Add(o.Addr, at*int64(unsafe.Sizeof(*new(T)))))
}

// candidates lists the boxes of a class above the threshold, the best first. A nan is above no threshold.
func (suppression) candidates(c *device.Call, batch, class int64, room []candidate) []candidate {
	least, list := c.Attrs[op.NmsScoreThreshold].F, room[:0]
	for i := range c.In[1].Dims[2] {
		score := *element[float32](&c.In[1], batch, class, i)
		if score > float32(least) || math.IsInf(least, -1) && score == score {
			list = append(list, candidate{score, int32(i)})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		if order := cmp.Compare(b.score, a.score); order != 0 {
			return order
		}
		return cmp.Compare(a.box, b.box)
	})
	return list
}

// choose moves the boxes that are chosen to the front of the list, and returns how many they are. It keeps their rectangles.
func (suppression) choose(c *device.Call, batch int64, list []candidate, chosen []rectangle) (count int) {
	limit, center := float32(c.Attrs[op.NmsIouThreshold].F), c.Attrs[op.NmsCenter].I != 0
	for _, next := range list {
		if count == len(chosen) {
			break
		}
		var box [4]float32
		for k := range box {
			box[k] = *element[float32](&c.In[0], batch, int64(next.box), int64(k))
		}
		s := rectangleOf(box, center)
		if !slices.ContainsFunc(chosen[:count], func(other rectangle) bool { return s.overlaps(&other, limit) }) {
			chosen[count], list[count] = s, next
			count++
		}
	}
	return count
}

// rectangleOf is a box of two opposite corners, or of its center, width and height.
func rectangleOf(box [4]float32, center bool) (s rectangle) {
	a, b := [2]float32{box[0], box[1]}, [2]float32{box[2], box[3]}
	if center {
		a, b = [2]float32{box[0] - box[2]/2, box[1] - box[3]/2}, [2]float32{box[0] + box[2]/2, box[1] + box[3]/2}
	}
	s.area = 1
	for i := range a {
		s.low[i], s.high[i] = min(a[i], b[i]), max(a[i], b[i])
		s.area *= s.high[i] - s.low[i]
	}
	return s
}

// overlaps reports whether the intersection over union of two boxes is above a limit.
func (s *rectangle) overlaps(o *rectangle, limit float32) bool {
	common := float32(1)
	for i := range s.low {
		common *= max(min(s.high[i], o.high[i])-max(s.low[i], o.low[i]), 0)
	}
	// Boxes without an area overlap nothing, also where the limit is 0 or less.
	return common > 0 && common/(s.area+o.area-common) > limit
}
