package scenario

import (
	"slices"
	"strconv"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
)

type snapshot = cluster.Snapshot

// top are the lines that belong to no other, in the order in which they are printed.
var top = slices.Concat([]part[snapshot]{
	&one[snapshot, snapshot]{at: itself, line: line[snapshot]{noun: "snapshot", means: "The cluster state at one moment.", facts: []fact[snapshot]{
		argument("a revision", func(s *snapshot) *uint64 { return &s.Revision }, revision, "grows with every change that is seen"),
		option("a time", func(s *snapshot) *time.Time { return &s.Now }, moment, "the only time that a plan uses"),
	}}},
}, repairs(func(s *snapshot) *cluster.Repair { return &s.Repair }), []part[snapshot]{
	shapes,
	&list[snapshot, pod]{at: func(s *snapshot) *[]pod { return &s.Waiting }, line: podLine("waiting", "A pod that needs a node.", count[pod]()), number: numbered},
	&list[snapshot, pod]{at: func(s *snapshot) *[]pod { return &s.Expected },
		line: podLine("expected", "A pod that was just created, or one whose node is gone and that its owner will replace. Capacity is kept for it.")},
	&list[snapshot, cluster.Daemon]{at: func(s *snapshot) *[]cluster.Daemon { return &s.Daemons }, line: daemonLine},
	&list[snapshot, buffer]{at: func(s *snapshot) *[]buffer { return &s.Buffers }, line: bufferLine},
	&list[snapshot, request]{at: func(s *snapshot) *[]request { return &s.Requested }, line: requestLine},
	catalogues,
	&list[snapshot, cluster.Overlay]{at: func(s *snapshot) *[]cluster.Overlay { return &s.Overlays }, line: overlayLine},
	&list[snapshot, nodePool]{at: func(s *snapshot) *[]nodePool { return &s.Pools }, line: poolLine},
	&list[snapshot, commitment.ReservedInstances]{line: reservedInstancesLine,
		at: func(s *snapshot) *[]commitment.ReservedInstances { return &s.Commitments.Reserved }},
	&list[snapshot, commitment.SavingsPlan]{line: savingsPlanLine,
		at: func(s *snapshot) *[]commitment.SavingsPlan { return &s.Commitments.Plans }},
	&list[snapshot, commitment.Usage]{line: otherInstancesLine,
		at: func(s *snapshot) *[]commitment.Usage { return &s.Commitments.Others }},
	&list[snapshot, quota]{at: func(s *snapshot) *[]quota { return &s.Quotas }, line: quotaLine},
	&list[snapshot, cluster.PodDisruptionBudget]{at: func(s *snapshot) *[]cluster.PodDisruptionBudget { return &s.PDBs }, line: pdbLine},
	&list[snapshot, cluster.Breaker]{at: func(s *snapshot) *[]cluster.Breaker { return &s.Breakers }, line: breakerLine},
	&one[snapshot, snapshot]{at: itself, when: func(s *snapshot) bool { return s.Freeze != "" },
		line: line[snapshot]{noun: "freeze", means: "No node may be disrupted for now.", facts: []fact[snapshot]{
			argument("a reason", func(s *snapshot) *string { return &s.Freeze }, text, "why"),
			flag("all", func(s *snapshot) *bool { return &s.FreezeAll }, "nor one past its expireAfter"),
			field("until", func(s *snapshot) *time.Time { return &s.FreezeUntil }, moment, "when that ends by itself"),
		}}},
	&one[snapshot, snapshot]{at: itself, when: func(s *snapshot) bool { return s.Unread != "" },
		line: line[snapshot]{noun: "unread", means: "No node goes until something else is known.",
			facts: []fact[snapshot]{
				argument("a reason", func(s *snapshot) *string { return &s.Unread }, text, "what is not known yet"),
			}}},
	&list[snapshot, node]{at: func(s *snapshot) *[]node { return &s.Nodes }, line: nodeLine},
	&list[snapshot, instance]{at: func(s *snapshot) *[]instance { return &s.Instances }, line: instanceLine},
})

func itself(s *snapshot) *snapshot { return s }

// numbered tells one of several waiting pods apart.
func numbered(p *pod, i int) { p.Name += "-" + strconv.Itoa(i) }

var pdbLine = line[cluster.PodDisruptionBudget]{noun: "pdb", was: "guard", means: "A PodDisruptionBudget.", facts: []fact[cluster.PodDisruptionBudget]{
	slashedNames("namespace/name", func(b *cluster.PodDisruptionBudget) (_, _ *string) { return &b.Namespace, &b.Name }, "namespace", "pdb", "of the PodDisruptionBudget"),
	field("allows", func(b *cluster.PodDisruptionBudget) *int64 { return &b.Allowed }, number, "evictions that it allows now"),
	flag("never", func(b *cluster.PodDisruptionBudget) *bool { return &b.Never }, "its spec never allows one"),
	field("why", func(b *cluster.PodDisruptionBudget) *string { return &b.Why }, text, "why that is so, and what to do"),
	flag("unready-too", func(b *cluster.PodDisruptionBudget) *bool { return &b.UnreadyToo }, "unhealthyPodEvictionPolicy: AlwaysAllow"),
}}

var breakerLine = line[cluster.Breaker]{noun: "breaker", means: "How many nodes of some NodePools together may be removed within a time.", facts: []fact[cluster.Breaker]{
	argument("a name", func(b *cluster.Breaker) *string { return &b.Name }, name("breaker"), "of the DisruptionPolicy"),
	field("most", func(b *cluster.Breaker) *int64 { return &b.Most }, number, "of nodes"),
	field("gone", func(b *cluster.Breaker) *int64 { return &b.Gone }, number, "how many were removed or are being removed"),
	several("pool", byWord, func(b *cluster.Breaker) *[]cluster.PoolID { return &b.Pools }, poolID, "a NodePool whose nodes count; there may be several"),
}}
