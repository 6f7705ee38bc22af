package main

import (
	"math"
	"math/rand/v2"
)

// The programs whose allocations are replayed. Sizes follow from real models; random choices come from a generator
// with a fixed seed, so that the traces are the same everywhere.
var programs = []struct {
	name, what string
	bar        float64 // peak reserved at most this times peak allocated, plus one heap
	make       func() *trace
}{
	{"cnn", "ResNet-50, 224x224, 300 batches of 1 to 32 images", 1.05, convolutional},
	{"transformer", "decoder of 24 layers, four requests at a time, prompts of 16 to 2048 tokens", 1.05, transformer},
	{"walk", "random walk, 512 B to 512 MiB, short, middle and long lives", 1.15, walk},
}

// dice is a generator with a seed of its own for each program.
func dice(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

const float32Size = 4

// convolutional is inference with ResNet-50 (He et al. 2015, table 1) in float32: the weights stay; of
// each batch every layer allocates its output, a workspace for unfolded patches where the kernel is
// larger than 1x1, and frees its input after its last use.
func convolutional() *trace {
	t, r := newTrace(), dice(1)
	type block struct{ width, repeat, side int64 }
	stages := []block{{64, 3, 56}, {128, 4, 28}, {256, 6, 14}, {512, 3, 7}}
	// The weights, which stay. Channels count up from 64, the output of the first convolution.
	in := int64(64)
	t.alloc(64 * 3 * 49 * float32Size)
	for _, s := range stages {
		for i := range s.repeat {
			t.alloc(in * s.width * float32Size)
			t.alloc(s.width * s.width * 9 * float32Size)
			t.alloc(s.width * s.width * 4 * float32Size)
			if i == 0 {
				t.alloc(in * s.width * 4 * float32Size)
			}
			// The scales and shifts of three normalisations.
			for range 6 {
				t.alloc(s.width * float32Size)
			}
			in = s.width * 4
		}
	}
	t.alloc(2048 * 1000 * float32Size)
	// Inference; the sizes of the batches are powers of two from 1 to 32.
	for range 300 {
		t.image(int64(1)<<r.IntN(6), func(x int, n int64) int {
			channels := int64(64)
			for _, s := range stages {
				for i := range s.repeat {
					x = t.bottleneck(x, n, channels, s.width, s.side, i == 0)
					channels = s.width * 4
				}
			}
			return x
		})
	}
	return t.finish()
}

// image is one batch: input, first convolution, pooling, the stages, the classifier.
func (t *trace) image(n int64, stages func(x int, n int64) int) {
	input := t.alloc(n * 3 * 224 * 224 * float32Size)
	work := t.alloc(3 * 49 * 112 * 112 * float32Size)
	first := t.alloc(n * 64 * 112 * 112 * float32Size)
	t.free(work, input)
	pooled := t.alloc(n * 64 * 56 * 56 * float32Size)
	t.free(first)
	x := stages(pooled, n)
	mean := t.alloc(n * 2048 * float32Size)
	t.free(x)
	logits := t.alloc(n * 1000 * float32Size)
	t.free(mean)
	probabilities := t.alloc(n * 1000 * float32Size)
	t.free(logits, probabilities)
}

// bottleneck is 1x1, 3x3 and 1x1 convolutions beside a shortcut, which the first of a stage projects.
func (t *trace) bottleneck(x int, n, in, width, side int64, project bool) int {
	plane := n * side * side * float32Size
	a := t.alloc(width * plane)
	work := t.alloc(width * 9 * side * side * float32Size)
	b := t.alloc(width * plane)
	t.free(work, a)
	c := t.alloc(width * 4 * plane)
	t.free(b)
	if project {
		shortcut := t.alloc(width * 4 * plane)
		t.free(x)
		x = shortcut
	}
	// The sum is a new tensor: the operators of a model in inference do not work in place.
	sum := t.alloc(width * 4 * plane)
	t.free(c, x)
	return sum
}

// transformer is a decoder with 24 layers of width 1024 and 16 heads in 16 bits (the shape of GPT-2
// medium, Radford et al. 2019): four requests run in turns, each with a prompt of any length and a
// cache that every token makes one longer by copying it, as a program does that concatenates.
func transformer() *trace {
	const layers, width, heads, vocabulary = 24, 1024, 16, 50257
	t, r := newTrace(), dice(2)
	// The weights, which stay: the embedding, then of each layer the projections of attention, the two matrices of
	// the MLP, and two vectors of the normalisations.
	t.alloc(vocabulary * width * 2)
	for range layers {
		for _, n := range []int64{3 * width * width, width * width, 4 * width * width, 4 * width * width, width, width} {
			t.alloc(n * 2)
		}
	}
	type request struct {
		cache        [layers][2]int
		length, left int64
	}
	// forward is one step of a request: each layer appends tokens to its cache of keys and values, computes scores
	// and their softmax over the whole cache, and an MLP of four times the width.
	forward := func(q *request, tokens int64) {
		x := t.alloc(tokens * width * 2)
		for l := range layers {
			qkv := t.alloc(tokens * 3 * width * 2)
			for i, old := range q.cache[l] {
				q.cache[l][i] = t.alloc((q.length + tokens) * width * 2)
				if q.length > 0 {
					t.free(old)
				}
			}
			scores := t.alloc(heads * tokens * (q.length + tokens) * 2)
			weights := t.alloc(heads * tokens * (q.length + tokens) * 2)
			t.free(scores)
			mixed := t.alloc(tokens * width * 2)
			t.free(weights, qkv)
			hidden := t.alloc(tokens * 4 * width * 2)
			active := t.alloc(tokens * 4 * width * 2)
			t.free(hidden)
			out := t.alloc(tokens * width * 2)
			t.free(active, mixed, x)
			x = out
		}
		logits := t.alloc(vocabulary * float32Size)
		t.free(x, logits)
		q.length += tokens
	}
	// Four slots: a request in a random slot generates up to four tokens or, when it is done, makes room for a new
	// one, whose first step processes its whole prompt.
	running := make([]*request, 4)
	for range 400 {
		i := r.IntN(len(running))
		if q := running[i]; q != nil && q.left > 0 {
			for range min(q.left, 4) {
				forward(q, 1)
				q.left--
			}
			continue
		} else if q != nil {
			for _, c := range q.cache {
				t.free(c[0], c[1])
			}
		}
		running[i] = &request{left: 8 + r.Int64N(24)}
		forward(running[i], 16+int64(2032*r.Float64()*r.Float64()))
	}
	return t.finish()
}

// walk is 150,000 allocations with the sizes that reports of fragmentation in PyTorch name: small ones
// below 1 MiB, the 1 to 10 MiB that share blocks of 20 MiB (pytorch/pytorch#17120), pieces of 10 to 64
// MiB that split what a large tensor had left (#35901) and "oversize" ones of hundreds of MiB (#44742).
// Within a kind the logarithms of sizes are distributed uniformly. Most blocks live for a few dozen events, some for
// hundreds, a few for tens of thousands: activations, state of a step, state of the program.
func walk() *trace {
	const mib = 1 << 20
	t, r := newTrace(), dice(3)
	kinds := []struct {
		share     float64
		low, high int64
	}{{0.70, 512, mib}, {0.20, mib, 10 * mib}, {0.09, 10 * mib, 64 * mib}, {0.01, 64 * mib, 512 * mib}}
	lives := []struct {
		share float64
		mean  float64
	}{{0.75, 30}, {0.23, 400}, {0.02, 20000}}
	const steps = 150_000
	// The blocks to free at each step; lives are distributed exponentially.
	frees := map[int][]int{}
	for now := range steps {
		t.free(frees[now]...)
		delete(frees, now)
		// Choose the kind of size and the kind of life by their shares.
		u, k := r.Float64(), 0
		for ; k < len(kinds)-1 && u > kinds[k].share; k++ {
			u -= kinds[k].share
		}
		u, l := r.Float64(), 0
		for ; l < len(lives)-1 && u > lives[l].share; l++ {
			u -= lives[l].share
		}
		if kinds[k].low >= 64*mib && l == 2 {
			l = 1 // blocks of that size do not live for the whole program
		}
		b := t.alloc(between(r, kinds[k].low, kinds[k].high))
		end := now + 1 + int(r.ExpFloat64()*lives[l].mean)
		frees[end] = append(frees[end], b)
	}
	return t.finish()
}

// between is a random size from low to high; its logarithm is distributed uniformly.
func between(r *rand.Rand, low, high int64) int64 {
	return int64(float64(low) * math.Pow(float64(high)/float64(low), r.Float64()))
}
