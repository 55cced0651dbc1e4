package constraint

import (
	"slices"
	"strings"
)

// Effect says what a taint does to pods that do not tolerate it.
type Effect string

// The three effects. An empty effect in a toleration matches all.
const (
	NoSchedule       Effect = "NoSchedule"
	PreferNoSchedule Effect = "PreferNoSchedule"
	NoExecute        Effect = "NoExecute"
)

// Taint keeps pods away that do not tolerate it.
type Taint struct {
	Key, Value string
	Effect     Effect
}

// String prints "key=value:Effect", or "key:Effect" without a value.
func (t Taint) String() string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}

// Toleration lets a pod ignore matching taints. With Exists an empty key
// matches every taint; otherwise key and value must be equal.
type Toleration struct {
	Key, Value string
	Exists     bool
	Effect     Effect // empty: every effect
}

// Tolerates reports whether the toleration matches the taint, by the rules of
// kube-scheduler.
func (t Toleration) Tolerates(taint Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect {
		return false
	}
	if t.Key == "" {
		return t.Exists
	}
	return t.Key == taint.Key && (t.Exists || t.Value == taint.Value)
}

// String prints "key=value:Effect", with "*" for what is left open.
func (t Toleration) String() string {
	var b strings.Builder
	b.WriteString(orStar(t.Key))
	if !t.Exists {
		b.WriteString("=" + t.Value)
	}
	b.WriteString(":" + orStar(string(t.Effect)))
	return b.String()
}

func orStar(s string) string {
	if s == "" {
		return "*"
	}
	return s
}

// Untolerated returns the first taint that keeps pods away and that no toleration matches.
// PreferNoSchedule keeps no pod away.
func Untolerated(taints []Taint, tolerations []Toleration) (Taint, bool) {
	for _, taint := range taints {
		if taint.Effect == PreferNoSchedule {
			continue
		}
		if !slices.ContainsFunc(tolerations, func(t Toleration) bool { return t.Tolerates(taint) }) {
			return taint, true
		}
	}
	return Taint{}, false
}
