package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/api"
)

// Freeze is what the ConfigMap daemok-freeze says. Its zero value is none.
type Freeze struct {
	Why   string    // nodes are not disturbed by choice; empty: there is no freeze
	Until time.Time // when it ends by itself; zero: never
	Odd   string    // what of it is not understood, and the way out
}

// Holds reports whether nodes may not be disturbed at a moment.
func (f Freeze) Holds(now time.Time) bool {
	return f.Why != "" && (f.Until.IsZero() || now.Before(f.Until))
}

// reasonMax keeps a reason on one line of a plan.
const reasonMax = 200

// ReadFreeze reads the ConfigMap. That it is there is enough: an end that cannot
// be read is no end, so that a slip of the pen never costs a node.
func ReadFreeze(c *corev1.ConfigMap) Freeze {
	name := "ConfigMap " + c.Namespace + "/" + c.Name
	f := Freeze{Why: "frozen by " + name}
	if reason := inOneLine(c.Data[api.FreezeReason]); reason != "" {
		f.Why += ": " + reason
	}
	var odd []string
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		if key != api.FreezeReason && key != api.FreezeUntil {
			odd = append(odd, fmt.Sprintf("%s: data.%s means nothing: the keys are %s and %s", name, key, api.FreezeReason, api.FreezeUntil))
		}
	}
	if until := strings.TrimSpace(c.Data[api.FreezeUntil]); until != "" {
		at, err := time.Parse(time.RFC3339, until)
		if err != nil {
			odd = append(odd, fmt.Sprintf("%s: data.%s: %q is no moment such as 2026-01-31T18:00:00Z, so no node is disrupted until it is corrected, or %s is deleted",
				name, api.FreezeUntil, until, name))
		} else {
			f.Until = at.UTC()
			f.Why += ", until " + f.Until.Format(time.RFC3339)
		}
	}
	f.Odd = strings.Join(odd, "; ")
	return f
}

func inOneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > reasonMax {
		text = strings.ToValidUTF8(text[:reasonMax-len("...")], "") + "..."
	}
	return text
}
