package explaincmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/controller/remember"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe/record"
)

// ofClass is a kind of class as entries have it.
func ofClass(kind string) record.Kind { return record.Kind(strings.ToLower(kind)) }

// awsFor bounds how long AWS is waited for.
const awsFor = 20 * time.Second

// classView is a class as it is now, and when that is.
type classView struct {
	*class.Subject
	about record.Object
	now   time.Time
}

// explainClass says how a class is now: whether it is ready, what it selects, what uses it and what cannot be had.
func explainClass(ctx context.Context, at *inspect.Target, store client.Client, reach reachAWS, q question) ([]record.Statement, error) {
	if err := at.Learn(ctx, store); err != nil {
		return nil, err
	}
	found, err := classNamed(ctx, at, store, q.class, q.about.Name)
	if err != nil {
		return nil, err
	}
	v := classView{found, q.about, time.Now().UTC()}
	settings, err := class.Settings(found)
	if err != nil {
		return append([]record.Statement{v.ready()}, v.says("cannot be read", err.Error())), nil
	}
	selected, unasked := atAWS(ctx, at, reach, settings)
	uses, err := v.uses(ctx, store)
	if err != nil {
		return nil, err
	}
	short, err := v.unavailable(ctx, store, at.SystemNamespace(), selected)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]record.Statement{v.ready(), v.selects(settings.Spec, selected, unasked)}, uses, short), nil
}

// classNamed reads a class. The error names those that there are.
func classNamed(ctx context.Context, at *inspect.Target, store client.Client, kindName, name string) (*class.Subject, error) {
	_, older, err := inspect.Served(store)
	if err != nil {
		return nil, err
	}
	kinds := inspect.KindsOfClasses(older, true, at.UsualClasses())
	i := slices.IndexFunc(kinds, func(k class.Kind) bool { return k.Name == kindName })
	if i < 0 {
		return nil, fmt.Errorf("the cluster has no kind %s: its API version is not installed", kindName)
	}
	found, err := kinds[i].ByName(ctx, store, name)
	switch {
	case meta.IsNoMatchError(err):
		return nil, fmt.Errorf("the cluster has no kind %s: install the CustomResourceDefinitions (chart daemok-crd)", kindName)
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("there is no %s %s: %s", kindName, name, existing(ctx, store, kinds[i]))
	case err != nil:
		return nil, fmt.Errorf("read %s %s: %w", kindName, name, err)
	}
	return found, nil
}

// existing says which classes of a kind there are.
func existing(ctx context.Context, store client.Reader, kind class.Kind) string {
	list := kind.NewList()
	if err := store.List(ctx, list); err != nil {
		return err.Error()
	}
	var names []string
	_ = meta.EachListItem(list, func(o runtime.Object) error {
		names = append(names, o.(client.Object).GetName())
		return nil
	})
	if len(names) == 0 {
		return "the cluster has none"
	}
	slices.Sort(names)
	return "the cluster has " + brief.List(names, listedMax)
}

// listedMax is how many things a line lists.
const listedMax = 10

// says is an entry about what is so now.
func (v classView) says(said, why string, more ...string) record.Statement {
	return record.Statement{About: v.about, Said: said, Why: why, More: more, From: v.now, Until: v.now}
}

// ready says whether nodes may be launched from the class, since when, and how each of its conditions is.
func (v classView) ready() record.Statement {
	s := record.Statement{About: v.about, Topic: record.TopicReady, Said: "is ready", From: v.now}
	if why := class.WhyNot(v.Subject); why != "" {
		s.Said, s.Why = "is not ready: nothing is launched from it", why
	}
	ready := condition.Get(v.Subject, condition.Ready)
	if ready == nil {
		return s
	}
	s.From = ready.LastTransitionTime.UTC()
	for _, c := range v.Status.Conditions {
		if c.Type == condition.Ready {
			continue
		}
		text := fmt.Sprintf("%s is %s since %s", c.Type, c.Status, c.LastTransitionTime.UTC().Format(time.DateTime+" UTC"))
		if c.Status != metav1.ConditionTrue || c.Reason != c.Type {
			text += brief.After(": ", c.Reason)
		}
		s.More = append(s.More, text+brief.After(": ", c.Message))
	}
	return s
}

// atAWS is what a class selects, as AWS has it now. Where AWS cannot be asked it is as the class's status says, and why.
func atAWS(ctx context.Context, at *inspect.Target, reach reachAWS, settings nodeclass.Class) (selected nodeclass.Resolved, unasked error) {
	ctx, cancel := context.WithTimeout(ctx, awsFor)
	defer cancel()
	selected = settings.Resolved
	provider, err := reach(ctx, at)
	if err != nil {
		return selected, err
	}
	subnets, err := provider.Subnets(ctx, settings)
	if err != nil {
		return selected, err
	}
	selected.Subnets = subnets
	reservations, err := provider.Reservations(ctx, settings)
	if err != nil {
		return selected, err
	}
	selected.Reservations = reservations
	return selected, nil
}

// selects lists what was found for the class.
func (v classView) selects(spec nodeclass.Spec, found nodeclass.Resolved, unasked error) record.Statement {
	var more []string
	if spec.LaunchTemplate != "" {
		more = append(more, "launch template "+spec.LaunchTemplate+", which has the image, the security groups and the instance profile")
	} else {
		more = append(more, amis(found.Images)...)
	}
	more = append(more, subnets(found.Subnets, unasked == nil)...)
	if spec.LaunchTemplate == "" {
		more = append(more, groupsAndProfile(found)...)
	}
	for _, r := range found.Reservations {
		more = append(more, reservation(r, unasked == nil))
	}
	if g := found.Placement; g != nil {
		more = append(more, fmt.Sprintf("placement group %s (%s), %s", g.ID, g.Name, g.Strategy))
	}
	if unasked != nil {
		return v.says("selects, as the controller found it last", "how much is free was not asked of AWS: "+unasked.Error(), more...)
	}
	return v.says("selects", "", more...)
}

func amis(images []nodeclass.Image) (out []string) {
	for i := range images {
		text := "AMI " + images[i].ID + brief.After(", ", images[i].Name) + brief.After(", for ", images[i].Requirements.String())
		if images[i].Deprecated {
			text += ", deprecated"
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		out = []string{"no AMI"}
	}
	return out
}

func subnets(list []nodeclass.Subnet, counted bool) (out []string) {
	for _, s := range list {
		text := "subnet " + s.ID + " in " + s.Zone
		if counted {
			text += fmt.Sprintf(": %d free addresses", s.Free)
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		out = []string{"no subnet"}
	}
	return out
}

func groupsAndProfile(found nodeclass.Resolved) (out []string) {
	for _, g := range found.Groups {
		out = append(out, "security group "+g.ID+brief.After(", ", g.Name))
	}
	if len(out) == 0 {
		out = []string{"no security group"}
	}
	if found.Profile == "" {
		return append(out, "no instance profile")
	}
	return append(out, "instance profile "+found.Profile)
}

func reservation(r nodeclass.Reservation, counted bool) string {
	text := fmt.Sprintf("capacity reservation %s: %s in %s, %s", r.ID, r.Kind, r.Zone, r.Criteria)
	if counted {
		text += fmt.Sprintf(", room for %d", r.Idle)
	}
	if !r.EndsAt.IsZero() {
		text += ", ends at " + r.EndsAt.UTC().Format(time.DateTime+" UTC")
	}
	return text
}

// ofClasses are reasons of a NodeClaim's condition Drifted that a class gives.
var ofClasses = []string{karpv1.ReasonNodeClassDrift, karpv1.ReasonAMIDrift, karpv1.ReasonSubnetDrift, karpv1.ReasonSecurityGroupDrift,
	karpv1.ReasonCapacityReservationDrift, karpv1.ReasonPlacementGroupDrift}

// use is what a pool has of a class.
type use struct {
	claims  int
	drifted []string // nodes, and why
}

// uses says which pools use the class, how many NodeClaims they have of it, and which of these have drifted from it.
func (v classView) uses(ctx context.Context, store client.Client) ([]record.Statement, error) {
	pools, err := inspect.PoolsOf(ctx, store)
	if err != nil {
		return nil, err
	}
	by := map[string]*use{}
	for _, p := range pools {
		if translate.ClassID(p.Class) == v.ID() {
			by[p.ID.String()] = &use{}
		}
	}
	err = pages.Each(ctx, store, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) {
		for i := range l.Items {
			if c := &l.Items[i]; translate.ClassID(translate.ClassOf(c)) == v.ID() {
				v.count(by, c)
			}
		}
	})
	if err != nil && !meta.IsNoMatchError(err) {
		return nil, err
	}
	if len(by) == 0 {
		return []record.Statement{v.says("is used by no pool, and no NodeClaim is of it", "")}, nil
	}
	var more []string
	for _, pool := range slices.Sorted(maps.Keys(by)) {
		text := fmt.Sprintf("%s: %s", pool, brief.Counted(by[pool].claims, "NodeClaim"))
		if drifted := by[pool].drifted; len(drifted) > 0 {
			slices.Sort(drifted)
			text += fmt.Sprintf(", %d drifted from the class: %s", len(drifted), brief.List(drifted, listedMax))
		}
		more = append(more, text)
	}
	return []record.Statement{v.says("is used by "+brief.Counted(len(by), "pool"), "", more...)}, nil
}

func (v classView) count(by map[string]*use, c *karpv1.NodeClaim) {
	pool := translate.PoolOf(c).String()
	if by[pool] == nil {
		by[pool] = &use{} // it has another class by now, or is gone
	}
	by[pool].claims++
	is := condition.Get(c, karpv1.ClaimDrifted)
	if is == nil || is.Status != metav1.ConditionTrue || !slices.Contains(ofClasses, is.Reason) {
		return
	}
	name := c.Status.NodeName
	if name == "" {
		name = c.Name
	}
	by[pool].drifted = append(by[pool].drifted, name+" ("+is.Reason+")")
}

// unavailable says which offerings in the zones of the class could not be had lately, and until when they are left out.
func (v classView) unavailable(ctx context.Context, store client.Reader, namespace string, found nodeclass.Resolved) ([]record.Statement, error) {
	all, err := remember.Unavailable(ctx, store, namespace)
	if apierrors.IsForbidden(err) {
		return []record.Statement{v.says("may have unavailable offerings", err.Error())}, nil
	}
	if err != nil {
		return nil, err
	}
	by := map[string][]cloud.Unavailable{}
	for _, u := range all {
		if u.Until.After(v.now) && concerns(u, found) {
			by[shortage(u)] = append(by[shortage(u)], u)
		}
	}
	if len(by) == 0 {
		return []record.Statement{v.says("has no offering that is known to be unavailable now", "")}, nil
	}
	var more []string
	for _, what := range slices.Sorted(maps.Keys(by)) {
		more = append(more, what+v.until(by[what]))
	}
	return []record.Statement{v.says("has offerings that are unavailable now, and are left out", "", more...)}, nil
}

// until says in which zones something is unavailable, and until when: the last of them.
func (v classView) until(list []cloud.Unavailable) string {
	var zones []string
	last := list[0].Until
	for _, u := range list {
		if u.Zone != "" {
			zones = append(zones, u.Zone)
		}
		if u.Until.After(last) {
			last = u.Until
		}
	}
	slices.Sort(zones)
	return fmt.Sprintf("%s: until %s, for %s", brief.After(" in ", strings.Join(slices.Compact(zones), ", ")), last.UTC().Format(time.DateTime+" UTC"), last.Sub(v.now).Round(time.Second))
}

// concerns reports whether what is unavailable is what the class would launch with.
func concerns(u cloud.Unavailable, found nodeclass.Resolved) bool {
	switch {
	case u.Subnet != "":
		return slices.ContainsFunc(found.Subnets, func(s nodeclass.Subnet) bool { return s.ID == u.Subnet })
	case u.Reservation != "":
		return slices.ContainsFunc(found.Reservations, func(r nodeclass.Reservation) bool { return r.ID == u.Reservation })
	case u.Zone != "":
		return slices.ContainsFunc(found.Subnets, func(s nodeclass.Subnet) bool { return s.Zone == u.Zone })
	}
	return true
}

// shortage is what is unavailable, in words, but for its zone.
func shortage(u cloud.Unavailable) string {
	switch {
	case u.Subnet != "":
		return "subnet " + u.Subnet + ", which has no free address"
	case u.Reservation != "":
		return "capacity reservation " + u.Reservation
	case u.Quota != "":
		return fmt.Sprintf("%s instances of %d vCPUs or more, by the account's limit of vCPUs (%s)", u.Option, u.VCPUsLeast, u.Quota)
	case u.Kind != "":
		return fmt.Sprintf("%s, %s%s,", u.Kind, u.Option, brief.After(", in ", u.Place))
	}
	return fmt.Sprintf("all %s instances", u.Option)
}
