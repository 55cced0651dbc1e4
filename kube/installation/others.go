package installation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// labelInstance is how Helm charts label objects with the release that they belong to.
const labelInstance = "app.kubernetes.io/instance"

// Release is a controller of Karpenter's kinds, Daemok's or Karpenter's own, as its pods show it.
type Release struct {
	Namespace string
	Name      string           // of the Helm release; without one of a pod
	Image     string           // of the controller's container
	Lease     client.ObjectKey // what it leads by
}

// Others are the releases with a ready pod that lead by another lease than this, by namespace and name. They act on the same NodePools,
// and launch nodes for the same pods. Pods are found by the label app.kubernetes.io/name that the charts of Daemok and
// Karpenter give them, so that a chart with another nameOverride is missed.
//
// It is one list of pods that the API server answers from its cache, of these labels alone.
func Others(ctx context.Context, from client.Reader, lease client.ObjectKey) ([]Release, error) {
	var pods corev1.PodList
	named, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "app.kubernetes.io/name", Operator: metav1.LabelSelectorOpIn, Values: []string{"daemok", "karpenter"}}}})
	if err != nil {
		return nil, err
	}
	if err := from.List(ctx, &pods, client.MatchingLabelsSelector{Selector: named}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}); err != nil {
		return nil, fmt.Errorf("list pods of other controllers: %w", err)
	}
	var all []Release
	for i := range pods.Items {
		p := &pods.Items[i]
		image, env := controllerOf(&p.Spec)
		r := Release{Namespace: p.Namespace, Name: cmp.Or(p.Labels[labelInstance], p.Name), Image: image, Lease: leaseOf(p.Namespace, func(name string) string { return env[name] })}
		if env != nil && isReady(p) && r.Lease != lease && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Release) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.Image, b.Image))
	})
	return all, nil
}

// isReady reports whether the pod works: one that does not start leads by nothing.
func isReady(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// controllerOf is the container that runs a controller of Karpenter's kinds: its image and the
// values of its environment. These are nil where there is none.
func controllerOf(pod *corev1.PodSpec) (image string, env map[string]string) {
	for i := range pod.Containers {
		c := &pod.Containers[i]
		if env := settingsOf(c); env["CLUSTER_NAME"] != "" && (env["KARPENTER_SERVICE"] != "" || strings.Contains(c.Image, "daemok")) {
			return c.Image, env
		}
	}
	return "", nil
}

// settingsOf is the environment of a container, as far as it has values.
func settingsOf(c *corev1.Container) map[string]string {
	env := map[string]string{}
	for _, v := range c.Env {
		env[v.Name] = v.Value
	}
	return env
}

// leaseOf is what a controller in a namespace leads by, by its settings.
func leaseOf(namespace string, setting func(string) string) client.ObjectKey {
	return client.ObjectKey{Namespace: cmp.Or(setting("LEADER_ELECTION_NAMESPACE"), namespace), Name: cmp.Or(setting("LEADER_ELECTION_NAME"), UsualLease)}
}
