package manifest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/translate/podspec"
)

// The priorities that every cluster has classes for.
var systemPriorities = map[string]int32{"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}

// admit makes a pod what an API server would store, and one that waits for a
// node where it says none.
func (a *applier) admit(pod *corev1.Pod) error {
	if len(pod.Spec.Containers) == 0 {
		return errors.New("spec.containers is missing")
	}
	if err := checkAmounts(&pod.Spec); err != nil {
		return err
	}
	if err := a.prioritise(&pod.Spec); err != nil {
		return err
	}
	if name := pod.Spec.RuntimeClassName; name != nil && !a.Has(&nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: *name}}) {
		return fmt.Errorf("spec.runtimeClassName: there is no RuntimeClass %q%s", *name, a.hint("it"))
	}
	if err := a.Admit(pod); err != nil {
		return err
	}
	if pod.CreationTimestamp.IsZero() {
		pod.CreationTimestamp.Time = a.Now
	}
	if pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) == 0 && len(pod.Status.Conditions) == 0 {
		pod.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable},
		}
	}
	return nil
}

// checkAmounts refuses names of resources that no cluster has, and amounts that
// exceed their limits.
func checkAmounts(spec *corev1.PodSpec) error {
	for _, part := range []struct {
		field string
		list  []corev1.Container
	}{{"initContainers", spec.InitContainers}, {"containers", spec.Containers}} {
		for i := range part.list {
			if err := checkResources(&part.list[i].Resources); err != nil {
				return fmt.Errorf("spec.%s[%d].resources.%w", part.field, i, err)
			}
		}
	}
	return nil
}

func checkResources(r *corev1.ResourceRequirements) error {
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		limit, limited := r.Limits[name]
		if asked := r.Requests[name]; limited && asked.Cmp(limit) > 0 {
			return fmt.Errorf("requests.%s: %s is above the limit, %s", name, asked.String(), limit.String())
		}
	}
	for _, part := range []struct {
		field string
		list  corev1.ResourceList
	}{{"requests", r.Requests}, {"limits", r.Limits}} {
		for _, name := range slices.Sorted(maps.Keys(part.list)) {
			amount := part.list[name]
			if !isResource(string(name)) {
				return fmt.Errorf("%s.%s: no resource has this name: want cpu, memory, ephemeral-storage, hugepages-SIZE or one with a domain",
					part.field, name)
			}
			if amount.Sign() < 0 {
				return fmt.Errorf("%s.%s: %s is below zero", part.field, name, amount.String())
			}
		}
	}
	return nil
}

func isResource(name string) bool {
	switch corev1.ResourceName(name) {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return true
	}
	return strings.Contains(name, "/") || strings.HasPrefix(name, corev1.ResourceHugePagesPrefix)
}

// prioritise sets the priority that a class gives.
func (a *applier) prioritise(spec *corev1.PodSpec) error {
	if spec.PriorityClassName == "" && spec.Priority != nil {
		return nil
	}
	if err := a.readPriorities(); err != nil {
		return err
	}
	name := spec.PriorityClassName
	if value, known := systemPriorities[name]; known {
		spec.Priority = &value
		return nil
	}
	var usual *schedulingv1.PriorityClass // of pods that name none
	for i := range a.priorities {
		c := &a.priorities[i]
		if c.Name == name {
			spec.Priority = &c.Value
			return nil
		}
		if c.GlobalDefault && (usual == nil || c.Value < usual.Value) {
			usual = c
		}
	}
	if name != "" {
		return fmt.Errorf("spec.priorityClassName: there is no PriorityClass %q%s", name, a.hint("it"))
	}
	if usual != nil {
		spec.Priority = &usual.Value
	}
	return nil
}

// readPriorities adds the classes of the cluster to those of manifests, which
// go before.
func (a *applier) readPriorities() error {
	if a.World.Priorities == nil || a.prioritiesRead {
		return nil
	}
	list, err := a.World.Priorities()
	if err != nil {
		return err
	}
	a.priorities, a.prioritiesRead = append(a.priorities, list...), true
	return nil
}

// hint says where to find what a saved snapshot does not have.
func (a *applier) hint(what string) string {
	if a.Saved == nil {
		return ""
	}
	return ": a saved snapshot does not have it, so add " + what + " to the manifests, or plan on the live cluster"
}

// known finds volumes that a saved snapshot does not have, which a live cluster may have.
func (a *applier) known(pod *corev1.Pod, unable string) error {
	if a.Saved == nil || unable == "" {
		return nil
	}
	rules := podspec.RulesOf(pod)
	if own := rules.Shape(nil); own.Unable != "" || len(podspec.VolumeUses(pod)) == 0 {
		return nil
	}
	return errors.New(unable + a.hint("claims, their volumes and storage classes"))
}
