//go:build race

package whole_test

// Under the race detector, which takes eight times as long and wants to see each thing happen
// once, stories that take long are left out; all are told without it.
const (
	brief      = true
	everyDeath = 25 // -deaths, unless given
	manySeeds  = 2  // -seeds, unless given
)
