// Package lint enforces rules of this project that neither the compiler nor vet knows: which package may
// import which and how many files it has, where unsafe may be used, that exported names are documented, that no path of
// a developer's machine is in the tree, and that the licence of everything linked in is shipped.
//
// The rules are tables at the top of the test files; there is no code to call.
package lint
