package record

import (
	"github.com/daemok/daemok/core/disruption"
)

// unhealthy says of every node that is unhealthy by a rule of its pool whether and when it
// is repaired, and what stops that.
func (m *minutes) unhealthy() {
	for _, r := range disruption.Unhealthy(m.s) {
		due, said, why := !r.Due.After(m.s.Now), "is unhealthy, and is repaired at "+moment(r.Due)+" unless it is well before", r.Cause()
		more := []string{r.Others + ", none is repaired"}
		switch {
		case due && r.Held != "":
			said, why, more = "is unhealthy, and is not repaired now", r.Held, append(more[:0], r.Cause())
		case due:
			said = "is unhealthy, and is repaired: its claim goes, and its pods are not waited for"
		case r.Held != "":
			more = append(more[:0], "if nothing changes, it is not repaired then: "+r.Held)
		}
		m.hold(Object{Node, r.Node}, r.Claim, TopicHealth, said, why, func() []string { return more })
	}
}
