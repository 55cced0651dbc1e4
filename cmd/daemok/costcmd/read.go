package costcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cmd/daemok/files"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/internal/version"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/usage"
	"github.com/daemok/daemok/ui/costs"
)

// chosen are the pods that a report is of.
type chosen struct {
	namespace string          // empty: of all
	selector  labels.Selector // nil: whatever their labels
}

func (f *flags) chosen() (c chosen, err error) {
	c.namespace = f.at.GivenNamespace()
	if f.selector != "" {
		if c.selector, err = labels.Parse(f.selector); err != nil {
			return c, fmt.Errorf("--selector %q: %w", f.selector, err)
		}
	}
	return c, nil
}

// all reports whether every pod is chosen.
func (c chosen) all() bool { return c.namespace == "" && c.selector == nil }

// String says which pods are chosen; empty: all.
func (c chosen) String() string {
	switch {
	case c.all():
		return ""
	case c.selector == nil:
		return "namespace " + c.namespace
	case c.namespace == "":
		return "pods with " + c.selector.String()
	}
	return fmt.Sprintf("pods with %s in namespace %s", c.selector, c.namespace)
}

// needsLabels reports whether labels of pods are needed for a report.
func needsLabels(groups [][]cost.Key, c chosen) bool {
	return c.selector != nil || slices.ContainsFunc(groups, func(keys []cost.Key) bool {
		return slices.ContainsFunc(keys, func(k cost.Key) bool { return k.Dimension == cost.Label })
	})
}

// choose sets which pods the report is of, by their labels, of which nil are those that the snapshot has.
func (c chosen) choose(in *costs.Input) error {
	if c.all() {
		return nil
	}
	in.Of, in.Only = c.String(), map[cost.PodID]bool{}
	for i := range in.Allocation.Nodes {
		for _, share := range in.Allocation.Nodes[i].Pods {
			id := cost.Of(share.Pod)
			of, known := in.Labels[id]
			if !known {
				of = share.Pod.Shape.Labels.Map()
			}
			within := c.namespace == "" || c.namespace == id.Namespace
			if within && (c.selector == nil || c.selector.Matches(labels.Set(of))) {
				in.Only[id] = true
			}
		}
	}
	if len(in.Only) == 0 {
		return fmt.Errorf("no pod on a node is chosen by %s", c)
	}
	return nil
}

// saved reads a file that daemok snapshot has written.
func saved(stdin io.Reader, file string, groups [][]cost.Key, c chosen) (in costs.Input, err error) {
	s, err := files.Situation(stdin, file, version.Get().Build())
	if err != nil {
		return in, err
	}
	if needsLabels(groups, c) {
		in.Troubles = []string{"A snapshot has those labels of pods alone that rules of scheduling read: " +
			"of other labels pods have no value."}
	}
	in.NoUsage = "A snapshot does not say what pods use: what they request too much is not known."
	return in, fill(&in, s, "", c)
}

// fill computes the costs of a snapshot.
func fill(in *costs.Input, s *cluster.Snapshot, region string, c chosen) error {
	in.At = s.Now
	if s.Commitments.Any() {
		in.Commitments = &s.Commitments
	}
	in.Allocation = cost.Allocate(cost.Input{Snapshot: s, Listed: costs.Listed(s, aws.ListPrices{Region: region})})
	return c.choose(in)
}

// live reads the cluster. What its user may not read is missing, and the report says so.
func (f *flags) live(ctx context.Context, see See, groups [][]cost.Key, c chosen) (in costs.Input, err error) {
	seen, err := see(ctx, f.at, f.askAWS)
	if err != nil {
		return in, err
	}
	if needsLabels(groups, c) {
		if in.Labels, err = labelsOf(ctx, seen, c.namespace); err != nil {
			return in, err
		}
	}
	meter := usage.Meter{Live: seen.Live, Who: "you"}
	if in.Usage, in.NoUsage, err = meter.Pods(ctx, c.namespace); err != nil {
		return in, err
	}
	if err := fill(&in, seen.Snapshot, f.at.Region, c); err != nil {
		return in, errors.Join(append([]error{err}, asErrors(seen.Troubles())...)...)
	}
	in.Troubles = seen.Troubles()
	return in, nil
}

func asErrors(texts []string) (out []error) {
	for _, t := range texts {
		out = append(out, errors.New(t))
	}
	return out
}

// labelsOf reads the labels of pods, and nothing else of them.
func labelsOf(ctx context.Context, seen *inspect.Seen, namespace string) (cost.Labels, error) {
	out := cost.Labels{}
	newList := func() client.ObjectList {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
		return list
	}
	take := func(list client.ObjectList) {
		for _, p := range list.(*metav1.PartialObjectMetadataList).Items {
			out[cost.PodID{Namespace: p.Namespace, Name: p.Name}] = p.Labels
		}
	}
	err := pages.EachList(ctx, seen.Live, newList, take, client.InNamespace(namespace))
	if apierrors.IsForbidden(err) {
		seen.Add("You may not list pods: grant the verb list on them to see costs by their labels.")
		return nil, nil
	}
	return out, err
}
