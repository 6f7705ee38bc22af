//go:build goexperiment.simd && amd64 && !race

package vec

// What larger and smaller say, of vectors. With AVX-512 an or of two masks moves both to vectors and back, so that choosing twice takes
// half as long; with AVX2, where a mask is a vector, the or does.

func larger512(x, y narrow512) narrow512  { return x.Merge(x.Merge(y, x.Greater(y)), x.IsNaN()) }
func smaller512(x, y narrow512) narrow512 { return x.Merge(x.Merge(y, x.Less(y)), x.IsNaN()) }

func wideLarger512(x, y wide512) wide512  { return x.Merge(x.Merge(y, x.Greater(y)), x.IsNaN()) }
func wideSmaller512(x, y wide512) wide512 { return x.Merge(x.Merge(y, x.Less(y)), x.IsNaN()) }

func larger256(x, y narrow256) narrow256  { return x.Merge(y, x.Greater(y).Or(x.IsNaN())) }
func smaller256(x, y narrow256) narrow256 { return x.Merge(y, x.Less(y).Or(x.IsNaN())) }

func wideLarger256(x, y wide256) wide256  { return x.Merge(y, x.Greater(y).Or(x.IsNaN())) }
func wideSmaller256(x, y wide256) wide256 { return x.Merge(y, x.Less(y).Or(x.IsNaN())) }
