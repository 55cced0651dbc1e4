package podspec

import (
	"strconv"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// ShapeKey is equal for two shapes exactly when their content is. The number
// is no part of the content.
func ShapeKey(s *cluster.Shape) string {
	k := key{make([]byte, 0, 256)}
	k.text(s.Namespace, s.Requests.String(), s.Unable)
	k.number(int64(s.Priority))
	k.flag(s.Virtual)
	if s.OnDemand != (cluster.Minimum{}) {
		k.text("on-demand")
		k.number(s.OnDemand.Least)
		k.flag(s.OnDemand.Percent)
	}
	k.labels(s.Labels)
	k.mark("tolerate", len(s.Tolerations))
	for _, t := range s.Tolerations {
		k.text(t.Key, t.Value, string(t.Effect))
		k.flag(t.Exists)
	}
	k.terms("nodes", s.NodeTerms)
	k.terms("volumes", s.VolumeTerms)
	k.mark("prefer", len(s.Preferences))
	for _, p := range s.Preferences {
		k.number(int64(p.Weight))
		k.requirements(p.Term)
	}
	k.spreads(s.Spread)
	k.neighbours(s.Neighbours)
	k.mark("ports", len(s.Ports))
	for _, p := range s.Ports {
		k.text(p.Protocol, p.Address)
		k.number(int64(p.Number))
	}
	if len(s.Drivers) > 0 {
		k.mark("drivers", len(s.Drivers))
		k.text(s.Drivers...)
	}
	k.mark("attach", len(s.Volumes))
	for _, v := range s.Volumes {
		k.text(v.Driver, v.Claim)
		k.flag(v.Exclusive)
	}
	return string(k.b)
}

// key writes values so that different ones never read the same.
type key struct{ b []byte }

func (k *key) text(list ...string) {
	for _, s := range list {
		k.b = strconv.AppendInt(k.b, int64(len(s)), 10)
		k.b = append(append(k.b, ':'), s...)
	}
}

func (k *key) number(n int64) { k.b = append(strconv.AppendInt(k.b, n, 10), ';') }

func (k *key) flag(set bool) { k.b = append(strconv.AppendBool(k.b, set), ';') }

func (k *key) mark(word string, n int) {
	k.text(word)
	k.number(int64(n))
}

func (k *key) labels(list constraint.Labels) {
	k.mark("labels", len(list))
	for _, l := range list {
		k.text(l.Key, l.Value)
	}
}

func (k *key) requirements(rs constraint.Requirements) { k.text(rs.String()) }

func (k *key) terms(word string, list []constraint.Requirements) {
	k.mark(word, len(list))
	for _, term := range list {
		k.requirements(term)
	}
}

func (k *key) selector(s cluster.Selector) {
	k.flag(s.Nothing)
	k.requirements(s.Requirements)
}

func (k *key) spreads(list []cluster.Spread) {
	k.mark("spread", len(list))
	for _, s := range list {
		k.text(s.Key)
		k.selector(s.Selector)
		k.number(int64(s.MaxSkew))
		k.number(int64(s.MinDomains))
		k.flag(s.Soft)
		k.flag(s.IgnoreNodeTerms)
		k.flag(s.HonourTaints)
		k.terms("among", s.Among)
	}
}

func (k *key) neighbours(list []cluster.Neighbours) {
	k.mark("neighbours", len(list))
	for _, n := range list {
		k.flag(n.Apart)
		k.text(n.Key)
		k.selector(n.Selector)
		k.mark("in", len(n.Namespaces))
		k.text(n.Namespaces...)
		k.flag(n.AllNamespaces)
		k.flag(n.Volume)
		k.number(int64(n.Weight))
	}
}
