package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/translate"
)

// guards are the PodDisruptionBudgets as the API server has them, read once for
// each namespace.
type guards struct {
	*Applier
	in  map[string][]guard
	all disruption.Guards
}

type guard struct {
	cluster.Guard
	selector labels.Selector
}

// name tells a pod of those that are over it.
func (g *guards) name(ctx context.Context, p *cluster.Pod, of map[string]string) error {
	if _, read := g.in[p.Namespace]; !read && p.Evictable() {
		if err := g.read(ctx, p.Namespace); err != nil {
			return err
		}
	}
	var names []string
	for _, one := range g.in[p.Namespace] {
		if one.selector.Matches(labels.Set(of)) {
			names = append(names, one.Name)
		}
	}
	slices.Sort(names)
	p.Guards = strings.Join(names, ",")
	p.Kept = p.KeptBy(g.all[[2]string{p.Namespace, p.Guards}])
	return nil
}

func (g *guards) read(ctx context.Context, namespace string) error {
	g.in[namespace] = []guard{}
	err := pages.Each(ctx, g.Live, &policyv1.PodDisruptionBudgetList{}, func(l *policyv1.PodDisruptionBudgetList) {
		for i := range l.Items {
			one := guard{translate.Guard(&l.Items[i]), translate.GuardSelector(&l.Items[i])}
			g.in[namespace] = append(g.in[namespace], one)
			g.all[[2]string{namespace, one.Name}] = &one.Guard
		}
	}, client.InNamespace(namespace))
	if err != nil {
		return fmt.Errorf("read PodDisruptionBudgets of namespace %s: %w", namespace, err)
	}
	return nil
}
