package decide

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// ofRequest begins what an instance is called, while the plan is made, that is launched for requests that have had
// their capacity, or some of their instances, before: no claim has such a name.
const ofRequest = "request "

// bookings is where ProvisioningRequests have their capacity.
//
// Those that have it already, and those that something was launched for, come before all pods: none may count on what
// is kept for them. Others seek it after all pods, the oldest first, each all of it or nothing.
type bookings struct {
	launches  []plan.Launch    // for those that come first
	pods      []plan.Placement // of pods that wait and consume them
	held      []plan.Placement // of virtual pods
	sought    secured          // by the others
	requested []plan.Requested
	named     int // launches
	spotMore  quantity.MicroUSDPerHour
	steps     int64
	exhausted bool // places were not sought for all
}

// secured is what is launched and taken for requests that sought capacity.
type secured struct {
	launches []plan.Launch
	places   []plan.Placement
}

// bookingsOf finds places for the requests that come first.
//
// Cost: that of a plan for as many pods, where there are such requests.
func bookingsOf(s *cluster.Snapshot, policy Policy, effort Effort) (out bookings) {
	if len(s.Requested) == 0 || policy.IgnoreRequests {
		return out
	}
	out.requested = []plan.Requested{} // something was decided
	base := withPromises(s)
	for _, launches := range []bool{true, false} {
		out.keep(base, launches, policy, effort)
	}
	for _, r := range oldestFirst(s.Requested) {
		switch {
		case r.Provisioned:
		case !r.Seeks(s.Now):
			out.requested = append(out.requested, plan.Requested{
				Namespace: r.Namespace, Name: r.Name, Want: r.Total(), Waits: waits(r),
			})
		case len(r.Claims) > 0:
			found := out.try(base, r, out.launches, slices.Concat(out.pods, out.held), policy, effort)
			out.launches, out.held = append(out.launches, found.launches...), append(out.held, found.places...)
		}
	}
	return out
}

// waits says why the capacity of a request is not sought.
func waits(r *cluster.ProvisioningRequest) string {
	if r.NotReady != "" {
		return r.NotReady
	}
	return "its capacity is sought again at " + r.RetryAt.UTC().Format("15:04:05")
}

// oldestFirst lists requests in the order in which they seek capacity.
func oldestFirst(list []cluster.ProvisioningRequest) []*cluster.ProvisioningRequest {
	out := make([]*cluster.ProvisioningRequest, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	slices.SortStableFunc(out, func(a, b *cluster.ProvisioningRequest) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return out
}

// keep finds places for what requests have that may launch, or may not: for virtual pods, and for pods that
// consume them.
func (b *bookings) keep(base *cluster.Snapshot, launches bool, policy Policy, effort Effort) {
	var pods []cluster.Pod
	var of []*cluster.ProvisioningRequest
	for i := range base.Requested {
		if r := &base.Requested[i]; r.Launches == launches && r.Books(base.Now) {
			of = append(of, r)
			pods = append(pods, besideConsumers(r.Virtual(), consumersOf(base, r))...)
			pods = append(pods, consumersOf(base, r)...)
		}
	}
	if len(of) == 0 {
		return
	}
	found := b.places(base, b.launches, slices.Concat(b.pods, b.held), pods, launches, policy, effort)
	b.launches, b.spotMore = append(b.launches, found.Launches...), b.spotMore+found.SpotMore
	places := map[plan.VirtualPods][]plan.Placement{}
	for _, p := range found.Placements {
		if p.Pod.Shape.Virtual {
			places[ownerOf(&p.Pod)] = append(places[ownerOf(&p.Pod)], p)
			b.held = append(b.held, p)
		} else {
			b.pods = append(b.pods, p)
		}
	}
	for _, r := range of {
		name := ownerIs(r)
		out := plan.Requested{Namespace: r.Namespace, Name: r.Name, Booked: true, Places: places[name]}
		for i := range pods {
			if pods[i].Shape.Virtual && ownerOf(&pods[i]) == name {
				out.Want++
			}
		}
		out.Missing = out.Want - int64(len(out.Places))
		out.Reasons = reasonsOf(r, found.Unplaced)
		b.requested = append(b.requested, out)
	}
}

// try finds places for all pods of a request or for none.
func (b *bookings) try(
	s *cluster.Snapshot, r *cluster.ProvisioningRequest, launches []plan.Launch, taken []plan.Placement,
	policy Policy, effort Effort,
) (out secured) {
	pods := r.Virtual()
	said := plan.Requested{Namespace: r.Namespace, Name: r.Name, Want: int64(len(pods))}
	found := b.places(s, launches, taken, pods, r.Launches, policy, effort)
	if said.Missing = said.Want - int64(len(found.Placements)); said.Missing > 0 {
		said.Reasons = reasonsOf(r, found.Unplaced)
		b.named -= len(found.Launches) // none of them counts
		b.requested = append(b.requested, said)
		return out
	}
	b.spotMore += found.SpotMore
	said.Places, said.Starting = found.Placements, starting(s, found.Placements)
	b.requested = append(b.requested, said)
	return secured{found.Launches, found.Placements}
}

// starting counts the places on instances that are not known to be launched.
func starting(s *cluster.Snapshot, places []plan.Placement) (n int64) {
	launched := map[string]bool{}
	for i := range s.Instances {
		launched[s.Instances[i].Claim] = s.Instances[i].Launched
	}
	for _, p := range places {
		if p.On == plan.OnLaunch || p.On == plan.OnInstance && !launched[p.Target] {
			n++
		}
	}
	return n
}

// places finds places beside what is launched and taken. Launches have names of their own within the plan.
func (b *bookings) places(
	s *cluster.Snapshot, launches []plan.Launch, taken []plan.Placement, pods []cluster.Pod, may bool,
	policy Policy, effort Effort,
) place.Result {
	with := withPlaced(s, launches, taken)
	with.Waiting = pods
	if !may {
		with.Pools = closedPools(with.Pools, noRoom)
	}
	found := homesOfVirtual(with, policy, effort)
	b.steps, b.exhausted = b.steps+found.Steps, b.exhausted || found.Exhausted
	names := map[string]string{}
	for i := range found.Launches {
		l := &found.Launches[i]
		b.named++
		names[l.Name] = fmt.Sprintf("request-%d", b.named)
		l.Name, l.Joins = names[l.Name], nil
		l.PartVirtual()
	}
	for i := range found.Placements {
		found.Placements[i] = landed(found.Placements[i], names)
	}
	return found
}

// requestsAtOnce is for how many requests that have nothing yet one plan seeks places at most: each is a search of its
// own.
const requestsAtOnce = 50

// seek finds places for requests that have nothing yet, after all pods have theirs. Requests that would make the
// plan too large wait for the next one.
func (b *bookings) seek(
	s *cluster.Snapshot, launches []plan.Launch, taken []plan.Placement, policy Policy, effort Effort,
) {
	if policy.IgnoreRequests {
		return
	}
	left, tries := int64(cluster.ProvisioningRequestPodsMax), requestsAtOnce
	for _, r := range oldestFirst(s.Requested) {
		if !r.Seeks(s.Now) || len(r.Claims) > 0 {
			continue
		}
		if left, tries = left-r.Total(), tries-1; left < 0 || tries < 0 {
			b.requested = append(b.requested, plan.Requested{
				Namespace: r.Namespace, Name: r.Name, Want: r.Total(),
				Waits: "older requests come first, and the next plan seeks its capacity",
			})
			continue
		}
		found := b.try(s, r,
			slices.Concat(launches, b.sought.launches), slices.Concat(taken, b.sought.places), policy, effort)
		b.sought.launches = append(b.sought.launches, found.launches...)
		b.sought.places = append(b.sought.places, found.places...)
	}
}

// passOver has requests that would get capacity on nodes which go with the plan, whatever is on them, wait for the next
// plan, which knows these as closed. Booked ones keep what they have elsewhere.
func passOver(list []plan.Requested, removals []plan.Removal) {
	goes := map[string]bool{}
	for i := range removals {
		goes[removals[i].Node] = true
	}
	for i := range list {
		r := &list[i]
		at := slices.IndexFunc(r.Places, func(p plan.Placement) bool { return p.On == plan.OnNode && goes[p.Target] })
		if at < 0 || r.Booked {
			continue
		}
		r.Waits = fmt.Sprintf("node %s, which has room for it, is removed: the next plan seeks its capacity elsewhere",
			r.Places[at].Target)
		r.Places, r.Starting = nil, 0
	}
}

// said lists what becomes of the requests, sorted by namespace and name.
func (b *bookings) said() []plan.Requested {
	slices.SortFunc(b.requested, func(x, y plan.Requested) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	return b.requested
}

// begun is the snapshot with what is kept for requests where it is, as if the pods ran there. Pods that consume a
// request which has no capacity yet wait for it: nothing is launched for them. Nodes that were launched for one that
// got no capacity for all its pods are not needed.
func (b *bookings) begun(s *cluster.Snapshot, policy Policy) *cluster.Snapshot {
	if len(s.Requested) == 0 || policy.IgnoreRequests {
		return s
	}
	placed := map[[2]string]bool{}
	for i := range b.pods {
		placed[demand.PodKey(&b.pods[i].Pod)] = true
	}
	has := func(p cluster.Pod) bool { return placed[demand.PodKey(&p)] }
	out := withInstances(s, b.launches, ofRequest)
	out.Waiting = slices.DeleteFunc(waitingFor(s), has)
	on := map[target][]cluster.Pod{}
	for _, p := range b.taken() {
		on[target{p.On, p.Target}] = append(on[target{p.On, p.Target}], p.Pod)
	}
	unneeded := b.givenUp(s)
	for i := range out.Nodes {
		n := &out.Nodes[i]
		n.Unneeded = unneeded[n.Claim]
		pods := on[target{plan.OnNode, n.Name}]
		for _, p := range pods {
			n.Add(p.MovedTo(n.Name))
		}
		n.LaunchedFor = slices.DeleteFunc(slices.Clone(n.LaunchedFor), has)
		real := slices.DeleteFunc(pods, func(p cluster.Pod) bool { return p.Shape.Virtual })
		n.LaunchedFor = append(n.LaunchedFor, real...)
	}
	for i := range out.Instances {
		m := &out.Instances[i]
		m.Pods = slices.Concat(m.Pods, on[target{plan.OnInstance, m.Claim}])
		m.LaunchedFor = slices.DeleteFunc(slices.Clone(m.LaunchedFor), has)
	}
	out.SortLists()
	return out
}

// givenUp lists the NodeClaims that were launched for requests which have not had their capacity, and do not get
// it now.
func (b *bookings) givenUp(s *cluster.Snapshot) map[string]bool {
	out := map[string]bool{}
	for i := range s.Requested {
		r := &s.Requested[i]
		gets := slices.ContainsFunc(b.requested, func(x plan.Requested) bool {
			return x.Namespace == r.Namespace && x.Name == r.Name && x.Waits == "" && x.Missing == 0
		})
		for _, claim := range r.Claims {
			if !r.Provisioned && !gets {
				out[claim] = true
			}
		}
	}
	return out
}

// waitingFor is the pods that wait, of which those that consume a request without capacity can have no instance.
func waitingFor(s *cluster.Snapshot) []cluster.Pod {
	out := slices.Clone(s.Waiting)
	type of struct {
		shape   *cluster.Shape
		request string
	}
	shapes := map[of]*cluster.Shape{}
	for i := range s.Requested {
		r := &s.Requested[i]
		if r.Provisioned {
			continue
		}
		why := fmt.Sprintf("it consumes ProvisioningRequest %s/%s, which has no capacity yet: %s",
			r.Namespace, r.Name, cmp.Or(r.NotReady, "it is sought"))
		for _, name := range r.Consumers {
			at, found := slices.BinarySearchFunc(out, cluster.Pod{Namespace: r.Namespace, Name: name}, plan.ByName)
			if !found {
				continue
			}
			key := of{out[at].Shape, r.Name}
			if shapes[key] == nil {
				unable := *out[at].Shape
				unable.Unable = why
				shapes[key] = &unable
			}
			out[at].Shape = shapes[key]
		}
	}
	return out
}

// consumersOf lists the pods that wait and consume the request.
func consumersOf(s *cluster.Snapshot, r *cluster.ProvisioningRequest) (out []cluster.Pod) {
	for _, name := range r.Consumers {
		at, found := slices.BinarySearchFunc(s.Waiting, cluster.Pod{Namespace: r.Namespace, Name: name}, plan.ByName)
		if found {
			out = append(out, s.Waiting[at])
		}
	}
	return out
}

// besideConsumers leaves out one virtual pod for each that has come in its place: one that requests the same,
// where there is one.
func besideConsumers(virtual, consumers []cluster.Pod) []cluster.Pod {
	for i := range consumers {
		if len(virtual) == 0 {
			return nil
		}
		asks := consumers[i].Shape.Requests
		at := slices.IndexFunc(virtual, func(p cluster.Pod) bool { return p.Shape.Requests.Equal(asks) })
		virtual = slices.Delete(virtual, max(0, at), max(0, at)+1)
	}
	return virtual
}

// withPromises is the snapshot where nodes and instances have the pods that they were launched
// for, so that what is kept for requests is not sought there. Pods of booked requests get their places with these.
func withPromises(s *cluster.Snapshot) *cluster.Snapshot {
	consumes := map[[2]string]bool{}
	for i := range s.Requested {
		if !s.Requested[i].Books(s.Now) {
			continue // its pods are placed as all others are
		}
		for _, name := range s.Requested[i].Consumers {
			consumes[[2]string{s.Requested[i].Namespace, name}] = true
		}
	}
	others := func(pods []cluster.Pod) []cluster.Pod {
		return slices.DeleteFunc(slices.Clone(pods), func(p cluster.Pod) bool { return consumes[demand.PodKey(&p)] })
	}
	out := *s
	out.Nodes, out.Instances = slices.Clone(s.Nodes), slices.Clone(s.Instances)
	for i := range out.Nodes {
		n := &out.Nodes[i]
		for _, p := range others(n.LaunchedFor) {
			n.Add(p.MovedTo(n.Name))
		}
	}
	for i := range out.Instances {
		m := &out.Instances[i]
		m.Pods = slices.Concat(m.Pods, others(m.LaunchedFor))
	}
	return &out
}

// ownerOf names what a virtual pod is of.
func ownerOf(p *cluster.Pod) plan.VirtualPods {
	of := plan.VirtualPodsOf([]cluster.Pod{*p})[0]
	of.Pods = 0
	return of
}

func ownerIs(r *cluster.ProvisioningRequest) plan.VirtualPods {
	return plan.VirtualPods{Kind: plan.KindRequest, Namespace: r.Namespace, Name: r.Name}
}

// noRoom is why a check-capacity request has no capacity: what pools could launch is not asked.
const noRoom = "nodes that are there or coming have no room, and nothing is launched for a check-capacity request"

// reasonsOf says why pods of the request have no place.
func reasonsOf(r *cluster.ProvisioningRequest, unplaced []plan.Unplaced) (out []plan.Reason) {
	owner := ownerIs(r)
	for _, u := range unplaced {
		if !u.Shape.Virtual || !slices.ContainsFunc(u.Pods, func(p cluster.Pod) bool { return ownerOf(&p) == owner }) {
			continue
		}
		if !r.Launches && u.Shape.Unable == "" {
			return []plan.Reason{{Text: noRoom}}
		}
		out = append(out, u.Reasons...)
	}
	return out
}

// taken lists the places as they are while the plan is made: launches are among the instances then.
func (b *bookings) taken() []plan.Placement {
	out := slices.Concat(b.pods, b.held)
	for i := range out {
		if p := &out[i]; p.On == plan.OnLaunch {
			p.On, p.Target = plan.OnInstance, ofRequest+p.Target
		}
	}
	return out
}

// join adds what requests need to the plan. Instances that it launches for those that came first have their names
// within the plan, and name the pods that will find room on them.
func (b *bookings) join(p *plan.Plan) {
	rename(p, b.launches, ofRequest)
	p.Launches = concat(b.launches, p.Launches)
	p.Placements = concat(p.Placements, b.pods)
}
