package serve

import (
	"context"
	"fmt"
	"time"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/place"
	"github.com/paddle-mps/paddle-mps/serve/batching"
)

// job is a request on its way through the queue and an instance.
// It is made for each request and refers to what its client has sent.
type job struct {
	item     batching.Item
	request  *Request
	accepted *accepted
	received time.Time
	queued   time.Time
	answer   chan answer // has room for one
}

// answer is what becomes of a job.
type answer struct {
	response *Response
	err      error
}

// size is the number of items of the job's batch as statistics count it.
func (j *job) size() uint64 { return uint64(max(j.accepted.batch, 1)) }

// instance runs batches, one at a time.
// Only its own goroutine uses it.
type instance struct {
	version *Version
	runtime *runtime.Runtime
	program *program
	stream  *runtime.Stream
	name    string
	async   bool // the device has a queue of its own

	items  []*batching.Item
	buffer []byte // inputs of a batch of several requests, one behind the other
}

// startInstance makes an instance, which runs until the queue is closed and empty.
func (v *Version) startInstance(s *Server, p *program, name string) error {
	stream, err := p.context.NewStream()
	if err != nil {
		return err
	}
	n := &instance{version: v, runtime: s.options.Runtime, program: p, stream: stream, name: name, async: p.context.Place() != place.CPU}
	v.running.Go(func() {
		defer func() { _ = stream.Close() }() // failures were answered with the requests
		for n.items = v.queue.Next(n.items); n.items != nil; n.items = v.queue.Next(n.items) {
			n.serve()
		}
	})
	return nil
}

// serve runs the batch that was taken from the queue and answers its requests.
func (n *instance) serve() {
	jobs := make([]*job, len(n.items))
	total := uint64(0)
	for i, it := range n.items {
		jobs[i] = it.Value.(*job)
		total += jobs[i].size()
	}
	v := n.version
	// Requests of a batch that runs are no longer pending.
	v.counters.wait(-int64(len(jobs)))
	// The turn is taken before the run: it is the order in which batches left the queue that counts.
	deliver := v.turn()
	m := moments{start: time.Now()}
	responses, err := n.attempt(jobs, &m)
	m.end = time.Now()
	// A batch that has failed is no execution, as in Triton; its requests are counted as failures.
	if err == nil {
		v.counters.executed(total, &m)
	}
	// All answers are made before the first one is sent, because statistics are counted with them.
	answers := make([]answer, len(jobs))
	for i, j := range jobs {
		if err != nil {
			v.counters.failed(reasonBackend, j.received)
			answers[i].err = From(err)
			continue
		}
		v.counters.succeeded(j.size(), j.received, j.queued, &m)
		answers[i].response = responses[i]
	}
	deliver(func() {
		for i, j := range jobs {
			j.answer <- answers[i]
		}
	})
}

// attempt is execute with a panic as an error: a fault in a kernel fails the batch and not the server.
func (n *instance) attempt(jobs []*job, m *moments) (responses []*Response, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = Errorf(Internal, "instance %s has failed: %v", n.name, fault)
		}
	}()
	// Moments that a failed run does not reach must not be before its start.
	m.inputs, m.outputs = m.start, m.start
	return n.execute(jobs, m)
}

// turn is called when a batch leaves the queue and returns what delivers its answers: at once, or where the order of
// requests is kept, after those of the batches before. The instance does not wait for them.
func (v *Version) turn() (deliver func(send func())) {
	if !v.ordered {
		return func(send func()) { send() }
	}
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
	v.counters.wait(-1)
	v.counters.failed(reasonRejected, j.received)
	j.answer <- answer{err: Errorf(Unavailable, "%sRequest timeout expired", j.request.tag())}
}

// infer puts a request into the queue and waits for its answer.
func (v *Version) infer(ctx context.Context, r *Request) (*Response, error) {
	j := &job{request: r, received: r.Received, answer: make(chan answer, 1)}
	if j.received.IsZero() {
		j.received = time.Now()
	}
	var err error
	if j.accepted, err = v.accept(r); err != nil {
		v.counters.failed(reasonOther, j.received)
		return nil, err
	}
	j.item = batching.Item{Size: int(j.size()), Priority: r.Priority, Timeout: r.Timeout, Value: j}
	// Without an open dimension all shapes that were accepted are equal, and a key would tell nothing apart.
	if v.anyShape {
		j.item.Key = fmt.Sprint(j.accepted.keys(v.config.MaxBatchSize > 0))
	}
	// It is counted as pending before it can be taken, so that the number never falls below zero.
	j.queued = time.Now()
	v.counters.wait(1)
	if err := v.queue.Push(&j.item); err != nil {
		v.counters.wait(-1)
		v.counters.failed(reasonRejected, j.received)
		return nil, Errorf(Unavailable, "%s%s", r.tag(), err)
	}
	// A request that waits may be given up; see below for one that runs.
	select {
	case a := <-j.answer:
		return a.response, a.err
	case <-ctx.Done():
	}
	// Whoever takes an item off the queue answers it: here that is us, or else an instance that has it already.
	if v.queue.Remove(&j.item) {
		v.counters.wait(-1)
		v.counters.failed(reasonCancelled, j.received)
		return nil, Errorf(Cancelled, "%srequest was cancelled", r.tag())
	}
	a := <-j.answer // it is being run: its input must stay as it is
	return a.response, a.err
}

// keys are the shapes without the batch, which are equal for requests that can share one.
func (a *accepted) keys(batched bool) [][]int64 {
	if !batched {
		return a.shapes
	}
	all := make([][]int64, len(a.shapes))
	for i, s := range a.shapes {
		all[i] = s[1:]
	}
	return all
}
