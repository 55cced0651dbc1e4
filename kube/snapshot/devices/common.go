package devices

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/device"
	"github.com/daemok/daemok/core/effort"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/kube/translate/resourceclaim"
)

// common is how the devices that several nodes can use are divided among the pods that wait for devices. The zero
// value: there are none.
type common struct {
	of    map[part]map[string]*corev1.NodeSelector // by the name of a bundle: the nodes that can use the devices for it
	mixed map[string]bool                          // as in a division
	short map[string]bool                          // as in a division
	vague map[string]bool                          // as in a division
	by    string                                   // equal where the same would come out
}

// part is one claim of a pod, by its position, or one that pods share.
type part struct {
	shared types.NamespacedName
	pod    types.UID
	at     int
}

func partOf(use podspec.DeviceUse, at int) part {
	if use.Template == "" {
		return part{shared: use.Claim}
	}
	return part{pod: use.Pod, at: at}
}

// wanting is a pod that may have devices that several nodes can use.
type wanting struct {
	shape cluster.Shape // without devices
	uid   types.UID
	parts []part
	of    [][]device.Counted // by part
	must  bool               // no node of its own has the devices for one of its claims
	had   bool               // it had some before
	state podspec.DeviceUserState
}

// divideCommon divides the devices that several nodes can use among the pods that wait. They come first to pods that
// can have such devices alone, then to those that had them before, by when they can be placed, and by UID. What a
// request asks for is taken from devices of the same nodes. No pod gets any where no node that can use them is one
// where it may run; one that could have devices of a new node gets none unless a new node can use them as well.
func (t *Table) divideCommon() {
	before := t.common
	if t.world.dimensions == nil || !t.world.common {
		t.common = common{}
		t.stale = t.stale || len(before.of)+len(before.mixed) > 0
		return
	}
	commons := t.reader.Commons(t.published(), resourceclaim.AllocatedTo(t.claims))
	d := &division{t: t, commons: commons, places: map[string]place{}, failed: map[shortage]bool{},
		vague: map[string]bool{}}
	for i := range commons {
		d.given = append(d.given, commons[i].Unallocated())
		d.efforts = append(d.efforts, &effort.Count{Most: 10 * device.StepsMax})
	}
	pods, by := d.wanting(), ""
	for i := range pods {
		by += fmt.Sprint(pods[i].uid, pods[i].state, pods[i].must, pods[i].parts)
		for k := range commons {
			by += fmt.Sprint(d.place(&pods[i].shape, k))
		}
		for _, of := range pods[i].of {
			for _, b := range of {
				by += b.Name + fmt.Sprint(b.N)
			}
		}
	}
	if by == before.by && !t.stale && !t.moved {
		return
	}
	d.sort(pods)
	t.common = common{of: map[part]map[string]*corev1.NodeSelector{}, mixed: d.mixed, short: d.short,
		vague: d.vague, by: by}
	for i := range pods {
		d.give(&pods[i], t.common.of)
	}
	what := func(c *common) string { return fmt.Sprint(c.of, c.mixed, c.short, c.vague) }
	t.stale = t.stale || what(&before) != what(&t.common)
}

// wanting lists the pods that wait for devices, in the order in which they get those that several nodes can use.
func (d *division) wanting() (out []wanting) {
	t, c := d.t, claimants{t: d.t}
	for user := range t.shapes.DeviceUsers() {
		if user.Node != "" || !c.isAble(user) {
			continue
		}
		w := wanting{shape: t.shapes.WithoutDevices(user)}
		for i, use := range user.DeviceUses() {
			spec, claim, _ := t.look(use)
			if claim != nil && claim.Status.Allocation != nil || use.State == podspec.NeedsNone || use.Pod == "" ||
				use.Template == "" && t.shared[use.Claim].by != use.Pod {
				continue
			}
			w.uid, w.state = use.Pod, use.State
			w.parts, w.of = append(w.parts, partOf(use, i)), append(w.of, merged(t.read[spec].bundles))
			w.had = w.had || len(t.common.of[partOf(use, i)]) > 0
			for _, b := range t.read[spec].bundles {
				w.must = w.must || !t.world.local[b.Name]
			}
		}
		if len(w.parts) > 0 {
			out = append(out, w)
		}
	}
	rank := func(w *wanting) int {
		switch {
		case w.must && w.had:
			return 0
		case w.must:
			return 1
		case w.had:
			return 2
		}
		return 3
	}
	slices.SortFunc(out, func(a, b wanting) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.state, b.state), cmp.Compare(a.uid, b.uid))
	})
	return out
}

// merged is the bundles with equal ones as one: a claim has all of these from the same nodes, or none.
func merged(of []device.Counted) (out []device.Counted) {
	for _, b := range of {
		same := func(c device.Counted) bool { return c.Name == b.Name }
		if at := slices.IndexFunc(out, same); at >= 0 {
			out[at].N += b.N
		} else {
			out = append(out, b)
		}
	}
	return out
}

// division is what has been given to pods of the devices that several nodes can use.
type division struct {
	t       *Table
	commons []resourceclaim.Common
	places  map[string]place
	given   []*device.Allocation // by position among the commons
	efforts []*effort.Count      // by position among the commons: what allocating anew may take
	mixed   map[string]bool      // bundles of all devices, of which different nodes can use some
	short   map[string]bool      // other bundles that can be had from the commons alone
	vague   map[string]bool      // bundles for which it takes too many steps to find out what is left
	failed  map[shortage]bool
}

// place says where a pod can be that uses certain devices.
type place int

const (
	nowhere place = iota
	onNodes       // that exist, alone
	onNew         // ones too
)

// place says where a pod of a shape can be with devices of one of the commons.
func (d *division) place(shape *cluster.Shape, common int) place {
	terms, ok := podspec.Reaching(*shape, d.commons[common].From)
	return d.meeting(shape, terms, ok)
}

// meeting says where nodes are that meet one of these alternatives, if there is any such.
func (d *division) meeting(shape *cluster.Shape, terms []constraint.Requirements, any bool) place {
	if !any {
		return nowhere
	}
	a := ask{terms: terms, tolerations: shape.Tolerations, requests: shape.Requests}
	key := fmt.Sprint(a.terms, a.tolerations, a.requests)
	out, known := d.places[key]
	if !known {
		switch {
		case a.mayBeOfAny(d.t.offers):
			out = onNew
		case d.isThere(terms):
			out = onNodes
		}
		d.places[key] = out
	}
	return out
}

// isThere reports whether some node meets one of these alternatives.
func (d *division) isThere(terms []constraint.Requirements) bool {
	for n := range d.t.nodes.All() {
		if meetsAny(n, terms) {
			return true
		}
	}
	return false
}

// shortage is bundles for which nothing was left where nothing has been given back since.
type shortage struct {
	at   int
	name string
	n    int64
}

// give gives devices to a pod. One that cannot have all that it can have from here alone gets none.
func (d *division) give(w *wanting, to map[part]map[string]*corev1.NodeSelector) {
	given, shape := slices.Clone(d.given), w.shape
	got := make([]map[string]*corev1.NodeSelector, len(w.parts))
	for i, of := range w.of {
		got[i] = map[string]*corev1.NodeSelector{}
		for _, b := range of {
			at := d.find(&shape, b)
			switch {
			case at >= 0:
				got[i][b.Name] = d.commons[at].From
				podspec.ReachDevices(&shape, d.commons[at].From)
			case !d.t.world.local[b.Name]:
				d.given = given
				clear(d.failed)
				return
			}
		}
	}
	for i, p := range w.parts {
		if len(got[i]) > 0 {
			to[p] = got[i]
		}
	}
}

// find gives so many bundles devices of the same nodes, of those where the pod may be, and returns which; -1: none.
func (d *division) find(shape *cluster.Shape, b device.Counted) int {
	if d.mixed[b.Name] {
		return -1
	}
	least := onNodes
	if d.t.world.local[b.Name] {
		if terms, ok := podspec.Reaching(*shape, nil); d.meeting(shape, terms, ok) == onNew {
			least = onNew
		}
	}
	for want := onNew; want >= least; want-- {
		for i := range d.commons {
			c := &d.commons[i]
			if !meets(b.Bundle, &c.Inventory) || d.failed[shortage{i, b.Name, b.N}] || d.place(shape, i) != want {
				continue
			}
			next, known := d.given[i].With(slices.Repeat([]*device.Bundle{b.Bundle}, int(b.N)), d.efforts[i])
			if next != nil {
				d.given[i] = next
				return i
			}
			d.vague[b.Name] = d.vague[b.Name] || !known
			d.failed[shortage{i, b.Name, b.N}] = true
		}
	}
	return -1
}

// sort finds the bundles that are mixed or short.
func (d *division) sort(pods []wanting) {
	d.mixed, d.short = map[string]bool{}, map[string]bool{}
	for i := range pods {
		for _, b := range slices.Concat(pods[i].of...) {
			n := 0
			for k := range d.commons {
				if meets(b.Bundle, &d.commons[k].Inventory) {
					n++
				}
			}
			switch local := d.t.world.local[b.Name]; {
			case b.OfAll() && (n > 1 || n == 1 && local):
				d.mixed[b.Name] = true
			case n > 0 && !local:
				d.short[b.Name] = true
			}
		}
	}
}

// meets reports whether the inventory has a device for the bundle, free or not.
func meets(b *device.Bundle, inv *device.Inventory) bool {
	return slices.ContainsFunc(inv.Devices, func(d device.Device) bool { return b.MayUse(&d) })
}

// whyNot says why no node can be planned for one of the bundles; empty: there is no such reason.
func (c *common) whyNot(of []device.Counted) string {
	for _, b := range of {
		if c.mixed[b.Name] {
			return fmt.Sprintf("a ResourceClaim of the pod requests all devices %s, and different nodes can use some "+
				"of these: request a number of them", strings.TrimPrefix(b.Name, "all*"))
		}
		if c.short[b.Name] && c.vague[b.Name] {
			return fmt.Sprintf("it takes too many steps to find out whether devices %s are left that several nodes "+
				"can use: request devices in fewer different ways, or wait until other pods have theirs", b.Name)
		}
		if c.short[b.Name] {
			return fmt.Sprintf("the devices %s are taken, or other nodes can use them than those that the pod may "+
				"run on", b.Name)
		}
	}
	return ""
}

// reach has a pod go to a node that can use the devices that it was given, and returns the bundles that have to
// be on its node itself.
func (c *common) reach(shape *cluster.Shape, of []device.Counted, p part) []device.Counted {
	given := c.of[p]
	if len(given) == 0 {
		return of
	}
	var own []device.Counted
	for _, b := range of {
		if from, is := given[b.Name]; is {
			podspec.ReachDevices(shape, from)
		} else {
			own = append(own, b)
		}
	}
	return own
}

// mayBeLocal reports whether kube-scheduler may give one of the bundles devices of a node itself.
func (w *world) mayBeLocal(of []device.Counted) bool {
	return slices.ContainsFunc(of, func(b device.Counted) bool { return w.local[b.Name] })
}

// reachAllocated does the same for a pod on a node with devices of that node, which the pod in its place gets anew:
// those of several nodes it can have again.
func (w *world) reachAllocated(shape *cluster.Shape, of []device.Counted,
	allocation *resourcev1.AllocationResult) []device.Counted {
	if !w.common {
		return of
	}
	any := false
	for _, r := range allocation.Devices.Results {
		if from, common := resourceclaim.CommonTo(w.from.pools, r); common {
			podspec.ReachDevices(shape, from)
			any = true
		}
	}
	if !any {
		return of
	}
	return slices.DeleteFunc(slices.Clone(of), func(b device.Counted) bool { return !w.local[b.Name] })
}
