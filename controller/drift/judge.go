package drift

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// A type counts as not offered any more for instances that have become stable, and after it
// has been missing for a while without a break: replacing a fleet because of one answer
// that lacked something would be expensive.
const (
	stableAfter = time.Hour
	missingFor  = 30 * time.Minute
)

// finding is the first thing that differs; no reason: nothing does. keep says that what was
// found earlier holds, since it cannot be checked now.
type finding struct {
	reason, text string
	keep         bool
}

// subject is a claim and what it is compared with.
type subject struct {
	claim    *karpv1.NodeClaim
	labels   constraint.Labels
	pool     *pool
	class    *class
	instance *instance // nil: the cloud has not listed it yet
	lacks    lacks     // of all nodes
	stable   bool
	since    since
	at       time.Time // when it is checked
	reported time.Time // when the cloud listed the instance
}

func (f *Finder) subject(c *karpv1.NodeClaim, pool *pool, class *class) *subject {
	s := &subject{claim: c, labels: constraint.NewLabels(c.Labels), pool: pool, class: class, reported: f.listedAt}
	s.stable = f.Now().Sub(c.CreationTimestamp.Time) > stableAfter
	if m, listed := f.instances[translate.InstanceID(c.Status.ProviderID)]; listed {
		s.instance = &m
	}
	return s
}

// seen keeps since when the instance's type has not been offered, and its reservation not
// been selected.
func (s *subject) seen(now time.Time, was since) {
	s.at, s.since = now, was
	if s.class.instanceTypes != nil {
		s.since.gone = begun(!s.offered(), was.gone, now)
	}
	if selected, reported := s.selected(); reported {
		s.since.stray = begun(s.strays(selected), was.stray, now)
	}
}

// begun is since when something is so: as before, or from now on; zero where it is not.
func begun(is bool, was, now time.Time) time.Time {
	switch {
	case !is:
		return time.Time{}
	case was.IsZero():
		return now
	}
	return was
}

// check is a way to drift.
type check struct {
	reason string
	// look says what differs, or nothing; known is false where that cannot be said now.
	look func(*subject) (differs string, known bool)
}

// checks are all the ways to drift, in the order in which they are reported.
var checks = []check{
	{karpv1.ReasonNodePoolDrifted, (*subject).poolChanged},
	{karpv1.ReasonRequirementsDrifted, (*subject).outsideRequirements},
	{karpv1.ReasonInstanceTypeNotFound, (*subject).notOffered},
	{karpv1.ReasonNodeClassDrift, (*subject).classChanged},
	{karpv1.ReasonAMIDrift, (*subject).otherImage},
	{karpv1.ReasonSecurityGroupDrift, (*subject).otherGroups},
	{karpv1.ReasonSubnetDrift, (*subject).otherSubnet},
	{karpv1.ReasonCapacityReservationDrift, (*subject).otherReservation},
	{karpv1.ReasonPlacementGroupDrift, (*subject).otherPlacement},
	{karpv1.ReasonDaemonSetUnplaced, (*subject).lacksRoom},
}

func (s *subject) judge(checks []check) finding {
	was := condition.Get(s.claim, karpv1.ClaimDrifted)
	for _, c := range checks {
		differs, known := c.look(s)
		switch {
		case known && differs != "":
			return finding{reason: c.reason, text: differs}
		case !known && was != nil && was.Reason == c.reason:
			return finding{keep: true}
		}
	}
	return finding{}
}

// outsideRequirements compares the instance's labels, and where it has none what was asked
// of it, with what the pool asks for.
func (s *subject) outsideRequirements() (differs string, known bool) {
	if !s.pool.readable {
		return "", false
	}
	var unlabelled constraint.Requirements
	for _, r := range s.pool.requirements {
		value, labelled := s.labels.Get(r.Key)
		if !labelled {
			unlabelled = append(unlabelled, r)
		} else if !r.Set.Allows(value) {
			return fmt.Sprintf("label %s is %s; %s asks for %s", r.Key, value, s.pool.ID, r.Set), true
		}
	}
	return s.otherwiseOrdered(unlabelled)
}

// otherwiseOrdered compares what was asked of the instance with what the pool asks for of labels that it lacks: most
// have all.
func (s *subject) otherwiseOrdered(asked constraint.Requirements) (differs string, known bool) {
	if len(asked) == 0 {
		return "", true
	}
	ordered, err := translate.Requirements(s.claim.Spec.Requirements)
	if err != nil {
		return "", false
	}
	for _, r := range asked {
		switch {
		case !ordered.Has(r.Key) && !r.Set.AllowsAbsent():
			return fmt.Sprintf("label %s is missing; %s asks for %s", r.Key, s.pool.ID, r.Set), true
		case ordered.Has(r.Key) && !ordered.Get(r.Key).Intersects(r.Set):
			return fmt.Sprintf("label %s was to be %s; %s asks for %s", r.Key, ordered.Get(r.Key), s.pool.ID,
				r.Set), true
		}
	}
	return "", true
}

// offered reports whether the class still offers what the instance is, its tenancy included where both
// say it, whether or not it can be had at the moment. A reserved instance may go on as one on demand,
// and the other way round.
func (s *subject) offered() bool {
	instanceType := s.class.instanceTypes[s.claim.Labels[api.LabelInstanceType]]
	if instanceType == nil {
		return false
	}
	zone, option, tenancy := s.claim.Labels[api.LabelZone], s.claim.Labels[api.LabelCapacityType], s.claim.Labels[api.LabelTenancy]
	return slices.ContainsFunc(instanceType.Offerings, func(o cluster.Offering) bool {
		is, _ := o.Labels.Get(api.LabelTenancy)
		return o.Zone == zone && (o.Option == cluster.Spot) == (option == string(cluster.Spot)) && (is == tenancy || is == "" || tenancy == "")
	})
}

func (s *subject) notOffered() (differs string, known bool) {
	switch {
	case s.class.instanceTypes == nil:
		return "", false
	case s.offered(), !s.stable:
		return "", true
	case s.at.Sub(s.since.gone) < missingFor:
		return "", false
	}
	kind := s.claim.Labels[api.LabelInstanceType]
	if s.class.instanceTypes[kind] == nil {
		return fmt.Sprintf("%s does not offer type %s any more", s.class.id, kind), true
	}
	as := s.claim.Labels[api.LabelCapacityType]
	if s.claim.Labels[api.LabelTenancy] == api.TenancyDedicated {
		as += ", of dedicated tenancy"
	}
	return fmt.Sprintf("%s does not offer type %s in %s, %s, any more", s.class.id, kind,
		s.claim.Labels[api.LabelZone], as), true
}

func (s *subject) classChanged() (differs string, known bool) {
	has, version := s.claim.Annotations[api.AnnotationNodeClassHash], s.claim.Annotations[api.AnnotationNodeClassHashVersion]
	if s.class.Hash == "" || has == "" || version != s.class.HashVersion {
		return "", false
	}
	if has == s.class.Hash {
		return "", true
	}
	return fmt.Sprintf("%s was changed: the instance was launched from its form %s, which is %s now", s.class.id, has,
		s.class.Hash), true
}

// selected is what the class selects, where that can be compared with the instance. A class
// that selects nothing of an instance type cannot be used, and says as little.
func (s *subject) selected() (Selected, bool) {
	if s.instance == nil || s.class.Selected == nil {
		return Selected{}, false
	}
	all := *s.class.Selected
	return all, len(all.Images) > 0 && len(all.Subnets) > 0 && len(all.Groups) > 0
}

func (s *subject) otherImage() (differs string, known bool) {
	selected, reported := s.selected()
	if !reported {
		return "", false
	}
	var fit []string
	for _, image := range selected.Images {
		if _, ok := image.Requirements.Allow(s.labels); ok {
			fit = append(fit, image.ID)
		}
	}
	switch {
	case slices.Contains(fit, s.instance.image):
		return "", true
	case len(fit) == 0:
		return fmt.Sprintf("image %s is not selected by %s any more, and no other image for such instances is",
			s.instance.image, s.class.id), true
	}
	return fmt.Sprintf("image is %s; %s selects %s", s.instance.image, s.class.id, strings.Join(fit, ", ")), true
}

func (s *subject) otherGroups() (differs string, known bool) {
	selected, reported := s.selected()
	if !reported {
		return "", false
	}
	want := slices.Sorted(slices.Values(selected.Groups))
	if slices.Equal(s.instance.groups, want) {
		return "", true
	}
	return fmt.Sprintf("security groups are %s; %s selects %s", strings.Join(s.instance.groups, ", "), s.class.id,
		strings.Join(want, ", ")), true
}

func (s *subject) otherSubnet() (differs string, known bool) {
	selected, reported := s.selected()
	if !reported {
		return "", false
	}
	if slices.Contains(selected.Subnets, s.instance.subnet) {
		return "", true
	}
	return fmt.Sprintf("subnet is %s; %s selects %s", s.instance.subnet, s.class.id,
		strings.Join(selected.Subnets, ", ")), true
}

// otherReservation checks instances that were launched from a reservation; one that left
// its own goes on as an instance on demand. A reservation that has ended is selected no
// more either: what the cloud listed of its instances before that says nothing.
func (s *subject) otherReservation() (differs string, known bool) {
	selected, reported := s.selected()
	switch {
	case !reported:
		return "", false
	case !s.strays(selected):
		return "", true
	case !s.reported.After(s.since.stray):
		return "", false
	}
	return fmt.Sprintf("capacity reservation is %s, which %s selects no more", s.instance.reservedCapacity,
		s.class.id), true
}

// strays reports whether the instance was launched from a reservation, and is in one that
// its class does not select. An on-demand instance may be in one that was not chosen for
// it.
func (s *subject) strays(selected Selected) bool {
	launched := s.claim.Labels[api.LabelCapacityType] == api.CapacityTypeReserved
	return launched && s.instance.reservedCapacity != "" && !slices.Contains(selected.Reservations,
		s.instance.reservedCapacity)
}

// otherPlacement checks the placement group, which an instance never leaves.
func (s *subject) otherPlacement() (differs string, known bool) {
	selected, reported := s.selected()
	if !reported {
		return "", false
	}
	is, wanted := s.instance.placement, selected.Placement
	if is == "" && len(wanted) == 0 || slices.Contains(wanted, is) {
		return "", true
	}
	return fmt.Sprintf("placement group is %s; %s selects %s", cmp.Or(is, "none"), s.class.id,
		cmp.Or(strings.Join(wanted, ", "), "none")), true
}
