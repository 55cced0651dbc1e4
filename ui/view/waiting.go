package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/observe/record"
)

// Waiting is pods of one owner that need a place and wait for the same.
type Waiting struct {
	Namespace string    `json:"namespace"`
	Owner     string    `json:"owner,omitempty"`
	Pods      []string  `json:"pods"` // the first by name; Count counts them all
	Count     int       `json:"count"`
	Since     time.Time `json:"since"` // when the first of them came
	Requests  string    `json:"requests"`
	Placed    bool      `json:"placed"` // a plan has found a place for them
	Looked    bool      `json:"looked"` // a plan has looked at them
	Reason    string    `json:"reason"` // where they are to run, or why they have no place
}

// Stuck reports whether a plan has found no place for them.
func (w *Waiting) Stuck() bool { return w.Looked && !w.Placed }

// Came is a pod that needs a place.
type Came struct {
	Namespace, Name string
	At              time.Time // when it was created
}

func cameOf(s *cluster.Snapshot) []Came {
	out := make([]Came, len(s.Waiting))
	for i := range s.Waiting {
		p := &s.Waiting[i]
		out[i] = Came{p.Namespace, p.Name, p.CreatedAt}
	}
	return out
}

// podsNamed is how many pods a row names.
const podsNamed = 20

// Name is the owner as "shop/Deployment/web", or the pod where it has none.
func (w *Waiting) Name() string {
	if w.Owner == "" {
		return w.Namespace + "/" + w.Pods[0]
	}
	return w.Namespace + "/" + w.Owner
}

// What is said of pods that no plan on record has looked at.
const (
	awaitsPlan       = "waits for the next plan"
	awaitsController = "waits for a controller: none acts"
	awaitsOther      = "waits for the autoscaler that acts: Daemok is in shadow mode"
)

// looked reports whether a plan has looked at the pods of which that is said.
func looked(reason string) bool {
	return reason != awaitsPlan && reason != awaitsController && reason != awaitsOther
}

// waiting groups the pods that wait by owner, requests and what they wait for.
func (k *known) waiting() []Waiting {
	type group struct {
		namespace, owner, requests, reason string
		placed                             bool
	}
	at := map[group]int{}
	out := []Waiting{}
	for i := range k.Snapshot.Waiting {
		p := &k.Snapshot.Waiting[i]
		reason, placed := k.placeOf(p)
		of := group{p.Namespace, p.Owner, p.Shape.Requests.String(), reason, placed}
		if p.Owner == "" {
			of.owner = "Pod/" + p.Name
		}
		n, known := at[of]
		if !known {
			n = len(out)
			at[of] = n
			out = append(out,
				Waiting{Namespace: p.Namespace, Owner: p.Owner, Since: p.CreatedAt, Requests: of.requests,
					Placed: placed, Looked: looked(reason), Reason: reason})
		}
		w := &out[n]
		if w.Count++; len(w.Pods) < podsNamed {
			w.Pods = append(w.Pods, p.Name)
		}
		if p.CreatedAt.Before(w.Since) {
			w.Since = p.CreatedAt
		}
	}
	slices.SortStableFunc(out, func(a, b Waiting) int {
		if a.Stuck() != b.Stuck() { // they come first
			if b.Stuck() {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name(), b.Name()))
	})
	return out
}

// placeOf is what the record says of where the pod is to run.
func (k *known) placeOf(p *cluster.Pod) (reason string, placed bool) {
	s := k.says(record.Pod, p.Namespace+"/"+p.Name, record.TopicPlace)
	if s == nil || s.UID != "" && p.UID != "" && s.UID != p.UID {
		if p.Shape.Unable != "" {
			return p.Shape.Unable, false
		}
		switch c := k.Controller; {
		case c != nil && c.Standing == Shadow:
			return awaitsOther, false
		case c != nil && c.Standing == Idle:
			return awaitsController, false
		}
		return awaitsPlan, false
	}
	return because(s), s.Placed()
}
