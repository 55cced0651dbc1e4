package record

import (
	"fmt"
	"strings"
	"time"
	"unique"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// Kind is what kind of object a statement is about, as users type it.
type Kind string

// The kinds.
const (
	Node        Kind = "node"
	Pod         Kind = "pod"
	Pool        Kind = "nodepool"
	Provisioner Kind = "provisioner" // a pool of the older API generation
	Claim       Kind = "nodeclaim"
	Buffer      Kind = "capacitybuffer"
	Request     Kind = "provisioningrequest"
	Quota       Kind = "capacityquota"
	Overlay     Kind = "nodeoverlay"
)

// Object is what a statement is about. The name of a pod, buffer or request begins with its
// namespace: "default/web-1".
type Object struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
}

// Recorded reports whether statements are made about objects of the kind; others are explained by the cluster alone.
func (k Kind) Recorded() bool { return k != Quota && k != Overlay }

// String prints "node/ip-10-0-0-1".
func (o Object) String() string { return string(o.Kind) + "/" + o.Name }

// ofPool is a pool as statements are about it.
func ofPool(id cluster.PoolID) Object {
	if id.Kind == translate.KindProvisioner {
		return Object{Provisioner, id.Name}
	}
	return Object{Pool, id.Name}
}

// ParseKind reads a kind as kubectl would: in the singular, the plural or short.
func ParseKind(text string) (Kind, error) {
	switch strings.ToLower(text) {
	case "node", "nodes", "no":
		return Node, nil
	case "pod", "pods", "po":
		return Pod, nil
	case "nodepool", "nodepools":
		return Pool, nil
	case "provisioner", "provisioners":
		return Provisioner, nil
	case "nodeclaim", "nodeclaims":
		return Claim, nil
	case "capacitybuffer", "capacitybuffers", "cb":
		return Buffer, nil
	case "provisioningrequest", "provisioningrequests", "provreq", "provreqs":
		return Request, nil
	case "capacityquota", "capacityquotas", "cq":
		return Quota, nil
	case "nodeoverlay", "nodeoverlays", "overlays":
		return Overlay, nil
	}
	return "", fmt.Errorf("nothing is on record about a %q: ask about a node, pod, nodepool, provisioner, nodeclaim, "+
		"capacitybuffer, provisioningrequest, capacityquota or nodeoverlay", text)
}

// namespaced reports whether objects of the kind have a namespace.
func (k Kind) namespaced() bool { return k == Pod || k == Buffer || k == Request }

// Topic is what a statement about an object is about. Of one topic an object
// has one statement at a time.
type Topic string

// The topics. What has none happened at one moment.
const (
	TopicStay    Topic = "stay"    // whether a node stays
	TopicEmpties Topic = "empties" // whether a node is to empty without evictions
	TopicHealth  Topic = "health"  // whether an unhealthy node is repaired
	TopicPlace   Topic = "place"   // where a pod is to run
	TopicReady   Topic = "ready"   // whether a pool may launch instances
	TopicLimits  Topic = "limits"  // what a pool may still launch
	TopicBudgets Topic = "budgets" // how many nodes of a pool may go
	TopicWanting Topic = "wanting" // pods that a pool has no instance for
	TopicDeleted Topic = "deleted" // how far a pool is that is being deleted
	TopicBuffer  Topic = "buffer"  // for which buffers and requests a node keeps capacity, or what one of these lacks
	TopicLaunch  Topic = "launch"  // why a NodeClaim has no instance yet, or NodeClaims of a pool
)

// Statement is one thing that was decided about an object, for as long as it
// was decided again, or something that came of it at one moment.
type Statement struct {
	About Object   `json:"about"`
	Claim string   `json:"claim,omitempty"` // of the node that it is about, or whose instance the pod waits for
	Topic Topic    `json:"topic,omitempty"` // empty: it happened at From
	Said  string   `json:"said"`
	Why   string   `json:"why,omitempty"`
	More  []string `json:"more,omitempty"` // what it was decided from, as it was when it was said first

	From  time.Time `json:"from"`
	Until time.Time `json:"until,omitzero"` // zero: it held when the record was written
	Basis uint64    `json:"basis"`          // revision of the snapshot that it was decided from first

	Saved *Saved `json:"saved,omitempty"` // of a node that has gone: what its decision was to save, and saves
	Cost  *Costs `json:"cost,omitempty"`  // of something that was carried out: what the cluster cost before, and costs after it

	UID  string `json:"uid,omitempty"` // of a pod: another one of the same name is another pod
	news uint64 // which change of the record it was last; 0: it was read
}

// Saved is what a decision about nodes was to save, and what it saves now that they have gone, in dollars an hour. It is
// the same for all of its nodes.
type Saved struct {
	Decision string  `json:"decision"` // the first of its nodes
	Promised float64 `json:"promised"`
	Realised float64 `json:"realised"` // below zero: what came in their place costs more
}

// Costs are what a cluster cost before something was carried out, and costs after it, in dollars an hour.
type Costs struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// shareTexts has a statement share what others that were read say too: of thousands of pods that came at once the
// same was decided.
func (s *Statement) shareTexts() {
	s.About = Object{one(s.About.Kind), one(s.About.Name)}
	s.Claim, s.Topic, s.Said, s.Why, s.UID = one(s.Claim), one(s.Topic), one(s.Said), one(s.Why), one(s.UID)
	for i := range s.More {
		s.More[i] = one(s.More[i])
	}
}

// one is the one copy of a text.
func one[T ~string](text T) T { return unique.Make(text).Value() }

// fixedBytes is about what a statement takes beside its texts.
const fixedBytes = 256

// bytes is about what the statement takes, as if it shared no text with others.
func (s *Statement) bytes() int {
	sum := fixedBytes + len(s.About.Name) + len(s.Claim) + len(s.Said) + len(s.Why)
	for _, m := range s.More {
		sum += len(m)
	}
	return sum
}

// says reports whether the statement says what the other one does. One without
// a reason is said for the reason that was given before.
func (s *Statement) says(other *Statement) bool {
	return s.Said == other.Said && s.Claim == other.Claim && (s.UID == other.UID || s.UID == "" || other.UID == "") && (s.Why == "" || alike(s.Why, other.Why))
}

// alike reports whether two texts differ in numbers at most: what a pod lacks or
// what would be saved changes all the time, and is no news.
func alike(a, b string) bool {
	for a != "" || b != "" {
		a, b = strings.TrimLeft(a, digits), strings.TrimLeft(b, digits)
		i, j := wordLength(a), wordLength(b)
		if a[:i] != b[:j] {
			return false
		}
		a, b = a[i:], b[j:]
	}
	return true
}

const digits = "0123456789"

// wordLength is how many bytes stand before the first digit.
func wordLength(text string) int {
	if i := strings.IndexAny(text, digits); i >= 0 {
		return i
	}
	return len(text)
}
