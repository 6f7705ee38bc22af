// This file is empty. A package with a file of assembly may declare functions that it does not define, which is how
// clock.go gets at a function of package runtime.
