package explanation

import (
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/topology"
)

// domainsTried is for how many domains that would do a reason says why they
// cannot be had.
const domainsTried = 2

// crowded reports which rules about other pods keep these from spots that could have them, and why
// they cannot be where these rules would have them.
func (w *World) crowded(p *Pods, spots []topology.Spot) (string, bool) {
	if !w.Counted || len(spots) == 0 {
		return "", false
	}
	for _, spot := range p.Search.OfferingSets() {
		w.Board.Open(p.Rules, spot)
	}
	found := w.Board.Obstacles(p.Rules, spots)
	if len(found) == 0 {
		return "", false
	}
	words := make([]string, len(found))
	for i := range found {
		words[i] = w.obstacle(&found[i])
	}
	text := strings.Join(words, ", and ")
	for _, d := range openTo(found, p.Shape) {
		text += "; " + w.whyNotIn(p, found[0].Key, d)
	}
	return text, true
}

// openTo lists a few domains of the first obstacle's key that all obstacles on
// this key would allow, and the pods themselves.
func openTo(found []topology.Obstacle, s *cluster.Shape) []string {
	var out []string
	terms := feasibility.Alternatives(s)
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
func (w *World) obstacle(o *topology.Obstacle) string {
	if o.Chooses == nil {
		return o.Text
	}
	where := w.wherePods(o)
	if len(where) == 0 {
		return o.Text
	}
	more := further(len(where) - podsNamed)
	return o.Text + " (" + strings.Join(where[:min(len(where), podsNamed)], ", ") + more + ")"
}

// wherePods lists the pods that an obstacle is about with their domains:
// running ones, then those that the plan places.
func (w *World) wherePods(o *topology.Obstacle) []string {
	var out []string
	for i := range w.Snapshot.Nodes {
		n := &w.Snapshot.Nodes[i]
		domain, ok := n.Labels.Get(o.Key)
		for j := range n.Pods {
			if p := &n.Pods[j]; ok && o.Chooses(p.Shape) && !(n.Deleting && p.Moves()) {
				out = append(out, p.Namespace+"/"+p.Name+" in "+domain)
			}
		}
	}
	k := slices.Index(w.Board.Keys(), o.Key)
	for x := range w.Placed {
		if !o.Chooses(x.Shape) || k < 0 {
			continue
		}
		domain := ""
		if d := w.Board.Spot(x.Place)[k]; d >= 0 {
			domain = w.Board.Value(k, d)
		}
		if domain != "" {
			out = append(out, x.Namespace+"/"+x.Name+" in "+strings.TrimPrefix(domain, "/"))
		}
	}
	return out
}

// whyNotIn reports why the pods cannot be in a domain that rules about other pods would have them
// in.
func (w *World) whyNotIn(p *Pods, key, domain string) string {
	pin := constraint.NewRequirements(constraint.Requirement{Key: key, Set: constraint.Values(domain)})
	bound := *p.Shape
	bound.NodeTerms = feasibility.Cross(p.Shape.NodeTerms, []constraint.Requirements{pin})
	var best Candidate
	name, offered := "", false
	consider := func(who string, c Candidate) {
		if name == "" || c.compare(&best) < 0 {
			name, best = who, c
		}
	}
	for i := range w.Pools {
		pool := &w.Pools[i]
		if foreign := about(key, pool.Nearest(&bound)); !foreign && !excluded(p.Shape, pool) {
			offered = true
			consider(pool.ID.String(), Candidate{Pool: pool.ID, Changes: pool.Nearest(&bound, pool.Constraints...), rank: rankOf(pool, &bound)})
		}
	}
	for i := range w.Snapshot.Nodes {
		n := &w.Snapshot.Nodes[i]
		if value, _ := n.Labels.Get(key); value == domain && !n.Deleting {
			consider("node "+n.Name, Candidate{Node: n.Name, Changes: w.changesOn(p, n)})
		}
	}
	where := domain + ": "
	if key == cluster.LabelHostname {
		where = ""
	}
	switch {
	case name == "" && key == cluster.LabelHostname:
		return domain + " is on its way" + w.lacking(p, domain)
	case name == "":
		return domain + ": no node is there, and no pool launches there"
	case len(best.Changes) == 0:
		return where + name + " would do, but " + w.noChange(p)
	case !offered && len(w.Pools) > 0 && key != cluster.LabelHostname:
		return where + name + ": " + best.Changes.String() + ", and no pool launches there"
	}
	return where + name + ": " + best.Changes.String()
}

// lacking says what an instance on its way has too little of for one of the pods.
func (w *World) lacking(p *Pods, name string) string {
	at := slices.IndexFunc(w.Targets, func(s Target) bool { return !s.Node && s.Name == name })
	if at < 0 {
		return ", and no more fits there"
	}
	var missing feasibility.Changes
	for i, need := range w.needOn(p, &w.Targets[at]) {
		if free := w.Targets[at].Free[i]; need > 0 && need > free {
			missing = append(missing, w.missing(i, need, free))
		}
	}
	if len(missing) == 0 {
		return ", and no more fits there"
	}
	return ": " + missing.String()
}

// about reports whether a label is among what would have to be different.
func about(key string, list feasibility.Changes) bool {
	return slices.ContainsFunc(list, func(c feasibility.Change) bool { return c.Rule == feasibility.Label && c.Key == key })
}
