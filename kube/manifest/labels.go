package manifest

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// readers are the labels that a saved snapshot reports pods.
type readers struct {
	reported map[[2]string]bool // namespace and key; namespace empty for all
	pods     []*corev1.Pod      // that came
}

// labelsRead are those that some selector of the snapshot reads.
func labelsRead(saved *cluster.Snapshot) readers {
	out := readers{reported: map[[2]string]bool{}}
	if saved == nil {
		return out
	}
	for _, s := range saved.Shapes() {
		podspec.Reads(s, func(namespace string, _ bool, key string) { out.reported[[2]string{namespace, key}] = true })
		for _, l := range s.Labels {
			out.reported[[2]string{s.Namespace, l.Key}] = true
		}
	}
	return out
}

func (r *readers) came(pod *corev1.Pod) { r.pods = append(r.pods, pod) }

// recordLabels notes where new pods choose others by labels that a saved snapshot does not have.
func (a *applier) recordLabels() {
	if a.Saved == nil {
		return
	}
	ours := map[string]bool{}
	for _, pod := range a.read.pods {
		ours[string(pod.UID)] = true
	}
	now := a.Snapshot()
	others := func(namespace string, all bool) int {
		count := 0
		each(now, func(p *cluster.Pod) {
			if !ours[p.UID] && (all || p.Namespace == namespace) {
				count++
			}
		})
		return count
	}
	noted := map[*cluster.Shape]bool{}
	each(now, func(p *cluster.Pod) {
		if !ours[p.UID] || noted[p.Shape] {
			return
		}
		noted[p.Shape] = true
		podspec.Reads(p.Shape, func(namespace string, all bool, key string) {
			if strings.Contains(key, "!") { // of a claim: no label of a pod
				return
			}
			if a.read.reported[[2]string{namespace, key}] || a.read.reported[[2]string{"", key}] {
				return
			}
			if n := others(namespace, all); n > 0 {
				where := "in namespace " + namespace
				if all {
					where = "in all namespaces"
				}
				a.Notes = append(a.Notes, fmt.Sprintf("pods like %s/%s select others by label %s, which the snapshot does not have for %s %s: "+
					"these are assumed not to have it", p.Namespace, p.Name, key, counted(n), where))
			}
		})
	})
	for _, b := range a.budgets {
		a.recordPDB(b, others(b.Namespace, false))
	}
	for _, pod := range a.read.pods {
		if choosesNamespaces(pod) {
			a.Notes = append(a.Notes, fmt.Sprintf("pod %s/%s selects namespaces by labels, which the snapshot does not have: only names and manifests are known",
				pod.Namespace, pod.Name))
		}
	}
}

// recordPDB notes by which labels a PodDisruptionBudget chooses pods that the snapshot does not
// have for so many of its namespace. For one that the snapshot knows it returns the pods.
func (a *applier) recordPDB(b budget, pods int) {
	known := func(g cluster.PodDisruptionBudget) bool { return g.Namespace == b.Namespace && g.Name == b.Name }
	if pods == 0 || slices.ContainsFunc(a.Saved.PDBs, known) {
		return
	}
	requirements, _ := podspec.PDBSelector(b.PodDisruptionBudget).Requirements()
	for i := range requirements {
		key := requirements[i].Key()
		if a.read.reported[[2]string{b.Namespace, key}] || a.read.reported[[2]string{"", key}] {
			continue
		}
		a.Notes = append(a.Notes, fmt.Sprintf("%s selects pods by label %s, which the snapshot does not have for %s in namespace %s: "+
			"these are assumed not to have it", b.from, key, counted(pods), b.Namespace))
	}
}

func choosesNamespaces(pod *corev1.Pod) bool {
	rules := podspec.RulesOf(pod)
	return rules.LookUpNamespaces()
}

// each visits the pods of a snapshot that wait or have a node.
func each(s *cluster.Snapshot, visit func(*cluster.Pod)) {
	for i := range s.Waiting {
		visit(&s.Waiting[i])
	}
	for i := range s.Nodes {
		for j := range s.Nodes[i].Pods {
			visit(&s.Nodes[i].Pods[j])
		}
	}
}

func counted(pods int) string {
	if pods == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", pods)
}
