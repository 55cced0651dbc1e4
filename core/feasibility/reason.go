// Package feasibility answers whether a pod may run on a node or offering, with a Reason where it may
// not.
//
// It promises the rules of kube-scheduler for what it supports, and a typed Reason in the user's words
// for every no. It neither chooses between nodes nor remembers what was placed: core/place does both.
package feasibility

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// Rule is which rule said no.
type Rule string

// The rules. Yes is the zero value: nothing speaks against it.
const (
	Yes         Rule = ""
	Unable      Rule = "unable"      // the shape uses a rule that is not supported
	NotReady    Rule = "not-ready"   // the pool may not launch now
	Static      Rule = "static"      // the pool keeps a number of nodes, and pods never add to it
	Deleting    Rule = "deleting"    // the place is going away
	Resource    Rule = "resource"    // too little of a resource is free
	Label       Rule = "label"       // a node label is not what the pod wants
	Taint       Rule = "taint"       // a taint is not tolerated
	NoType      Rule = "no-type"     // no instance type meets everything at once
	Unavailable Rule = "unavailable" // it could be launched, but is unavailable now
	Limit       Rule = "limit"       // a limit of the pool is reached
	MinValues   Rule = "min-values"  // too few types stay open
	Topology    Rule = "topology"    // other pods, or the lack of them, keep it away
	Effort      Rule = "effort"      // not tried: the effort was used up
)

// Reason is an expected no. The zero value means yes.
type Reason struct {
	Rule Rule
	Key  string // resource name, label key or taint; empty where there is none
	Text string // for people: lower case, no full stop
}

// OK reports whether nothing speaks against it.
func (r Reason) OK() bool { return r.Rule == Yes }

// String returns the text, or "fits" where nothing speaks against it.
func (r Reason) String() string {
	if r.OK() {
		return "fits"
	}
	return r.Text
}

// Change is one thing that would have to be different for pods to fit.
type Change struct {
	Rule   Rule
	Key    string           // resource, label key or driver; empty where there is none
	Amount int64            // how much less pods must ask for, how much more a limit must allow; 0 where it is no amount
	Taint  constraint.Taint // that must be tolerated
	Text   string           // for people: lower case, no full stop
	effort int
}

// NewChange returns a change that is about as hard as its rule lets expect.
func NewChange(rule Rule, key string, amount int64, text string) Change {
	return Change{Rule: rule, Key: key, Amount: amount, Text: text, effort: effort[rule] * efforts}
}

// effort is how hard it is to change what a rule refuses: to wait or to raise
// a limit is easy, to ask for another instance type is not.
var effort = map[Rule]int{
	Effort: 1, Unavailable: 1, Limit: 2, Topology: 3, MinValues: 3, NotReady: 4, Taint: 5, Resource: 8, Label: 8, NoType: 12, Static: 16, Deleting: 20, Unable: 50,
}

// efforts is one unit of effort; parts of it distinguish by how much an amount is short.
const efforts = 1000

// Changes is all that would have to be different at once; none means that
// pods fit.
type Changes []Change

// Effort reports how hard the changes are, for comparing.
func (c Changes) Effort() int {
	sum := 0
	for i := range c {
		sum += c[i].effort
	}
	return sum
}

// Have reports whether the rule asks for one of the changes.
func (c Changes) Have(rule Rule) bool {
	return slices.ContainsFunc(c, func(x Change) bool { return x.Rule == rule })
}

// Hardest is the rule that is hardest to meet, the first of equal ones; Yes where
// nothing would have to be different.
func (c Changes) Hardest() Rule {
	if len(c) == 0 {
		return Yes
	}
	return slices.MaxFunc(c, func(a, b Change) int { return cmp.Compare(a.effort, b.effort) }).Rule
}

// String lists the changes in words.
func (c Changes) String() string {
	words := make([]string, len(c))
	for i := range c {
		words[i] = c[i].Text
	}
	return strings.Join(words, ", and ")
}

// Room reports which resource of the request exceeds what is free, the first
// in the order cpu, memory, ephemeral-storage, pods, others by name.
func Room(request, free quantity.Resources) Reason {
	for _, name := range request.Names() {
		need, have := request.Get(name), free.Get(name)
		if need > 0 && need > have {
			return Reason{Resource, name, fmt.Sprintf("%s: need %s more", name, quantity.FormatAmount(name, quantity.Difference(need, have)))}
		}
	}
	return Reason{}
}

func untolerated(taints []constraint.Taint, tolerations []constraint.Toleration) Reason {
	if t, found := constraint.Untolerated(taints, tolerations); found {
		return Reason{Taint, t.Key, "no toleration for " + t.String()}
	}
	return Reason{}
}

func unable(text string) Reason {
	if text == "" {
		return Reason{}
	}
	return Reason{Unable, "", text}
}

// Avoided reports whether one of the taints asks pods to prefer other places
// and is not tolerated.
func Avoided(taints []constraint.Taint, tolerations []constraint.Toleration) bool {
	return slices.ContainsFunc(taints, func(t constraint.Taint) bool {
		return t.Effect == constraint.PreferNoSchedule &&
			!slices.ContainsFunc(tolerations, func(x constraint.Toleration) bool { return x.Tolerates(t) })
	})
}
