package scenario

import (
	"fmt"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

type pod = cluster.Pod

// podFacts are what lines say of a pod.
var podFacts = []fact[pod]{
	slashedNames("namespace/name", func(p *pod) (_, _ *string) { return &p.Namespace, &p.Name }, "namespace", "pod", "of the pod"),
	reference(shapes, func(p *pod) **cluster.Shape { return &p.Shape }, "its shape; for a pod on a node, the shape of the pod that would replace it"),
	field("uid", func(p *pod) *string { return &p.UID }, name("uid"), "its UID"),
	field("owner", func(p *pod) *string { return &p.Owner }, behind("owner", same), "its controller, such as Deployment/web"),
	field("created", func(p *pod) *time.Time { return &p.CreatedAt }, moment, "when it was created"),
	field("on", func(p *pod) *string { return &p.Node }, name("node"), "its node, if that is not the one of the line above"),
	flag("daemon", func(p *pod) *bool { return &p.Daemon }, "it is owned by a DaemonSet"),
	flag("mirror", func(p *pod) *bool { return &p.Mirror }, "it is a static pod, owned by its node"),
	flag("ending", func(p *pod) *bool { return &p.Ending }, "it is terminating, or has succeeded or failed"),
	flag("do-not-disrupt", func(p *pod) *bool { return &p.DoNotDisrupt }, "its annotation karpenter.sh/do-not-disrupt holds now"),
	flag("do-not-evict", func(p *pod) *bool { return &p.DoNotEvict }, "that annotation is karpenter.sh/do-not-evict of v1alpha5"),
	flag("not-safe-to-evict", func(p *pod) *bool { return &p.NotSafeToEvict }, "that annotation is cluster-autoscaler.kubernetes.io/safe-to-evict, \"false\""),
	flag("returns", func(p *pod) *bool { return &p.Returns }, "if its node is removed, its owner creates another pod, which needs a node"),
	field("one-off", func(p *pod) *string { return &p.OneOff }, word, "why its owner creates no other pod although its work is not done"),
	field("retries", func(p *pod) *int { return &p.Retries }, number, "for a Job: how many of its pods may be evicted before the Job fails"),
	flag("completes", func(p *pod) *bool { return &p.Completes }, "for a Job: it ends by itself when its work is done"),
	flag("stays", func(p *pod) *bool { return &p.Stays }, "it tolerates the taint of nodes that are drained: it is not evicted"),
	flag("unready", func(p *pod) *bool { return &p.Unready }, "its condition Ready is False"),
	flag("pending", func(p *pod) *bool { return &p.Pending }, "it has a node, but not all of its containers have started yet"),
	field("started", func(p *pod) *time.Time { return &p.StartedAt }, moment, "when it started on its node"),
	field("protected-until", func(p *pod) *time.Time { return &p.ProtectedUntil }, moment, "when do-not-disrupt ends"),
	field("moved", func(p *pod) *int { return &p.Moved }, number, "how often in a row its predecessors were evicted so that their nodes could be removed"),
	field("moved-at", func(p *pod) *time.Time { return &p.MovedAt }, moment, "the last time"),
	field("grace", func(p *pod) *time.Duration { return &p.Grace }, length, "its termination grace period"),
	field("deletion-cost", func(p *pod) *int32 { return &p.DeletionCost }, number, "its annotation controller.kubernetes.io/pod-deletion-cost"),
	formerly("guards", field("pdbs", func(p *pod) *string { return &p.PDBs }, names("pdb"), "the PodDisruptionBudgets that select it, separated by commas")),
	flag("kept", func(p *pod) *bool { return &p.Kept }, "these never allow its eviction"),
	flag("uprooted", func(p *pod) *bool { return &p.Uprooted }, "nothing protects it any longer, because AWS is about to terminate its instance"),
	field("last-of", func(p *pod) *string { return &p.LastOf }, name("service"), "the Service whose only ready pod it is, so that its eviction waits for another one"),
	field("holds", func(p *pod) **quantity.Resources { return &p.Holds }, held, "what it uses of its node, if the pod that would replace it requests more"),
}

func hasShape(p *pod) error {
	if p.Shape == nil {
		return fmt.Errorf("%s: shape= is missing", podName(*p))
	}
	return nil
}

func podLine(noun, means string, more ...fact[pod]) line[pod] {
	like := "waiting"
	if noun == like {
		like = ""
	}
	return line[pod]{noun: noun, like: like, means: means, facts: slices.Concat(podFacts, more), ends: hasShape}
}

// daemonLine is the line of a DaemonSet.
var daemonLine = line[cluster.Daemon]{noun: "daemon", means: "A DaemonSet: one pod of its shape on every node that admits it.", facts: []fact[cluster.Daemon]{
	slashedNames("namespace/name", func(d *cluster.Daemon) (_, _ *string) { return &d.Namespace, &d.Name }, "namespace", "daemon", "of the DaemonSet"),
	reference(shapes, func(d *cluster.Daemon) **cluster.Shape { return &d.Shape }, "the shape of its pods"),
}}

type buffer = cluster.Buffer

// bufferLine is the line of a CapacityBuffer.
var bufferLine = line[buffer]{noun: "buffer",
	means: "A CapacityBuffer: capacity is kept free for pods of its shape.",
	facts: []fact[buffer]{
		slashedNames("namespace/name", func(b *buffer) (_, _ *string) { return &b.Namespace, &b.Name },
			"namespace", "buffer", "of the CapacityBuffer"),
		reference(shapes, func(b *buffer) **cluster.Shape { return &b.Shape }, "the shape of its pods"),
		field("pods", func(b *buffer) *int64 { return &b.Pods }, number, "that capacity is kept for"),
		field("not-ready", func(b *buffer) *string { return &b.NotReady }, text,
			"why it is not known for which pods, so that no capacity is kept"),
	},
	ends: func(b *buffer) error {
		if b.Shape == nil && b.NotReady == "" {
			return fmt.Errorf("%s/%s: shape= is missing", b.Namespace, b.Name)
		}
		return nil
	}}

// launchedFor are the lines of the pods that an instance was launched for: of one that waits only the name, of
// another all.
type launchedFor[P any] struct{ *list[P, pod] }

func launched[P any](at func(*P) *[]pod) launchedFor[P] {
	return launchedFor[P]{&list[P, pod]{at: at,
		line: podLine("for", "A pod that it was launched for and that has no other node yet. For a waiting pod the name is enough.")}}
}

func (l launchedFor[P]) read(p *parser, to *P, noun string, words []string) (level, error) {
	if len(words) != 1 {
		return l.list.read(p, to, noun, words)
	}
	var x pod // see resolve
	err := l.facts[0].read(p, &x, words)
	l.add(to, x)
	return nil, err
}

func (l launchedFor[P]) print(p *printer, depth int, of *P) {
	list := *l.at(of)
	for i := range list {
		full, waiting := l.words(p, &list[i]), p.waiting[[2]string{list[i].Namespace, list[i].Name}]
		if waiting != nil && slices.Equal(l.words(p, waiting), full) {
			full = full[:2]
		}
		p.line(depth, full...)
	}
}
