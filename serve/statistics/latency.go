package statistics

import (
	"math"
	"time"
)

// The times of answered requests are counted in buckets, four to each doubling: a percentile of them is at most 19 % too
// large. Counts only grow; a page that shows percentiles of a while subtracts those of its beginning.

// Buckets is the number of buckets: up to 2^30 us, which is 18 minutes, and one for what is longer.
const Buckets = 4*30 + 1

// Latencies are the numbers of requests by their time.
type Latencies [Buckets]uint64

// Bound is the upper bound of a bucket; the last one has none.
func Bound(bucket int) time.Duration {
	return time.Duration(math.Exp2(float64(bucket)/4) * float64(time.Microsecond))
}

// Add counts a request.
func (l *Latencies) Add(took time.Duration) {
	// The logarithm of the time in microseconds, rounded up, so that the bound of the bucket is not below it.
	bucket := int(math.Ceil(4 * math.Log2(max(float64(took)/float64(time.Microsecond), 1))))
	l[min(bucket, Buckets-1)]++
}
