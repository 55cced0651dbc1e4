package drain

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/translate"
)

// holds is what plans say of pods on nodes whose machines the cloud takes away.
type holds interface {
	On(node string, endsAt time.Time) (hold plan.Hold, known bool)
}

// stand parts the pods of a group into those that are to leave now and those that
// stay until there is room for them. Where no plan has looked at the node yet, all
// that may stay do, as long as there is time.
func (r *Reconciler) stand(d *departure, all, group []corev1.Pod) (leave, stay []corev1.Pod) {
	if d.endsAt.IsZero() {
		return group, nil
	}
	hold, known := r.Holds.On(d.node.Name, d.endsAt)
	if !known {
		hold = undecided(d, all, r.Now())
	}
	if !r.Now().Before(hold.Until) {
		return group, nil
	}
	held := map[types.UID]bool{}
	for i := range hold.Pods {
		held[types.UID(hold.Pods[i].UID)] = true
	}
	for i := range group {
		if held[group[i].UID] {
			stay = append(stay, group[i])
		} else {
			leave = append(leave, group[i])
		}
	}
	if len(stay) > 0 {
		r.tellWait(d.node, "hold", fmt.Sprintf("%s, at the latest until %s: the machine ends at %s",
			staying(len(stay)), hold.Until.UTC().Format(time.RFC3339), d.endsAt.Format(time.RFC3339)))
	}
	return leave, stay
}

// undecided holds all pods that may be held.
func undecided(d *departure, all []corev1.Pod, now time.Time) plan.Hold {
	pods := make([]cluster.Pod, len(all))
	for i := range all {
		pods[i] = translate.Pod(&all[i], now)
	}
	hold := plan.Hold{Node: d.node.Name, Until: cluster.EvictBy(d.endsAt, pods)}
	hold.Pods = slices.DeleteFunc(pods, func(p cluster.Pod) bool { return !p.Held() })
	return hold
}

func staying(n int) string {
	if n == 1 {
		return "1 pod stays until there is room for it on a machine that has started"
	}
	return fmt.Sprintf("%d pods stay until there is room for them on machines that have started", n)
}
