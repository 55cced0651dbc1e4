package launch

import (
	"fmt"
	"regexp"
	"time"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// encoded is what AWS adds to refusals, and differs in each; the condition has it.
var encoded = regexp.MustCompile(` *Encoded authorization failure message: [A-Za-z0-9_+/=-]+`)

// record keeps, for users who ask, why a claim has no instance yet, and what became of its launch.
type record interface {
	Unlaunched(claim, reason, why string, more ...string)
	GaveUp(claim, why string)
	Became(claim, said, why string)
	Has(claim, instance, what string)
}

// launchFor is how long a claim may take from its creation to its instance before it is
// given up and replaced.
const launchFor = 5 * time.Minute

// reasonShort is why there is no instance while what was asked for cannot be had.
const reasonShort = "InsufficientCapacityError"

// reasonNotReady is why nothing is launched for a claim whose class is not ready.
const reasonNotReady = "NodeClassNotReady"

// recorder records what becomes of launches.
type recorder struct{ record record } // nil: nothing is recorded

// unlaunched records why claims have no instance yet, in the cloud's words, what is tried next and what helps.
func (r recorder) unlaunched(claims []*karpv1.NodeClaim, reason, text string) {
	if r.record == nil {
		return
	}
	text = encoded.ReplaceAllString(text, "")
	for _, c := range claims {
		r.record.Unlaunched(c.Name, reason, text, nextOf(c, reason)...)
	}
}

// became records what became of the launch of a claim.
func (r recorder) became(c *karpv1.NodeClaim, said, why string) {
	if r.record != nil {
		r.record.Became(c.Name, said, why)
	}
}

// gaveUp records that a claim goes without an instance.
func (r recorder) gaveUp(c *karpv1.NodeClaim, why string) {
	if r.record != nil {
		r.record.GaveUp(c.Name, why)
	}
}

// nextOf is what is tried next for a claim, and what a user can do where the text of the obstacle does not say so.
func nextOf(c *karpv1.NodeClaim, reason string) []string {
	next, help := "the launch is repeated, after a minute at most", ""
	switch reason {
	case reasonShort:
		next = "other offerings that the NodeClaim allows are tried; those without capacity are left out for some minutes"
		help = "if it lasts, allow more instance types, zones or capacity types in " + translate.PoolOf(c).String()
	case "Unauthorized":
		help = "daemok iam check names every right that is missing"
	case reasonNotReady:
		help = "daemok explain " + c.Spec.NodeClassRef.Kind + "/" + c.Spec.NodeClassRef.Name + " says why the class is not ready"
	}
	out := []string{fmt.Sprintf("next: %s; without an instance by %s the NodeClaim is deleted, once no answer of EC2 is outstanding, and its pods are planned again",
		next, c.CreationTimestamp.Add(launchFor).UTC().Format(time.TimeOnly+" UTC"))}
	if help != "" {
		out = append(out, "to do: "+help)
	}
	return out
}
