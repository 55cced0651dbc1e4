package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// replacement is what becomes of the pods of one object.
type replacement struct {
	Object
	gone []cluster.Pod
	come []*corev1.Pod
	own  []*corev1.PersistentVolumeClaim // that come with the pods
}

// compare finds out which pods of a workload stay. All are compared before any pod comes or goes,
// so that none is identified by what another one reads.
func (a *applier) compare(o Object) error {
	w, is := workloadOf(o)
	if !is {
		return nil
	}
	if err := w.check(); err != nil {
		return err
	}
	stay, differ, hash, err := a.sort(&w)
	if err != nil {
		return inTemplate(err)
	}
	want := max(1, len(stay)+len(differ))
	if w.replicas != nil {
		want = int(*w.replicas)
	}
	stay, surplus := w.leave(stay, want)
	next := replacement{Object: o, gone: slices.Concat(differ, surplus)}
	for _, n := range w.free(stay, want-len(stay)) {
		pod := w.pod(w.nameOf(n), n, hash)
		if err := a.admit(pod); err != nil {
			return inTemplate(err)
		}
		next.come = append(next.come, pod)
		next.own = append(next.own, w.claimsOf(pod.Name)...)
	}
	a.plans = append(a.plans, next)
	a.change(o, "%s", w.report(len(stay), len(next.come), len(differ), len(surplus)))
	return nil
}

// inTemplate names the field of a workload where a pod's would be wrong.
func inTemplate(err error) error {
	if strings.HasPrefix(err.Error(), "spec.") {
		return fmt.Errorf("spec.template.%w", err)
	}
	return fmt.Errorf("spec.template: %w", err)
}

func (w *workload) report(stay, come, differ, surplus int) string {
	text := fmt.Sprintf("%d stay, %d new", stay, come)
	if differ > 0 {
		text += fmt.Sprintf(", %d of another template go", differ)
	}
	if surplus > 0 {
		text += fmt.Sprintf(", %d too many go", surplus)
	}
	if len(w.template.Spec.SchedulingGates) > 0 && come > 0 {
		text += "; no instance is launched for the new ones before their scheduling gates are removed"
	}
	return text
}

// sort reports which pods of a workload are as its template makes them, which are not, and the
// version of the template.
func (a *applier) sort(w *workload) (stay, differ []cluster.Pod, hash string, err error) {
	probe := w.pod(w.nameOf(w.first), w.first, hashIfNew)
	if err := a.admit(probe); err != nil {
		return nil, nil, "", err
	}
	for _, c := range w.claimsOf(probe.Name) {
		if !a.Has(c) {
			a.Seen(c)
			defer a.Gone(c)
		}
	}
	shape, all := a.Beside(probe, w.owns)
	if err := a.known(probe, shape.Unable); err != nil {
		return nil, nil, "", err
	}
	hash = hashIfNew
	for _, p := range all {
		if !podspec.Alike(&shape, p.Shape) {
			differ = append(differ, p)
			continue
		}
		stay = append(stay, p)
		if value, said := p.Shape.Labels.Get(w.hashLabel()); said {
			hash = value
		}
	}
	return stay, differ, hash, nil
}

// leave keeps as many pods as are wanted: of numbered ones the first, of
// others those that run, that are expensive to delete, and that are old.
func (w *workload) leave(pods []cluster.Pod, want int) (stay, surplus []cluster.Pod) {
	if !w.ordered {
		slices.SortStableFunc(pods, func(p, q cluster.Pod) int {
			return cmp.Or(cmp.Compare(waits(p), waits(q)), cmp.Compare(q.DeletionCost, p.DeletionCost), p.CreatedAt.Compare(q.CreatedAt))
		})
		at := min(max(want, 0), len(pods))
		return pods[:at:at], pods[at:]
	}
	numbers := w.numbers(want)
	for _, p := range pods {
		if numbers[p.Name] {
			stay = append(stay, p)
		} else {
			surplus = append(surplus, p)
		}
	}
	return stay, surplus
}

func waits(p cluster.Pod) int {
	switch {
	case p.Node == "":
		return 2
	case p.Unready:
		return 1
	}
	return 0
}

// numbers are the names of the pods that a numbered workload has.
func (w *workload) numbers(want int) map[string]bool {
	out := map[string]bool{}
	for i := range want {
		out[w.nameOf(w.first+i)] = true
	}
	return out
}

// free are the numbers of pods that come beside those that stay.
func (w *workload) free(stay []cluster.Pod, count int) []int {
	taken := map[string]bool{}
	for _, p := range stay {
		taken[p.Name] = true
	}
	var out []int
	for n := w.first; len(out) < count; n++ {
		if !taken[w.nameOf(n)] {
			out = append(out, n)
		}
	}
	return out
}

// nameOf is the name of the pod with a number. Those of unnumbered workloads are taken from pods
// that are there.
func (w *workload) nameOf(n int) string {
	if w.ordered {
		return fmt.Sprintf("%s-%d", w.GetName(), n)
	}
	return fmt.Sprintf("%s-new-%d", w.GetName(), n+1)
}

// stabilize finds out whether a pod is there already as it is wanted.
func (a *applier) stabilize(o Object) error {
	given, is := o.Object.(*corev1.Pod)
	if !is {
		return nil
	}
	pod := given.DeepCopy()
	if pod.UID == "" {
		pod.UID = plannedUID(pod.Namespace, pod.Name)
	}
	if err := a.admit(pod); err != nil {
		return err
	}
	shape, there := a.Beside(pod, func(p *cluster.Pod) bool { return p.Namespace == pod.Namespace && p.Name == pod.Name })
	if err := a.known(pod, shape.Unable); err != nil {
		return err
	}
	switch {
	case len(there) == 0:
		a.change(o, "new")
	case podspec.Alike(&shape, there[0].Shape):
		a.change(o, "is there, and stays as it is")
		return nil
	default:
		a.change(o, "in place of the one that is there")
	}
	a.plans = append(a.plans, replacement{Object: o, gone: there, come: []*corev1.Pod{pod}})
	return nil
}

// carryOut lets pods come and go.
func (r *replacement) carryOut(a *applier) error {
	for _, p := range r.gone {
		a.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}})
	}
	for _, c := range r.own {
		if !a.Has(c) {
			a.Seen(c)
		}
	}
	for _, pod := range r.come {
		if c := metav1.GetControllerOf(pod); c != nil && c.Kind == "ReplicaSet" {
			a.replicaSet(r.Object, c.Name, pod)
		}
		a.Listed(pod)
		a.read.came(pod)
	}
	return nil
}

// replicaSet lets default spreads find the labels that identify the pods of a workload.
func (a *applier) replicaSet(o Object, name string, pod *corev1.Pod) {
	w, is := workloadOf(o)
	if !is || w.selector == nil {
		return
	}
	selector := w.selector.DeepCopy()
	if hash, said := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; said && w.kind == "Deployment" {
		if selector.MatchLabels == nil {
			selector.MatchLabels = map[string]string{}
		}
		selector.MatchLabels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
	}
	a.Seen(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name}, Spec: appsv1.ReplicaSetSpec{Selector: selector}})
}
