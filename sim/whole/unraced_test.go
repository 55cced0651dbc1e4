//go:build !race

package whole_test

const (
	brief      = false
	everyDeath = 1
	manySeeds  = 24
)
