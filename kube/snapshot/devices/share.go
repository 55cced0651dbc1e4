package devices

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/device"
	"github.com/daemok/daemok/kube/snapshot/shapes"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// sharing is the pods that use a claim, and the one that takes its devices for all: of those that can have them soonest
// the first by UID.
type sharing struct {
	pods  int
	by    types.UID
	state podspec.DeviceUserState // of that one
}

// share finds which pod takes the devices of each claim that several may use, and has pods looked at again where that
// is another one than before: the first may have ended, or another can be placed before it.
func (t *Table) share() {
	before := t.shared
	t.shared = map[types.NamespacedName]sharing{}
	c := newClaimants(t)
	for user := range t.shapes.DeviceUsers() {
		for _, use := range user.DeviceUses() {
			if use.Template != "" {
				continue
			}
			if use.State != podspec.HasNode && !c.isAble(user) {
				use.State = podspec.NeedsNone
			}
			if use.State == podspec.AwaitsNode && c.users[use.Claim] > 1 && !c.isServed(user) {
				use.State = podspec.FitsNowhere
			}
			s := t.shared[use.Claim]
			if s.pods++; s.pods == 1 || use.State < s.state || use.State == s.state && use.Pod < s.by {
				s.by, s.state = use.Pod, use.State
			}
			t.shared[use.Claim] = s
		}
	}
	t.stale = t.stale || !maps.Equal(t.shared, before)
}

// claimants is what is known of the pods with ResourceClaims while they are gone through.
type claimants struct {
	t      *Table
	users  map[types.NamespacedName]int // pods that use a claim, of those that more than one may use
	served map[string]bool              // whether some pool may launch a node for pods, by what these require
}

func newClaimants(t *Table) *claimants {
	c := &claimants{t: t, users: map[types.NamespacedName]int{}, served: map[string]bool{}}
	for user := range t.shapes.DeviceUsers() {
		for _, use := range user.DeviceUses() {
			if use.Template == "" {
				c.users[use.Claim]++
			}
		}
	}
	return c
}

// isAble reports whether an instance can be launched for a pod, as far as it, its volumes and its claims say.
func (c *claimants) isAble(user *shapes.Entry) bool {
	t := c.t
	missing := func(use podspec.DeviceUse) bool {
		spec, _, whyNot := t.look(use)
		return whyNot != "" || t.read[spec].whyNot != ""
	}
	return !slices.ContainsFunc(user.DeviceUses(), missing) && t.shapes.WithoutDevices(user).Unable == ""
}

// isServed reports whether some pool may launch a node on which a pod can have its devices, if it is alone there.
func (c *claimants) isServed(user *shapes.Entry) bool {
	t := c.t
	shape := t.shapes.WithoutDevices(user)
	var all []device.Counted
	for _, use := range user.DeviceUses() {
		if spec, claim, _ := t.look(use); claim == nil || claim.Status.Allocation == nil {
			all = append(all, t.read[spec].bundles...)
		}
	}
	if t.world.common {
		all = nil // other nodes may do too
	}
	terms, ok := podspec.Reaching(shape, nil)
	if !ok {
		return false
	}
	a := ask{terms, shape.Tolerations, device.With(shape.Requests, t.world.needs(all)), t.world.offers}
	key := fmt.Sprint(a.terms, a.tolerations, a.requests)
	served, found := c.served[key]
	if !found {
		served = a.mayBeOfAny(t.offers)
		c.served[key] = served
	}
	return served
}
