package cluster

import (
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// Shape is what all pods with the same scheduling fields share. Two shapes
// of a snapshot never have equal content.
type Shape struct {
	Namespace   string
	Labels      constraint.Labels  // of the pod: only the keys that some selector of the snapshot reads; and "claim!name" for a claim shared before its volume exists
	Requests    quantity.Resources // pods=1 included
	Tolerations []constraint.Toleration
	// NodeTerms are alternatives, of which one must hold; the node selector is
	// part of each. No terms at all means any node.
	NodeTerms []constraint.Requirements
	// VolumeTerms are alternatives too: where all volumes of the pod can be
	// attached. They do not count as the pod's own preference for nodes when domains
	// of a spread are found.
	VolumeTerms []constraint.Requirements
	Preferences []Preference // preferences for nodes, in the pod's order
	Spread      []Spread
	Neighbours  []Neighbours // pod affinity and anti-affinity
	Ports       []Port       // of the host, sorted by protocol, number, address
	Volumes     []Volume     // that count against attach limits or are shared, sorted by driver, claim
	Priority    int32
	Drivers     []string // of dynamic resource allocation, that have to publish devices for it; sorted
	OnDemand    Minimum  // of the pods of its owner: how many are to run on demand
	Virtual     bool     // of a buffer or request: there are no such pods, and kube-scheduler knows none
	Unable      string   // why no instance can be launched for it: a volume claim is missing, say; empty: one can
}

// Selector chooses pods by their labels. The zero value chooses every pod, as
// an empty label selector does.
type Selector struct {
	Requirements constraint.Requirements
	Nothing      bool // chooses none, as a selector that is left out does
}

// Matches reports whether a pod with these labels is chosen.
func (s Selector) Matches(labels constraint.Labels) bool {
	if s.Nothing {
		return false
	}
	_, ok := s.Requirements.Allow(labels)
	return ok
}

// Preference is a preference for nodes that gives way where it cannot be had.
type Preference struct {
	Weight int32 // 1 to 100: the heaviest gives way last
	Term   constraint.Requirements
}

// Spread limits by how much numbers of chosen pods of the pod's own namespace
// may differ between domains, which are nodes with one value of the key.
type Spread struct {
	Key             string
	Selector        Selector // labels named by matchLabelKeys included
	MaxSkew         int32
	MinDomains      int32 // fewer domains than this make the least number count as 0; 0 where unset
	Soft            bool  // ScheduleAnyway: gives way
	IgnoreNodeTerms bool  // nodeAffinityPolicy Ignore: nodes that the pod does not want are domains too
	HonourTaints    bool  // nodeTaintsPolicy Honor: nodes whose taints it does not tolerate are none
	// Among are alternatives, of which one holds for every domain, where IgnoreNodeTerms; none: any node may be one. No
	// snapshot of a cluster says so; plans do, which want fewer nodes for a pod than it does.
	Among []constraint.Requirements
}

// Neighbours wants chosen pods in the same domain, or none of them there.
// Pods that are apart from others keep these away from themselves as well.
type Neighbours struct {
	Apart         bool // anti-affinity
	Key           string
	Selector      Selector // labels named by matchLabelKeys and mismatchLabelKeys included
	Namespaces    []string // sorted; resolved from lists and namespace selectors; none at all: no pod is chosen
	AllNamespaces bool
	Weight        int32 // 1 to 100: a preference; 0: required
	Volume        bool  // the pods share a volume that does not exist yet: judged apart from what else is wanted near
}

// Port is a port of the host that the pod takes. An empty address is all of
// the host's addresses.
type Port struct {
	Protocol string // TCP, UDP, SCTP
	Number   int32
	Address  string
}

// Conflicts reports whether both cannot be had on one host.
func (p Port) Conflicts(q Port) bool {
	return p.Protocol == q.Protocol && p.Number == q.Number &&
		(p.Address == "" || q.Address == "" || p.Address == q.Address)
}

// Volume is a volume that a driver attaches to the node. A volume without a
// Claim belongs to one pod alone.
type Volume struct {
	Driver    string // of the CSI; empty where nothing limits it
	Claim     string // "namespace/name" of a claim that several pods use: one attachment a node
	Exclusive bool   // ReadWriteOncePod: one pod at a time in the whole cluster
}
