package scenario

import (
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/cluster"
)

// rules writes what a shape says about nodes, other pods, ports and volumes.
func (p *printer) rules(s *cluster.Shape) {
	p.labels(1, s.Labels, nil)
	for _, t := range s.Tolerations {
		p.line(1, "tolerate", toleration(t))
	}
	for _, term := range s.NodeTerms {
		p.line(1, "term")
		p.requirements("require", 2, term)
	}
	for _, term := range s.VolumeTerms {
		p.line(1, "volume-term")
		p.requirements("require", 2, term)
	}
	for _, x := range s.Preferences {
		p.line(1, "prefer", "weight="+strconv.FormatInt(int64(x.Weight), 10))
		p.requirements("require", 2, x.Term)
	}
	for i := range s.Spread {
		p.spread(&s.Spread[i])
	}
	for i := range s.Neighbours {
		p.neighbours(&s.Neighbours[i], s.Namespace)
	}
	for _, x := range s.Ports {
		p.line(1, "port", quote(x.Protocol), strconv.FormatInt(int64(x.Number), 10), field("address", x.Address))
	}
	for _, v := range s.Volumes {
		p.line(1, "volume", quote(v.Driver), field("claim", v.Claim), flag("exclusive", v.Exclusive))
	}
}

func (p *printer) spread(s *cluster.Spread) {
	p.line(1, "spread", quote(s.Key), "skew="+strconv.FormatInt(int64(s.MaxSkew), 10), number("min-domains", int64(s.MinDomains)),
		flag("soft", s.Soft), flag("ignore-node-terms", s.IgnoreNodeTerms), flag("honour-taints", s.HonourTaints))
	p.selector(s.Selector)
}

func (p *printer) neighbours(n *cluster.Neighbours, own string) {
	noun := "near"
	if n.Apart {
		noun = "apart"
	}
	p.line(1, noun, quote(n.Key), namespaces(n, own), number("weight", int64(n.Weight)), flag("volume", n.Volume))
	p.selector(n.Selector)
}

// namespaces leaves out what Kubernetes assumes: the pod's own namespace.
func namespaces(n *cluster.Neighbours, own string) string {
	if !n.AllNamespaces && slices.Equal(n.Namespaces, []string{own}) {
		return ""
	}
	words := each(n.Namespaces, quote)
	if n.AllNamespaces {
		words = append([]string{"*"}, words...)
	}
	return "namespaces=" + strings.Join(words, ",")
}

func (p *printer) selector(s cluster.Selector) {
	if s.Nothing {
		p.line(2, "select", "nothing")
	}
	p.requirements("select", 2, s.Requirements)
}

func (p *printer) onRequest(resources []string) {
	if len(resources) > 0 {
		p.line(1, append([]string{"on-request"}, each(resources, quote)...)...)
	}
}

func (p *printer) attachable(list []cluster.Attachable) {
	if len(list) == 0 {
		return
	}
	words := []string{"attachable"}
	for _, a := range list {
		words = append(words, quote(a.Driver)+"="+strconv.FormatInt(a.Count, 10))
	}
	p.line(1, words...)
}
