package place

import (
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/fit"
	"github.com/daemok/daemok/core/topology"
)

// domainsTried is for how many domains that would do a reason says why they
// cannot be had.
const domainsTried = 2

// crowded tells which rules about other pods keep the group from spots that
// could have it, and why it cannot be where these rules would have it.
func (r *run) crowded(g *group, spots []topology.Spot) (string, bool) {
	lv := g.kin.required()
	if !r.counted || len(spots) == 0 {
		return "", false
	}
	for _, m := range r.marketsOf(lv) {
		r.board.Open(lv.rules, m.spot)
	}
	found := r.board.Obstacles(lv.rules, spots)
	if len(found) == 0 {
		return "", false
	}
	words := make([]string, len(found))
	for i := range found {
		words[i] = r.obstacle(&found[i])
	}
	text := strings.Join(words, ", and ")
	for _, d := range openTo(found, g.shape) {
		text += "; " + r.whyNotIn(g, found[0].Key, d)
	}
	return text, true
}

// openTo lists a few domains of the first obstacle's key that all obstacles on
// this key would allow, and the pods themselves.
func openTo(found []topology.Obstacle, s *cluster.Shape) []string {
	var out []string
	terms := fit.Alternatives(s)
	for _, d := range found[0].Open {
		wanted := len(terms) == 0 || slices.ContainsFunc(terms, func(t constraint.Requirements) bool { return t.Get(found[0].Key).Allows(d) })
		if wanted && !slices.ContainsFunc(found, func(o topology.Obstacle) bool { return o.Key == found[0].Key && !slices.Contains(o.Open, d) }) {
			out = append(out, d)
		}
	}
	return out[:min(len(out), domainsTried)]
}

// podsNamed is how many pods an obstacle names.
const podsNamed = 3

// obstacle says which rule it is and where the pods are that it is about.
func (r *run) obstacle(o *topology.Obstacle) string {
	if o.Chooses == nil {
		return o.Text
	}
	where := r.wherePods(o)
	if len(where) == 0 {
		return o.Text
	}
	more := further(len(where) - podsNamed)
	return o.Text + " (" + strings.Join(where[:min(len(where), podsNamed)], ", ") + more + ")"
}

// wherePods lists the pods that an obstacle is about with their domains:
// running ones, then those that the plan places.
func (r *run) wherePods(o *topology.Obstacle) []string {
	var out []string
	for i := range r.snapshot.Nodes {
		n := &r.snapshot.Nodes[i]
		domain, ok := n.Labels.Get(o.Key)
		for j := range n.Pods {
			if p := &n.Pods[j]; ok && o.Chooses(p.Shape) && !(n.Deleting && moves(p)) {
				out = append(out, p.Namespace+"/"+p.Name+" in "+domain)
			}
		}
	}
	k := slices.Index(r.board.Keys(), o.Key)
	for _, x := range r.seated {
		if !o.Chooses(x.Shape) || k < 0 {
			continue
		}
		domain := ""
		if d := r.board.Spot(x.place(r))[k]; d >= 0 {
			domain = r.board.Value(k, d)
		}
		if domain != "" {
			out = append(out, x.Namespace+"/"+x.Name+" in "+strings.TrimPrefix(domain, "/"))
		}
	}
	return out
}

// whyNotIn tells why pods of the group cannot be in a domain that rules about
// other pods would have them in.
func (r *run) whyNotIn(g *group, key, domain string) string {
	pin := constraint.NewRequirements(constraint.Requirement{Key: key, Set: constraint.Values(domain)})
	bound := *g.shape
	bound.NodeTerms = fit.Cross(g.shape.NodeTerms, []constraint.Requirements{pin})
	var best fit.Changes
	name, sold := "", false
	consider := func(who string, c fit.Changes) {
		if name == "" || c.Effort() < best.Effort() {
			name, best = who, c
		}
	}
	for _, b := range r.buyers {
		if foreign := about(key, b.Nearest(&bound)); !foreign && !excluded(g.shape, b) {
			sold = true
			consider(b.ID.String(), b.Nearest(&bound, r.bounds(b)...))
		}
	}
	for i := range r.snapshot.Nodes {
		n := &r.snapshot.Nodes[i]
		if value, _ := n.Labels.Get(key); value == domain && !n.Deleting {
			consider("node "+n.Name, r.changesOn(g, n))
		}
	}
	where := domain + ": "
	if key == cluster.LabelHostname {
		where = ""
	}
	switch {
	case name == "" && key == cluster.LabelHostname:
		return domain + " is on its way" + r.lacking(g, domain)
	case name == "":
		return domain + ": no node is there, and no pool buys there"
	case len(best) == 0:
		return where + name + " would do, but " + r.noChange(g)
	case !sold && len(r.buyers) > 0 && key != cluster.LabelHostname:
		return where + name + ": " + best.String() + ", and no pool buys there"
	}
	return where + name + ": " + best.String()
}

// lacking says what a machine on its way has too little of for a pod of the
// group.
func (r *run) lacking(g *group, name string) string {
	at := slices.IndexFunc(r.seats, func(s *seat) bool { return s.ordered != nil && s.name == name })
	if at < 0 {
		return ", and no more fits there"
	}
	var missing fit.Changes
	for i, need := range r.needOn(g, r.seats[at]) {
		if free := r.seats[at].free[i]; need > 0 && need > free {
			missing = append(missing, r.missing(i, need, free))
		}
	}
	if len(missing) == 0 {
		return ", and no more fits there"
	}
	return ": " + missing.String()
}

// about reports whether a label is among what would have to be different.
func about(key string, list fit.Changes) bool {
	return slices.ContainsFunc(list, func(c fit.Change) bool { return c.Rule == fit.Label && c.Key == key })
}

// claimInUse names the volume claim for one pod at a time that the group waits
// for, and the pod that has it.
func (r *run) claimInUse(g *group) string {
	for _, v := range g.kin.shared {
		if !v.Exclusive || !r.held[v.Claim] {
			continue
		}
		text := "volume claim " + v.Claim + " is ReadWriteOncePod and "
		if user, ok := r.userOf(v.Claim); ok {
			return text + user + " uses it: it is free when that pod is gone"
		}
		return text + "in use by another pod"
	}
	return "a volume claim of it is ReadWriteOncePod, and another pod uses it"
}

func (r *run) userOf(claim string) (string, bool) {
	uses := func(s *cluster.Shape) bool {
		return slices.ContainsFunc(s.Volumes, func(v cluster.Volume) bool { return v.Claim == claim })
	}
	for i := range r.snapshot.Nodes {
		for _, p := range r.snapshot.Nodes[i].Pods {
			if uses(p.Shape) && !(r.snapshot.Nodes[i].Deleting && moves(&p)) {
				return p.Namespace + "/" + p.Name, true
			}
		}
	}
	for _, x := range r.seated {
		if uses(x.Shape) {
			return x.Namespace + "/" + x.Name, true
		}
	}
	return "", false
}
