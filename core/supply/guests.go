package supply

import (
	"github.com/daemok/daemok/core/cluster"
	"slices"
)

func Conflict(a, b []cluster.Port) bool {
	return slices.ContainsFunc(a, func(p cluster.Port) bool { return slices.ContainsFunc(b, p.Conflicts) })
}
