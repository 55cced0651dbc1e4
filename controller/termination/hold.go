package termination

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// holds is what plans say of pods on nodes whose instances the cloud takes away.
type holds interface {
	On(node string, endsAt time.Time) (hold plan.Hold, known bool)
}

// stand parts the pods of a group into those that are to leave now and those that stay
// until there is room for them. Where no plan has checked the node yet, all that may stay
// do, as long as there is time.
func (r *Reconciler) stand(d *departure, all, group []corev1.Pod) (leave, stay []corev1.Pod) {
	if d.endsAt.IsZero() {
		return group, nil
	}
	hold, known := r.Holds.On(d.node.Name, d.endsAt)
	if !known {
		hold = r.undecided(d, all)
	}
	if !r.Now().Before(hold.Until) {
		return group, nil
	}
	held := map[types.UID]*cluster.Pod{}
	for i := range hold.Pods {
		held[types.UID(hold.Pods[i].UID)] = &hold.Pods[i]
	}
	last := 0 // how many of those that stay are not created again
	for i := range group {
		p := held[group[i].UID]
		switch {
		case p == nil:
			leave = append(leave, group[i])
			continue
		case p.OneOff != "":
			last++
		}
		stay = append(stay, group[i])
	}
	if len(stay) > 0 {
		r.reportWait(d.node, "hold", fmt.Sprintf("%s, at the latest until %s: the instance ends at %s",
			staying(len(stay)-last, last), hold.Until.UTC().Format(time.RFC3339), d.endsAt.Format(time.RFC3339)))
	}
	return leave, stay
}

// undecided holds all pods that may be held.
func (r *Reconciler) undecided(d *departure, all []corev1.Pod) plan.Hold {
	now, pods := r.Now(), make([]cluster.Pod, len(all))
	for i := range all {
		pods[i] = podspec.Pod(&all[i], now, r.Autoscaler)
	}
	hold := plan.Hold{Node: d.node.Name, Until: cluster.EvictBy(d.endsAt, pods)}
	hold.Pods = slices.DeleteFunc(pods, func(p cluster.Pod) bool { return !p.Held() })
	return hold
}

// staying says of how many pods that they wait for room, and of how many that nothing
// creates again.
func staying(n, last int) string {
	var out []string
	switch {
	case n == 1:
		out = append(out, "1 pod stays until there is room for it on a node that has started")
	case n > 1:
		out = append(out, fmt.Sprintf("%d pods stay until there is room for them on nodes that have started", n))
	}
	switch {
	case last == 1:
		out = append(out, "1 pod that is not created again stays as long as it can")
	case last > 1:
		out = append(out, fmt.Sprintf("%d pods that are not created again stay as long as they can", last))
	}
	return strings.Join(out, ", and ")
}
