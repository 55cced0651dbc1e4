package explanation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/quantity"
)

// Torn is pods that must share a host and for which no instance that may be launched has room.
type Torn struct {
	Pods    int64    // all of them
	Others  []string // those that the pods without a place must share a host with
	Need    []int64  // of all together
	Largest string   // the instance type that has room for most of them
	Has     []int64  // for pods, of such an instance
	Limits  bool     // it has room for all, and limits do not allow it
	TooFew  string   // it has room for all, and so few others have that minValues forbids it: how few
}

// tornText says which pods must share a host with those without a place, what they need together,
// and what the largest instance has.
func (w *World) tornText(t *Torn) string {
	text := "it must share a host with " + t.others() + ": together they need "
	all := w.amounts(t.Need, func(i int) bool { return slices.Contains(sizes, w.name(i)) })
	switch {
	case t.TooFew != "":
		return text + all + ", and for that " + t.TooFew
	case t.Limits:
		return text + all + ", and the limits of the pools leave no instance type that has room for them"
	}
	short := func(i int) bool { return t.Need[i] > t.Has[i] }
	return text + w.amounts(t.Need, short) + ", and the largest instance type for them, " + t.Largest + ", has " + w.amounts(t.Has, short)
}

// sizes are what instances are distinguished by where all of them have enough.
var sizes = []string{quantity.NameCPU, quantity.NameMemory}

func (t *Torn) others() string {
	named := t.Others[:min(len(t.Others), podsNamed)]
	if t.Pods == 2 {
		return strings.Join(named, "")
	}
	return fmt.Sprintf("%d pods (%s%s)", t.Pods-1, strings.Join(named, ", "), further(int(t.Pods)-1-len(named)))
}

// name is the resource at the position; empty for volumes.
func (w *World) name(at int) string {
	if at < len(w.Resources) {
		return w.Resources[at]
	}
	return ""
}

// amounts writes down the amounts of which the function is true.
func (w *World) amounts(list []int64, wanted func(int) bool) string {
	var words []string
	for i, v := range list {
		if !wanted(i) {
			continue
		}
		if d := i - len(w.Resources); d >= 0 {
			words = append(words, fmt.Sprintf("%d volumes of %s", v, w.Drivers[d]))
			continue
		}
		words = append(words, w.Resources[i]+" "+quantity.FormatAmount(w.Resources[i], max(0, v)))
	}
	return strings.Join(words, " and ")
}
