package serve

import (
	"context"
	"encoding/binary"
	"math"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/place"
	"github.com/paddle-mps/paddle-mps/serve/batching"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
	"github.com/paddle-mps/paddle-mps/serve/statistics"
)

// job is a request on its way through the queue and an instance.
// It is made for each request and refers to what its client has sent. What most requests need is in it, so that it is one
// piece of memory.
type job struct {
	item     batching.Item
	request  *inference.Request
	accepted accepted
	received time.Time
	queued   time.Time
	answer   chan answer // has room for one

	response inference.Response
	outputs  [2]inference.Tensor
	memory   [2]*inference.Buffer
	dims     [16]int64
	used     int // of dims
}

// ints is memory for a shape of a number of dimensions.
func (j *job) ints(n int) []int64 {
	if n > len(j.dims)-j.used {
		return make([]int64, n)
	}
	j.used += n
	return j.dims[j.used-n : j.used : j.used]
}

// answer is what becomes of a job.
type answer struct {
	response *inference.Response
	err      error
}

// size is the number of items of the job's batch as statistics count it.
func (j *job) size() uint64 { return uint64(max(j.accepted.batch, 1)) }

// instance runs batches, one at a time.
// It is used by its own goroutine, or by that of a request to which the queue has lent it.
type instance struct {
	version *Version
	runtime *runtime.Runtime
	program *program
	stream  *runtime.Stream
	name    string
	async   bool // the device has a queue of its own

	items   []*batching.Item
	jobs    []*job
	answers []answer
	buffer  []byte // inputs of a batch of several requests, one behind the other
	in      []*runtime.Tensor
}

// startInstance makes an instance, which runs until the queue is closed and empty.
func (v *Version) startInstance(s *Server, p *program, g *modelconfig.ModelInstanceGroup, name string) error {
	stream, err := p.context.NewStream()
	if err != nil {
		return err
	}
	n := &instance{version: v, runtime: s.options.Runtime, program: p, stream: stream, name: name, async: p.context.Place() != place.CPU}
	v.rated = s.options.Limiter != nil
	turn, leave, err := s.limited(g, p.context.Place())
	if err != nil {
		_ = stream.Close() // nothing was run on it
		return err
	}
	v.running.Go(func() {
		defer leave()
		defer func() { _ = stream.Close() }() // failures were answered with the requests
		w := batching.NewWorker(n)
		for n.items = v.queue.Next(w, n.items); n.items != nil; n.items = v.queue.Next(w, n.items) {
			turn(n.serve)
		}
	})
	return nil
}

// limited is how an instance of a group runs: when the rate limiter lets it, or at once; and what is called when it ends.
func (s *Server) limited(g *modelconfig.ModelInstanceGroup, at place.Place) (turn func(run func()), leave func(), err error) {
	l := s.options.Limiter
	if l == nil {
		return func(run func()) { run() }, func() {}, nil
	}
	mine, err := l.add(g, at)
	if err != nil {
		return nil, nil, err
	}
	return func(run func()) {
		l.acquire(mine)
		defer l.release(mine)
		run()
	}, func() { l.remove(mine) }, nil
}

// serve runs the batch that was taken from the queue and answers its requests.
func (n *instance) serve() {
	v := n.version
	n.jobs = n.jobs[:0]
	for _, it := range n.items {
		n.jobs = append(n.jobs, it.Value.(*job))
	}
	// Requests of a batch that runs are no longer pending.
	v.counters.Wait(-int64(len(n.jobs)))
	if !v.ordered {
		for i, a := range n.run(n.jobs) {
			n.jobs[i].answer <- a
		}
		n.forget()
		// The goroutines that were answered come first. The next batch would keep this thread to itself, and they would often
		// wait for its end: nothing wakes another thread for them where all are busy. The scheduler puts a goroutine that yields
		// behind all others, but runs it first in every 61st of its rounds; never in two rounds in a row, hence the second yield.
		goruntime.Gosched()
		goruntime.Gosched()
		return
	}
	// The turn is taken before the run: it is the order in which batches left the queue that counts. Answers may have to
	// wait, and the instance does not.
	deliver := v.turn()
	jobs, answers := slices.Clone(n.jobs), slices.Clone(n.run(n.jobs))
	n.forget()
	deliver(func() {
		for i, j := range jobs {
			j.answer <- answers[i]
		}
	})
}

// forget drops the references to the requests of a batch, which would keep them in memory until the next batch.
func (n *instance) forget() {
	clear(n.items)
	clear(n.jobs)
	clear(n.answers)
}

// run runs jobs as one batch, counts them, and returns their answers, which are there until the next run.
func (n *instance) run(jobs []*job) []answer {
	n.answers = n.answers[:0]
	if n.runBatch(jobs, len(jobs) == 1) {
		return n.answers
	}
	// The error may be that of one request, such as an index out of range, and concerns no other request.
	for i := range jobs {
		n.runBatch(jobs[i:i+1], true)
	}
	return n.answers
}

// runBatch runs jobs as one batch, counts them, and adds their answers. A batch that fails is only counted and answered if it
// is not tried again; else runBatch returns false.
func (n *instance) runBatch(jobs []*job, last bool) bool {
	v, total := n.version, uint64(0)
	for _, j := range jobs {
		total += j.size()
	}
	m := statistics.Moments{Start: time.Now()}
	err := n.attempt(jobs, &m)
	m.End = time.Now()
	if err != nil && !last {
		return false
	}
	// A batch that has failed is no execution, as in Triton; its requests are counted as failures.
	if err == nil {
		v.counters.Executed(total, &m)
	}
	// All answers are made before the first one is sent, because statistics are counted with them.
	for _, j := range jobs {
		j.response.Times = inference.Times{Queued: j.queued, Start: m.Start, Inputs: m.Inputs, Outputs: m.Outputs, End: m.End} // of a failure too, for its trace
		if err != nil {
			v.counters.Failed(statistics.ReasonBackend, j.received)
			n.answers = append(n.answers, answer{err: inference.From(err)})
			continue
		}
		v.counters.Succeeded(j.size(), j.received, j.queued, &m)
		v.observe(j, &m)
		n.answers = append(n.answers, answer{response: &j.response})
	}
	return true
}

// attempt is execute with a panic as an error: a fault in a kernel fails the batch and not the server.
func (n *instance) attempt(jobs []*job, m *statistics.Moments) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = inference.Errorf(inference.Internal, "instance %s has failed: %v", n.name, fault)
		}
	}()
	// Moments that a failed run does not reach must not be before its start.
	m.Inputs, m.Outputs = m.Start, m.Start
	return n.execute(jobs, m)
}

// turn is called when a batch leaves the queue of a version that keeps the order of requests. It returns what delivers the
// answers of the batch: after those of the batches before. The instance does not wait for them.
func (v *Version) turn() (deliver func(send func())) {
	// Each batch waits for the one before it: a chain that holds no more than what is on its way.
	done := make(chan struct{})
	v.order.Lock()
	before := v.former
	v.former = done
	v.order.Unlock()
	return func(send func()) {
		if before == nil {
			send()
			close(done)
			return
		}
		go func() {
			<-before
			send()
			close(done)
		}()
	}
}

// expire answers a job whose time in the queue is over.
func (v *Version) expire(it *batching.Item) {
	j := it.Value.(*job)
	v.counters.Wait(-1)
	v.counters.Failed(statistics.ReasonRejected, j.received)
	j.answer <- answer{err: inference.Errorf(inference.Unavailable, "%sRequest timeout expired", j.request.Tag())}
}

// infer checks a request and answers it, from the cache or by running it.
func (v *Version) infer(ctx context.Context, r *inference.Request) (*inference.Response, error) {
	j := &job{request: r, received: r.Received}
	if j.received.IsZero() {
		j.received = time.Now()
	}
	if err := v.accept(r, j); err != nil {
		v.counters.Failed(statistics.ReasonOther, j.received)
		return nil, err
	}
	if r.Trace != nil {
		beginTrace(r.Trace, v, r)
		defer endTrace(r.Trace, j)
	}
	if v.cache != nil {
		return v.cached(ctx, j)
	}
	return v.wait(ctx, j)
}

// wait runs a job that was accepted by an instance that is free, or puts it into the queue and waits for its answer. An instance
// that the rate limiter rules runs what the queue gives it.
func (v *Version) wait(ctx context.Context, j *job) (*inference.Response, error) {
	if v.ensemble != nil {
		return v.compose(ctx, j)
	}
	if !v.ordered && !v.rated {
		if w := v.queue.Borrow(int(j.size())); w != nil {
			return v.lent(w, j)
		}
	}
	return v.enqueue(ctx, j)
}

// lent runs a job by an instance that the queue has lent.
func (v *Version) lent(w *batching.Worker, j *job) (*inference.Response, error) {
	defer v.queue.Return(w)
	n := w.Of().(*instance)
	j.queued = time.Now()
	n.jobs = append(n.jobs[:0], j)
	a := n.run(n.jobs)[0]
	n.jobs[0], n.answers[0] = nil, answer{}
	return a.response, a.err
}

// enqueue puts a job into the queue and waits for its answer.
func (v *Version) enqueue(ctx context.Context, j *job) (*inference.Response, error) {
	r := j.request
	j.answer = make(chan answer, 1)
	j.item = batching.Item{Size: int(j.size()), Priority: r.Priority, Timeout: r.Timeout, Value: j}
	// Without an open dimension all shapes that were accepted are equal, and a key would tell nothing apart.
	if v.anyShape {
		j.item.Key = j.accepted.key(v.config.MaxBatchSize > 0)
	}
	// It is counted as pending before it can be taken, so that the number never falls below zero.
	j.queued = time.Now()
	v.counters.Wait(1)
	if err := v.queue.Push(&j.item); err != nil {
		v.counters.Wait(-1)
		v.counters.Failed(statistics.ReasonRejected, j.received)
		return nil, inference.Errorf(inference.Unavailable, "%s%s", r.Tag(), err)
	}
	// A request that waits may be given up; see below for one that runs.
	select {
	case a := <-j.answer:
		return a.response, a.err
	case <-ctx.Done():
	}
	// The goroutine that takes an item off the queue answers it: this one, or an instance that has taken it already.
	if v.queue.Remove(&j.item) {
		v.counters.Wait(-1)
		v.counters.Failed(statistics.ReasonCancelled, j.received)
		return nil, inference.Errorf(inference.Cancelled, "%srequest was cancelled", r.Tag())
	}
	a := <-j.answer // it is being run: its input must stay as it is
	return a.response, a.err
}

// key is the shapes without the batch as a text, which is equal for requests that can share one.
func (a *accepted) key(batched bool) string {
	// The number of dimensions is that of the model for all requests.
	text := make([]byte, 0, 64)
	for i, s := range a.shapes {
		switch {
		case a.isAbsent(i):
			text = binary.AppendUvarint(text, math.MaxUint64) // as no dimension is
			continue
		case batched:
			s = s[1:]
		}
		for _, d := range s {
			text = binary.AppendUvarint(text, uint64(d))
		}
	}
	return string(text)
}
