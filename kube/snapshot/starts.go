package snapshot

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// startsKept is of how many pods of a workload, the latest, it is known how long
// they took to start: enough for a median that one slow node does not change.
const startsKept = 9

// Starts are how long the latest pods of a workload took from having a node to being
// ready, in seconds, oldest first.
type Starts struct {
	Seconds []int64   `json:"seconds"`
	At      time.Time `json:"at"` // the last of them
}

// starts are those of each workload that pods were seen to start of.
type starts map[owner]started

type started struct {
	Starts
	usual time.Duration // the median
}

// workloadOf is whose the pod is, for as long as there will be such pods; it does not count where nobody would make it again,
// or where it starts with its node.
func workloadOf(p *cluster.Pod) (of owner, counts bool) {
	return owner{p.Namespace, translate.Lasting(p.Owner, p.CreatedAt)}, p.Owner != "" && !p.Daemon && !p.Mirror
}

// starting notes how long a pod took when it is ready for the first time, and reports
// whether that is still to come. Of a pod that had a node before this process looked,
// it is not known whether it was ready before: it is not measured.
func (k *Keeper) starting(pod *corev1.Pod, e, before *podEntry, first bool) bool {
	if before.pod.UID != e.pod.UID {
		return !e.up && (!first || e.pod.Node == "")
	}
	if !before.starting || !e.up {
		return before.starting
	}
	if of, counts := workloadOf(&e.pod); counts {
		if took, known := translate.Start(pod); known {
			k.noteStart(of, took)
		}
	}
	return false
}

func (k *Keeper) noteStart(of owner, took time.Duration) {
	if _, known := k.starts[of]; !known && len(k.starts) >= memoryMost {
		k.forgetStarts()
	}
	list := append(slices.Clone(k.starts[of].Seconds), int64(took/time.Second)) // a Memory may share what was there
	k.setStarts(of, Starts{list[max(0, len(list)-startsKept):], k.now()})
}

func (s starts) set(of owner, is Starts) {
	median := slices.Sorted(slices.Values(is.Seconds))[len(is.Seconds)/2]
	s[of] = started{is, time.Duration(median) * time.Second}
}

// setStarts keeps how long pods of a workload take to start. Where another time is usual
// now, its pods are shown anew.
func (k *Keeper) setStarts(of owner, is Starts) {
	before, known := k.starts[of]
	if k.starts.set(of, is); !known || k.starts[of].usual != before.usual {
		k.restarted[of] = struct{}{}
	}
}

// startAgain has pods shown anew that take longer to start, or less long, than was
// shown. Cost: linear in the pods of their namespaces.
func (k *Keeper) startAgain() {
	in := map[string]bool{}
	for of := range k.restarted {
		in[of.namespace] = true
	}
	for namespace := range in {
		for s := range k.subjects.in[namespace] {
			if _, other := k.restarted[s.workload]; other {
				k.views.isOld(s.node)
			}
		}
	}
	clear(k.restarted)
}

// forgetStarts makes room: for workloads without pods it matters least, and then
// for those that last started one longest ago. It does so for many at once, since
// it looks at every pod.
func (k *Keeper) forgetStarts() {
	has := make(map[owner]bool, len(k.starts))
	for _, e := range k.pods {
		if of, counts := workloadOf(&e.pod); counts {
			has[of] = true
		}
	}
	before := maps.Clone(k.starts)
	maps.DeleteFunc(k.starts, func(of owner, _ started) bool { return !has[of] })
	latest(k.starts, memoryMost*9/10, func(s started) time.Time { return s.At }, owner.compare)
	for of := range before {
		if _, still := k.starts[of]; !still {
			k.restarted[of] = struct{}{}
		}
	}
}

// startsFor is how long pods usually take to start that are of the workload of this one;
// where none was seen to, what a saved snapshot says of it.
func (k *Keeper) startsFor(p *cluster.Pod) time.Duration {
	if of, counts := workloadOf(p); counts {
		if s, known := k.starts[of]; known {
			return s.usual
		}
	}
	return p.StartsFor
}
