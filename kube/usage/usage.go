// Package usage reads from metrics-server what nodes and pods use.
//
// It promises that a cluster without metrics-server, one that does not answer, and a missing right are no errors but
// reasons, in a sentence. It keeps nothing: metrics-server knows the last minute alone.
package usage

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/quantity"
)

// Meter asks metrics-server.
type Meter struct {
	Live client.Reader // must know the kinds of metrics.k8s.io
	Who  string        // asks, for reasons: "you", "the controller"
}

// Pods is what pods use now, of one namespace or, where that is empty, of all; without it, why that is not known.
func (m Meter) Pods(ctx context.Context, namespace string) (map[cost.PodID]cost.Used, string, error) {
	var list metrics.PodMetricsList
	const lacks = "What pods request too much is not known: "
	switch why, err := m.read(ctx, &list, "pods", client.InNamespace(namespace)); {
	case err != nil:
		return nil, "", err
	case why != "":
		return nil, lacks + why, nil
	}
	out := make(map[cost.PodID]cost.Used, len(list.Items))
	for i := range list.Items {
		pod, used := &list.Items[i], cost.Used{Samples: 1}
		for _, c := range pod.Containers {
			r := resources(c.Usage)
			used.CPU += r.CPU
			used.Memory += r.Memory
		}
		out[cost.PodID{Namespace: pod.Namespace, Name: pod.Name}] = used
	}
	return out, "", nil
}

// Nodes is what is used on each node now, by its name; without it, why that is not known.
func (m Meter) Nodes(ctx context.Context) (map[string]quantity.Resources, string, error) {
	var list metrics.NodeMetricsList
	if why, err := m.read(ctx, &list, "nodes"); why != "" || err != nil {
		return nil, why, err
	}
	out := make(map[string]quantity.Resources, len(list.Items))
	for i := range list.Items {
		out[list.Items[i].Name] = resources(list.Items[i].Usage)
	}
	return out, "", nil
}

// read lists what metrics-server has; why says that it has nothing.
func (m Meter) read(
	ctx context.Context, list client.ObjectList, what string, of ...client.ListOption,
) (why string, err error) {
	switch err := m.Live.List(ctx, list, of...); {
	case err == nil:
		return "", nil
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return "the cluster has no metrics-server.", nil
	case apierrors.IsServiceUnavailable(err):
		return "metrics-server does not answer.", nil
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("%s may not list %s.metrics.k8s.io; grant the verb list on them.", m.Who, what), nil
	default:
		return "", fmt.Errorf("list %s.metrics.k8s.io: %w", what, err)
	}
}

func resources(of corev1.ResourceList) quantity.Resources {
	return quantity.Resources{
		CPU: quantity.MilliCPU(of.Cpu().MilliValue()), Memory: quantity.Bytes(of.Memory().Value()),
	}
}
