package graphs

// What tests outside of the package have to know.
const (
	LongInner  = longInner  // from where on products go wrong on some GPUs
	GraphBytes = graphBytes // what each executable holds at least
)
