package graph

// Passes is a set of rewritings that make programs faster and change no bit of what they compute, random numbers
// included. Five are not exact to the bit: Factors changes roundings, Constants has the roundings of the CPU, Patterns and
// Attention those of the rows that they find, and Layout those of sums in another order.
type Passes uint16

// The passes, in the order in which they run.
const (
	Views     Passes = 1 << iota // see elideViews
	Common                       // see shareCommon
	DeadCode                     // see dropDead
	Groups                       // elementwise steps run block by block, on devices that fuse; see grouper
	Factors                      // after all others, by callers who can compute constants; see TakeFactors
	Constants                    // before Factors, by the same callers; see FoldConstants
	// Patterns is after Common: an expression may compute one part twice. See recognize.
	Patterns
	// Attention is after Patterns, which may find its softmax, on devices with a kernel of it: in terms of other rows it is what
	// the expression was. See recognizeAttention.
	Attention

	// Layout is the last one, on devices that ask for it: the calls that it changes are known only then. See ChannelsLast.
	Layout

	AllPasses = Views | Common | DeadCode | Groups | Factors | Constants | Patterns | Attention | Layout
)

// rewritings are the passes from graph to graph. Views come first, because equal calls show when their operands
// are the same values; patterns come behind both; dead code comes last, because it removes what the others have left unread.
var rewritings = []struct {
	pass    Passes
	rewrite func(*Graph) *Graph
}{
	{Views, elideViews},
	{Common, shareCommon},
	{Patterns, recognize},
	{Attention, recognizeAttention},
	{DeadCode, dropDead},
}

// Rewrite applies the passes of a set to a graph whose dimensions are known, which stays as it is. Inputs and
// outputs keep their types and their order.
func (g *Graph) Rewrite(passes Passes) *Graph {
	for _, r := range rewritings {
		if passes&r.pass != 0 {
			g = r.rewrite(g)
		}
	}
	return g
}

// replacing is a graph in which some values stand for others: what read a value v reads instead[v]. keep, asked in the
// order of the nodes with their new operands, says which nodes stay; it may set entries of instead for results.
func (g *Graph) replacing(keep func(n *Node, instead []Value) bool) *Graph {
	instead := make([]Value, len(g.values))
	for v := range instead {
		instead[v] = Value(v)
	}
	to := &Graph{values: g.values, inputs: g.inputs, symbols: g.symbols, nodes: make([]Node, 0, len(g.nodes))}
	for i := range g.nodes {
		n := g.nodes[i]
		n.In = translate(instead, n.In)
		if keep(&n, instead) {
			to.nodes = append(to.nodes, n)
		}
	}
	to.outputs = translate(instead, g.outputs)
	return to
}
