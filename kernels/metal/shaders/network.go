package shaders

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
)

// sortedAtOnce is how many places a dispatch goes through: each is read and written, 32 bytes, which is 16 ms by the
// model of an M1. Tests lower it; it is a power of two, and more than a threadgroup has.
var sortedAtOnce int64 = 1 << 25

// scatteredAtOnce is the same where places name elements anywhere in memory, each of which is a line: some 400 bytes.
const scatteredAtOnce = 16

// inScattered is inParts for those.
func inScattered(places int64, encode func(first, count int64) error) error {
	return inPartsOf(max(sortedAtOnce/scatteredAtOnce, 1), places, encode)
}

// inParts encodes what goes over so many places, in several dispatches where they are many; each is told its first one.
func inParts(places int64, encode func(first, count int64) error) error {
	return inPartsOf(sortedAtOnce, places, encode)
}

// inPartsOf is both, with the most places of a dispatch.
func inPartsOf(most, places int64, encode func(first, count int64) error) error {
	for first := int64(0); first < places; first += most {
		if err := encode(first, min(most, places-first)); err != nil {
			return err
		}
	}
	return nil
}

// A bitonic network compares the same places whatever is in them, so that neither its time nor its dispatches depend on the
// data, and nothing is read back between them. It compares each place log2(n) * (log2(n) + 1) / 2 times, most of them within
// a threadgroup; a radix sort would go over the list fewer times, but counts in threadgroup memory first.

// network encodes the sorting of runs of places, each a power of two of them, in the workspace; see network.metal: first all
// that fits a threadgroup, then for each longer run the steps that do not fit, one after the other, and again those that do.
func network(e gpu.Encoder, c *device.Call, far, near *gpu.Pipeline, places, longest int64) error {
	// Each thread compares two places, so a group holds twice its threads.
	width := int64(near.ThreadsOf(gpu.MostGroup))
	step := func(p *gpu.Pipeline, x, y int64) error {
		return inParts(places, func(first, count int64) error {
			d := e.Arguments()
			if err := bindScratch(d, c); err != nil {
				return err
			}
			if p == near {
				bindCounts(d, x, y, first/(2*width), longest)
				gpu.Groups(d, count/(2*width), uint64(width))
			} else {
				bindCounts(d, x, y, first/2, longest)
				p.Line(d, uint64(count/2))
			}
			return e.Dispatch(p.State, d)
		})
	}
	if err := step(near, 2, min(2*width, longest)); err != nil {
		return err
	}
	// Runs of twice the length of a group's are sorted by now; each round doubles them.
	for run := 4 * width; run <= longest; run *= 2 {
		for apart := run / 2; apart > width; apart /= 2 {
			if err := step(far, run, apart); err != nil {
				return err
			}
		}
		if err := step(near, run, run); err != nil {
			return err
		}
	}
	return nil
}
