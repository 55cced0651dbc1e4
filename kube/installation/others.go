package installation

import (
	"cmp"
	"context"
	"fmt"
	"path"
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
	Name      string // of the Helm release; without one of a pod
	Lease     Lease  // what it leads by
}

// Other is a release that leads beside this one.
type Other struct {
	Release
	Image string // of the controller's container; while the release rolls out the first by name
}

// Others are the releases with a ready pod that lead whoever holds this lease, by namespace, name and lease. They act on the same
// NodePools, and launch nodes for the same pods. own is the pod of this controller: its release is none of them. Pods are found by the label
// app.kubernetes.io/name that the charts of Daemok and Karpenter give them, so that a chart with another nameOverride is missed.
//
// It is one list of pods that the API server answers from its cache, of these labels alone.
func Others(ctx context.Context, from client.Reader, lease Lease, own client.ObjectKey) ([]Other, error) {
	var pods corev1.PodList
	named, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "app.kubernetes.io/name", Operator: metav1.LabelSelectorOpIn, Values: []string{"daemok", "karpenter"}}}})
	if err != nil {
		return nil, err
	}
	if err := from.List(ctx, &pods, client.MatchingLabelsSelector{Selector: named}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}); err != nil {
		return nil, fmt.Errorf("list pods of other controllers: %w", err)
	}
	var all []Other
	var ours Release
	for i := range pods.Items {
		p := &pods.Items[i]
		image, env := controllerOf(&p.Spec)
		r := Release{Namespace: p.Namespace, Name: cmp.Or(p.Labels[labelInstance], p.Name), Lease: leaseOf(p.Namespace, func(name string) string { return env[name] })}
		if client.ObjectKeyFromObject(p) == own {
			ours = r
		}
		if env != nil && isReady(p) && !r.Lease.Excludes(lease) {
			all = append(all, Other{r, image})
		}
	}
	all = slices.DeleteFunc(all, func(o Other) bool { return o.Release == ours })
	slices.SortFunc(all, func(a, b Other) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.Lease.String(), b.Lease.String()), strings.Compare(a.Image, b.Image))
	})
	return slices.CompactFunc(all, func(a, b Other) bool { return a.Release == b.Release }), nil
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
		if env := settingsOf(c); runsController(c.Image, env) {
			return c.Image, env
		}
	}
	return "", nil
}

// runsController reports whether a container runs a controller of Karpenter's kinds. The charts name the Service in its environment;
// where that is missing the image tells. The cluster's name may be in a ConfigMap instead.
func runsController(image string, env map[string]string) bool {
	return env["KARPENTER_SERVICE"] != "" || IsKarpenter(image) || path.Base(repository(image)) == "daemok-controller" ||
		env["CLUSTER_NAME"] != "" && strings.Contains(image, "daemok")
}

// IsKarpenter reports whether an image is that of Karpenter's own controller, whatever the registry.
func IsKarpenter(image string) bool {
	return strings.HasSuffix("/"+repository(image), "/karpenter/controller")
}

// repository is an image without its tag and digest.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	folder, name := path.Split(image)
	name, _, _ = strings.Cut(name, ":")
	return folder + name
}

// settingsOf is the environment of a container, as far as it has values.
func settingsOf(c *corev1.Container) map[string]string {
	env := map[string]string{}
	for _, v := range c.Env {
		env[v.Name] = v.Value
	}
	return env
}
