package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Names of the public API that the story checks.
const (
	decisionAnnotation = "daemok.sh/decision"
	poolLabel          = "karpenter.sh/nodepool"
	ownTaintPrefix     = "karpenter.sh/"
)

// sighting is one object as a watch delivered it.
type sighting struct {
	object *unstructured.Unstructured
	gone   bool
	at     time.Time
}

// world is what the watches have shown so far.
type world struct {
	pods      map[string]podSight
	instances map[string]*instance // by claim
	nodes     map[string]nodeSight
	settings  map[string]string // kind/name of pool and class: "ready", or why not

	givenUp int // claims that went without ever having an instance

	podCreatedAt time.Time // when the last new pod was seen
	podGoneAt    time.Time // when the last pod was seen gone
}

type podSight struct {
	waiting string // the scheduler's words; empty if it has a node
	phase   string
	running bool // running and ready
}

type nodeSight struct {
	providerID string
	ready      bool
	tainted    bool // with a taint of ours
	notReady   string
}

// instance is a claim and the node that belongs to it, with the moments at
// which each thing was first seen. Zero moments are yet to come.
type instance struct {
	claim, node, providerID  string
	kind, zone, option       string
	decision                 *decision
	conditions               map[string]condition
	trouble                  string // what the claim last said stood in the way of its launch
	seenAt, launchedAt       time.Time
	nodeSeenAt, registeredAt time.Time
	nodeReadyAt, openAt      time.Time // openAt: free of our taints
	initializedAt            time.Time
	leavingAt, goneAt        time.Time
	nodeGoneAt               time.Time
}

type condition struct{ status, reason, message string }

// decision is what the product wrote on a claim about its choice.
type decision struct {
	offering
	RunnersUp []offering `json:"runnersUp"`
}

type offering struct {
	Type   string   `json:"type"`
	Zone   string   `json:"zone"`
	Option string   `json:"option"`
	Price  *float64 `json:"price"` // dollars per hour; absent where unknown
	WhyNot string   `json:"whyNot"`
}

// String prints "m7i.2xlarge in us-east-1a, on-demand, $0.4032 an hour".
func (o offering) String() string {
	price := "price unknown"
	if o.Price != nil {
		price = fmt.Sprintf("$%.4f an hour", *o.Price)
	}
	return fmt.Sprintf("%s in %s, %s, %s", o.Type, o.Zone, o.Option, price)
}

func newWorld() *world {
	return &world{
		pods:      make(map[string]podSight),
		instances: make(map[string]*instance),
		nodes:     make(map[string]nodeSight),
		settings:  make(map[string]string),
	}
}

// see takes one sighting in.
func (w *world) see(s sighting) {
	switch s.object.GetKind() {
	case "Pod":
		w.seePod(s)
	case "Node":
		w.seeNode(s)
	case "NodeClaim":
		w.seeClaim(s)
	case "NodePool", "EC2NodeClass":
		w.seeSetting(s)
	}
}

func (w *world) seePod(s sighting) {
	name := s.object.GetName()
	_, known := w.pods[name]
	if s.gone {
		if known {
			w.podGoneAt = s.at
		}
		delete(w.pods, name)
		return
	}
	if !known {
		w.podCreatedAt = s.at
	}
	var p corev1.Pod
	if runtime.DefaultUnstructuredConverter.FromUnstructured(s.object.Object, &p) != nil {
		return
	}
	sight := podSight{phase: string(p.Status.Phase)}
	for _, c := range p.Status.Conditions {
		switch {
		case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse:
			sight.waiting = c.Message
		case c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue:
			sight.running = p.Status.Phase == corev1.PodRunning
		}
	}
	w.pods[name] = sight
}

func (w *world) seeNode(s sighting) {
	name := s.object.GetName()
	if s.gone {
		delete(w.nodes, name)
		for _, m := range w.instances {
			if m.node == name {
				once(&m.nodeGoneAt, s.at)
			}
		}
		return
	}
	var n corev1.Node
	if runtime.DefaultUnstructuredConverter.FromUnstructured(s.object.Object, &n) != nil {
		return
	}
	sight := nodeSight{providerID: n.Spec.ProviderID, notReady: "reports no Ready condition"}
	for _, t := range n.Spec.Taints {
		sight.tainted = sight.tainted || strings.HasPrefix(t.Key, ownTaintPrefix)
	}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			sight.ready = c.Status == corev1.ConditionTrue
			sight.notReady = c.Reason + " " + c.Message
		}
	}
	w.nodes[name] = sight
	w.join(s.at)
}

func (w *world) seeClaim(s sighting) {
	name := s.object.GetName()
	m, known := w.instances[name]
	if s.gone {
		switch {
		case known && m.launchedAt.IsZero():
			delete(w.instances, name)
			w.givenUp++
		case known:
			once(&m.leavingAt, s.at)
			once(&m.goneAt, s.at)
		}
		return
	}
	if !known {
		m = &instance{claim: name, seenAt: s.at}
		w.instances[name] = m
	}
	labels := s.object.GetLabels()
	m.kind, m.zone, m.option = labels["node.kubernetes.io/instance-type"], labels["topology.kubernetes.io/zone"], labels["karpenter.sh/capacity-type"]
	m.providerID, _, _ = unstructured.NestedString(s.object.Object, "status", "providerID")
	m.decision = readDecision(s.object.GetAnnotations()[decisionAnnotation])
	m.conditions = conditionsOf(s.object)
	if c := m.conditions["Launched"]; c.status != "True" && c.reason != "" && c.reason != "AwaitingReconciliation" {
		m.trouble = strings.TrimSpace(c.reason + " " + c.message)
	}
	if m.conditions["Launched"].status == "True" {
		once(&m.launchedAt, s.at)
	}
	if m.conditions["Registered"].status == "True" {
		once(&m.registeredAt, s.at)
	}
	if m.conditions["Initialized"].status == "True" {
		once(&m.initializedAt, s.at)
	}
	if s.object.GetDeletionTimestamp() != nil {
		once(&m.leavingAt, s.at)
	}
	w.join(s.at)
}

// join finds the nodes of claims and notes what is seen for the first time.
func (w *world) join(at time.Time) {
	byID := make(map[string]string)
	for name, n := range w.nodes {
		byID[n.providerID] = name
	}
	for _, m := range w.instances {
		name, ok := byID[m.providerID]
		if m.providerID == "" || !ok {
			continue
		}
		m.node = name
		once(&m.nodeSeenAt, at)
		if w.nodes[name].ready {
			once(&m.nodeReadyAt, at)
		}
		if !w.nodes[name].tainted {
			once(&m.openAt, at)
		}
	}
}

func (w *world) seeSetting(s sighting) {
	key := s.object.GetKind() + " " + s.object.GetName()
	ready, ok := conditionsOf(s.object)["Ready"]
	switch {
	case s.gone:
		delete(w.settings, key)
	case ok && ready.status == "True":
		w.settings[key] = "ready"
	case ok:
		w.settings[key] = strings.TrimSpace(ready.reason + " " + ready.message)
	default:
		w.settings[key] = "has no Ready condition yet"
	}
}

// sorted returns the instances by name of claim.
func (w *world) sorted() []*instance {
	return slices.SortedFunc(maps.Values(w.instances), func(a, b *instance) int { return cmp.Compare(a.claim, b.claim) })
}

// every says whether there is an instance, and holds is true of all of them.
func (w *world) every(holds func(*instance) bool) bool {
	for _, m := range w.instances {
		if !holds(m) {
			return false
		}
	}
	return len(w.instances) > 0
}

// count returns how many pods are as asked.
func (w *world) count(is func(podSight) bool) int {
	n := 0
	for _, p := range w.pods {
		if is(p) {
			n++
		}
	}
	return n
}

func once(moment *time.Time, at time.Time) {
	if moment.IsZero() {
		*moment = at
	}
}

func readDecision(text string) *decision {
	var d decision
	if text == "" || json.Unmarshal([]byte(text), &d) != nil {
		return nil
	}
	return &d
}

func conditionsOf(object *unstructured.Unstructured) map[string]condition {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	conditions := make(map[string]condition, len(list))
	for _, entry := range list {
		fields, ok := entry.(map[string]any)
		if !ok {
			continue
		}
		text := func(key string) string { s, _ := fields[key].(string); return s }
		conditions[text("type")] = condition{text("status"), text("reason"), text("message")}
	}
	return conditions
}
