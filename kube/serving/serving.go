// Package serving finds pods that are the last ready endpoint of a Service, and pods that a controller
// creates again. It reads both from the API server itself.
//
// It asks for pods rather than for EndpointSlices: these are written a moment after a pod begins to
// terminate, so two pods of a Service would see each other as ready and terminate at the same time.
package serving

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/translate/podspec"
)

// LastOf names a Service of which the pod is the last that is ready, while another may become so;
// empty: of none. Another may where there is one beside it, or more than one is wanted: of the only
// pod that there is, and is wanted, waiting would be of no use.
func LastOf(ctx context.Context, from client.Reader, p *corev1.Pod) (string, error) {
	if !podspec.IsUp(p) {
		return "", nil
	}
	var services corev1.ServiceList
	if err := from.List(ctx, &services, client.InNamespace(p.Namespace)); err != nil {
		return "", fmt.Errorf("list the Services of pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	for i := range services.Items {
		s := &services.Items[i]
		selector := labels.SelectorFromSet(s.Spec.Selector)
		if len(s.Spec.Selector) == 0 || !selector.Matches(labels.Set(p.Labels)) {
			continue
		}
		ready, others, err := Others(ctx, from, p, selector)
		if err != nil {
			return "", err
		}
		if ready == 0 && others == 0 {
			n, err := wanted(ctx, from, p)
			if err != nil {
				return "", err
			}
			others = int(n) - 1
		}
		if ready == 0 && others > 0 {
			return s.Name, nil
		}
	}
	return "", nil
}

// Others counts the pods beside this one that a selector is about, and how many
// of them are ready and stay so for now.
func Others(ctx context.Context, from client.Reader, p *corev1.Pod, selector labels.Selector) (ready, all int, err error) {
	var pods corev1.PodList
	if err := from.List(ctx, &pods, client.InNamespace(p.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return 0, 0, fmt.Errorf("list the pods beside %s/%s: %w", p.Namespace, p.Name, err)
	}
	for i := range pods.Items {
		o := &pods.Items[i]
		if o.UID == p.UID || podspec.IsTerminal(o) {
			continue
		}
		all++
		if podspec.IsUp(o) {
			ready++
		}
	}
	return ready, all, nil
}
