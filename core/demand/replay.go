package demand

import (
	"github.com/daemok/daemok/core/cluster"
	"slices"
)

func Exclusive(k *PodClass) bool {
	return slices.ContainsFunc(k.Shared, func(v cluster.Volume) bool { return v.Exclusive })
}
