package op

// Factor is what an operator does with its operands that lets a constant of channels go into the weight of a product.
type Factor uint8

const (
	NoFactor Factor = iota
	Times           // x * y, of a result with a weight or with what was added to it, either way round
	Over            // x / y
	Plus            // x + y, either way round
)

// Channels gives the axes of the channels in a result and in a weight of those ranks, of a product that is linear in its
// weight, In[1].
type Channels func(at Attrs, out, weight int) (ofResult, ofWeight int)
