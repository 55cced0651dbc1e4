package scenario

import (
	"cmp"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

type (
	shape      = cluster.Shape
	spread     = cluster.Spread
	neighbours = cluster.Neighbours
)

// shapes are what pods with the same constraints have in common.
var shapes = &named[shape]{prefix: "s",
	all:   (*cluster.Snapshot).Shapes,
	clone: func(s *shape) *shape { c := *s; return &c },
	line: line[shape]{noun: "shape", means: "What pods with the same scheduling constraints have in common.",
		starts: shape{Requests: quantity.Resources{Pods: 1}},
		facts: []fact[shape]{
			given[shape]("pods refer to it by this name"),
			field("namespace", func(s *shape) *string { return &s.Namespace }, name("namespace"), "of its pods"),
			field("priority", func(s *shape) *int32 { return &s.Priority }, number, "of its pods"),
			field("on-demand", func(s *shape) *cluster.Minimum { return &s.OnDemand }, minimum,
				"the least number or share of its owner's pods that are to run on demand, such as 2 or 30%"),
			flag("virtual", func(s *shape) *bool { return &s.Virtual },
				"its pods are those of a CapacityBuffer or ProvisioningRequest, while a plan finds places for them"),
			field("unable", func(s *shape) *string { return &s.Unable }, word, "why no instance can be launched for it, such as a volume claim that is missing"),
			amounts(func(s *shape) *quantity.Resources { return &s.Requests }, onePod, "what each pod requests; if left out, one pod"),
		},
		below: []part[shape]{
			labelsOf(func(s *shape) *constraint.Labels { return &s.Labels }, noLabels[shape], (*redactor).anyValue,
				"Labels. For pods, only those that a selector reads."),
			&list[shape, constraint.Toleration]{at: func(s *shape) *[]constraint.Toleration { return &s.Tolerations }, line: tolerationLine},
			terms("term", func(s *shape) *[]constraint.Requirements { return &s.NodeTerms }, "One alternative of the labels that nodes must have."),
			terms("volume-term", func(s *shape) *[]constraint.Requirements { return &s.VolumeTerms }, "One alternative of where the volumes can be attached."),
			&list[shape, cluster.Preference]{at: func(s *shape) *[]cluster.Preference { return &s.Preferences }, line: preferenceLine},
			&list[shape, spread]{at: func(s *shape) *[]spread { return &s.Spread }, line: spreadLine},
			&list[shape, neighbours]{at: func(s *shape) *[]neighbours { return &s.Neighbours }, line: neighboursLine, show: withoutOwn, put: addNeighbours},
			&list[shape, cluster.Port]{at: func(s *shape) *[]cluster.Port { return &s.Ports }, line: portLine, put: addPort},
			&list[shape, cluster.Volume]{at: func(s *shape) *[]cluster.Volume { return &s.Volumes }, line: volumeLine, put: addVolume},
			&one[shape, []string]{at: func(s *shape) *[]string { return &s.Drivers },
				when: func(s *shape) bool { return len(s.Drivers) > 0 }, line: driversLine},
		}}}

var driversLine = line[[]string]{noun: "drivers",
	means: "Drivers of dynamic resource allocation that have to publish devices of a node before its pods can run.",
	facts: []fact[[]string]{
		several("driver", each, func(l *[]string) *[]string { return l }, word, "its name"),
	}}

var tolerationLine = line[constraint.Toleration]{noun: "tolerate", means: "A toleration.", facts: []fact[constraint.Toleration]{
	argument("key=value:effect", func(t *constraint.Toleration) *constraint.Toleration { return t }, toleration, "`*` stands for any key or effect; any value if it is left out"),
	silent(flag("exists", func(t *constraint.Toleration) *bool { return &t.Exists }, "any value is tolerated, although one is given")),
}}

func terms(noun string, at func(*shape) *[]constraint.Requirements, means string) *list[shape, constraint.Requirements] {
	return &list[shape, constraint.Requirements]{at: at,
		line: line[constraint.Requirements]{noun: noun, means: means, below: []part[constraint.Requirements]{
			requirements("require", func(r *constraint.Requirements) *constraint.Requirements { return r }, (*redactor).value, mustBe)}}}
}

const mustBe = "What a label must be."

var preferenceLine = line[cluster.Preference]{noun: "prefer", means: "A preference for nodes.", starts: cluster.Preference{Weight: 1},
	facts: []fact[cluster.Preference]{
		always("weight", func(x *cluster.Preference) *int32 { return &x.Weight }, number, "1 to 100: the preference with the highest weight is dropped last; 1 if left out"),
	},
	below: []part[cluster.Preference]{
		requirements("require", func(x *cluster.Preference) *constraint.Requirements { return &x.Term }, (*redactor).value, mustBe)}}

var spreadLine = line[spread]{noun: "spread", means: "A topology spread constraint.", starts: spread{MaxSkew: 1},
	facts: []fact[spread]{
		argument("a topology key", func(s *spread) *string { return &s.Key }, key, "nodes with the same value of this label are one domain"),
		always("skew", func(s *spread) *int32 { return &s.MaxSkew }, number, "maxSkew; 1 if left out"),
		field("min-domains", func(s *spread) *int32 { return &s.MinDomains }, number, "minDomains"),
		flag("soft", func(s *spread) *bool { return &s.Soft }, "whenUnsatisfiable: ScheduleAnyway"),
		flag("ignore-node-terms", func(s *spread) *bool { return &s.IgnoreNodeTerms }, "nodeAffinityPolicy: Ignore"),
		flag("honour-taints", func(s *spread) *bool { return &s.HonourTaints }, "nodeTaintsPolicy: Honor"),
	},
	below: []part[spread]{selecting(func(s *spread) *cluster.Selector { return &s.Selector })}}

var neighboursLine = line[neighbours]{noun: "near", other: "apart", is: func(n *neighbours) *bool { return &n.Apart },
	means: "Pod affinity, or with `apart` pod anti-affinity.",
	facts: []fact[neighbours]{
		argument("a topology key", func(n *neighbours) *string { return &n.Key }, key, "nodes with the same value of this label are one domain"),
		{word: "namespaces", place: byWord, form: "a,b", means: "of the other pods; `*` are all; the pod's own if left out", hides: replaced,
			read: readNamespaces, print: printNamespaces, redact: func(r *redactor, in *neighbours) {
				in.Namespaces = mapped(in.Namespaces, func(s string) string { return r.name("namespace", s) })
				slices.Sort(in.Namespaces)
			}},
		field("weight", func(n *neighbours) *int32 { return &n.Weight }, number, "makes it a preference"),
		flag("volume", func(n *neighbours) *bool { return &n.Volume }, "the pods share a volume that does not exist yet"),
	},
	below: []part[neighbours]{selecting(func(n *neighbours) *cluster.Selector { return &n.Selector })}}

// withoutOwn leaves out what Kubernetes assumes: the pod's own namespace.
func withoutOwn(s *shape, n neighbours) neighbours {
	if !n.AllNamespaces && slices.Equal(n.Namespaces, []string{s.Namespace}) {
		n.Namespaces = nil
	} else if n.Namespaces == nil {
		n.Namespaces = []string{}
	}
	return n
}

func addNeighbours(to *shape, n neighbours) {
	if n.Namespaces == nil {
		n.Namespaces = []string{to.Namespace}
	} else if len(n.Namespaces) == 0 {
		n.Namespaces = nil
	}
	to.Neighbours = append(to.Neighbours, n)
}

// readNamespaces reads names with commas between, which may be none at all.
func readNamespaces(_ *parser, to *neighbours, words []string) error {
	to.Namespaces = []string{}
	for text, more := words[0], words[0] != ""; more; {
		var word string
		if word, text, more = cut(text, ','); word == wildcard {
			to.AllNamespaces = true
			continue
		}
		name, err := unquote(word)
		if err != nil {
			return err
		}
		to.Namespaces = append(to.Namespaces, name)
	}
	slices.Sort(to.Namespaces)
	to.Namespaces = slices.Compact(to.Namespaces)
	return nil
}

func printNamespaces(_ *printer, of *neighbours) string {
	if of.Namespaces == nil {
		return ""
	}
	words := mapped(of.Namespaces, quote)
	if of.AllNamespaces {
		words = append([]string{wildcard}, words...)
	}
	return "namespaces=" + strings.Join(words, ",")
}

var portLine = line[cluster.Port]{noun: "port", means: "A port of the host.", facts: []fact[cluster.Port]{
	argument("a protocol", func(p *cluster.Port) *string { return &p.Protocol }, word, "TCP, UDP or SCTP"),
	argument("a number", func(p *cluster.Port) *int32 { return &p.Number }, number, "of the port"),
	field("address", func(p *cluster.Port) *string { return &p.Address }, name("address"), "of the host; all addresses if left out"),
}}

func addPort(to *shape, p cluster.Port) {
	to.Ports = append(to.Ports, p)
	slices.SortStableFunc(to.Ports, func(a, b cluster.Port) int {
		return cmp.Or(cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Address, b.Address))
	})
}

var volumeLine = line[cluster.Volume]{noun: "volume", means: "A volume that counts against what a node can attach, or that pods share.", facts: []fact[cluster.Volume]{
	argument("a driver", func(v *cluster.Volume) *string { return &v.Driver }, word, "its CSI driver"),
	field("claim", func(v *cluster.Volume) *string { return &v.Claim }, behind("volume", (*redactor).namespace), "namespace/name of a claim that several pods use"),
	flag("exclusive", func(v *cluster.Volume) *bool { return &v.Exclusive }, "ReadWriteOncePod: one pod at a time"),
	count[cluster.Volume](),
}}

func addVolume(to *shape, v cluster.Volume) {
	to.Volumes = append(to.Volumes, v)
	slices.SortStableFunc(to.Volumes, func(a, b cluster.Volume) int {
		return cmp.Or(cmp.Compare(a.Driver, b.Driver), cmp.Compare(a.Claim, b.Claim))
	})
}
