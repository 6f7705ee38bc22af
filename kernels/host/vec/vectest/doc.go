// Package vectest is what tests of several rooms of package vec share: a run at each level, operands with special numbers, memory between
// pages that must not be touched, and distances in ulps. Only tests import it, and it imports no room.
package vectest
