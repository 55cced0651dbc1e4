package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Diff reports how b differs from a, one line for each thing that only one of them does, "-" for a
// and "+" for b. It is empty for plans that do the same. Names of launches within a plan do not
// count.
func Diff(a, b Plan) string {
	before, after := a.deeds(), b.deeds()
	var out strings.Builder
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(after) == 0 || len(before) > 0 && before[0] < after[0]:
			fmt.Fprintf(&out, "- %s\n", before[0])
			before = before[1:]
		case len(before) == 0 || after[0] < before[0]:
			fmt.Fprintf(&out, "+ %s\n", after[0])
			after = after[1:]
		default:
			before, after = before[1:], after[1:]
		}
	}
	return out.String()
}

// deeds lists what the plan does as sorted sentences.
func (p Plan) deeds() []string {
	var out []string
	for i := range p.Launches {
		l := &p.Launches[i]
		out = append(out, fmt.Sprintf("launch of %s: %s for %s", l.Pool, l.Choice, l.Whose()))
	}
	for _, x := range p.Placements {
		if x.On != OnLaunch {
			out = append(out, fmt.Sprintf("place %s/%s on %s %s", x.Pod.Namespace, x.Pod.Name, x.On, x.Target))
		}
	}
	for _, w := range p.Withdrawals {
		out = append(out, "withdraw claim "+w.Claim)
	}
	for _, r := range p.Removals() {
		out = append(out, fmt.Sprintf("remove node %s: %s", r.Node, r.Reason))
	}
	for _, h := range p.Holds {
		for _, pod := range h.Pods {
			out = append(out, fmt.Sprintf("hold %s/%s on node %s", pod.Namespace, pod.Name, h.Node))
		}
	}
	for _, e := range p.Emptying {
		out = append(out, "empty node "+e.Node)
	}
	for _, u := range p.Unplaced {
		for _, pod := range u.Pods {
			out = append(out, fmt.Sprintf("leave %s/%s", pod.Namespace, pod.Name))
		}
	}
	slices.Sort(out)
	return out
}
