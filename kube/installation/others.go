package installation

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// labelInstance is how Helm charts label objects with the release that they belong to.
const labelInstance = "app.kubernetes.io/instance"

// Release is a controller of Karpenter's kinds, Daemok's or Karpenter's own, as its Deployment shows it.
type Release struct {
	Namespace string
	Name      string // of the Helm release; without one of the Deployment
	Lease     Lease  // what it leads by
}

// Other is a release that leads beside this one.
type Other struct {
	Release
	Image string // of the controller's container
}

// Others are the releases with a ready pod that lead whichever controller holds this lease, by namespace, name and
// lease. They act on the same NodePools, and launch nodes for the same pods. own is the pod of this controller: its
// release is none of them. Every Deployment of the cluster is examined, whatever its labels; a controller that
// something else runs is missed, and so is what only a ConfigMap or Secret says of a release.
//
// It is one list of Deployments that the API server answers from its cache, and one of pods for each controller in
// own's namespace.
func Others(ctx context.Context, from client.Reader, lease Lease, own client.ObjectKey) ([]Other, error) {
	var deployments appsv1.DeploymentList
	if err := from.List(ctx, &deployments, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}); err != nil {
		return nil, fmt.Errorf("list Deployments to find other controllers: %w", err)
	}
	var all []Other
	for i := range deployments.Items {
		d := &deployments.Items[i]
		c := controllerOf(&d.Spec.Template.Spec)
		if c == nil || d.Status.ReadyReplicas == 0 {
			continue // one that does not start leads by nothing
		}
		says := stated(c)
		if shadows(c) {
			continue // it changes nothing
		}
		r := Release{Namespace: d.Namespace, Name: cmp.Or(d.Spec.Template.Labels[labelInstance], d.Name), Lease: LeaseOf(d.Namespace, func(name string) string { return says[name] })}
		if r.Lease.Excludes(lease) {
			continue
		}
		ours, err := runs(ctx, from, d, own)
		if err != nil {
			return nil, err
		}
		if !ours {
			all = append(all, Other{r, c.Image})
		}
	}
	slices.SortFunc(all, func(a, b Other) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.Lease.String(), b.Lease.String()), strings.Compare(a.Image, b.Image))
	})
	return slices.CompactFunc(all, func(a, b Other) bool { return a.Release == b.Release }), nil
}

// Namespaces are those that have a controller of Karpenter's kinds, running or not, sorted.
func Namespaces(ctx context.Context, from client.Reader) ([]string, error) {
	var deployments appsv1.DeploymentList
	if err := from.List(ctx, &deployments); err != nil {
		return nil, fmt.Errorf("list Deployments to find controllers: %w", err)
	}
	var all []string
	for i := range deployments.Items {
		if controllerOf(&deployments.Items[i].Spec.Template.Spec) != nil {
			all = append(all, deployments.Items[i].Namespace)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// runs reports whether a pod is one of a Deployment's.
func runs(ctx context.Context, from client.Reader, d *appsv1.Deployment, pod client.ObjectKey) (bool, error) {
	if d.Namespace != pod.Namespace {
		return false, nil
	}
	chosen, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return false, fmt.Errorf("read the selector of Deployment %s: %w", client.ObjectKeyFromObject(d), err)
	}
	var pods corev1.PodList
	if err := from.List(ctx, &pods, client.InNamespace(d.Namespace), client.MatchingLabelsSelector{Selector: chosen}); err != nil {
		return false, fmt.Errorf("list the pods of Deployment %s: %w", client.ObjectKeyFromObject(d), err)
	}
	return slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Name == pod.Name }), nil
}

// controllerOf is the container that runs a controller of Karpenter's kinds; nil: there is none.
func controllerOf(pod *corev1.PodSpec) *corev1.Container {
	for i := range pod.Containers {
		if c := &pod.Containers[i]; runsController(c.Image, stated(c)) {
			return c
		}
	}
	return nil
}

// runsController reports whether a container runs a controller of Karpenter's kinds. The charts name the Service in
// its environment; where that is missing the image decides. The cluster's name may be in a ConfigMap instead.
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
