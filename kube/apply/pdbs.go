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
	"github.com/daemok/daemok/kube/translate/podspec"
)

// pdbs are the PodDisruptionBudgets as the API server has them, read once for
// each namespace.
type pdbs struct {
	*Applier
	in  map[string][]pdb
	all disruption.PDBs
}

type pdb struct {
	cluster.PodDisruptionBudget
	selector labels.Selector
}

// name records with a pod those that select it.
func (g *pdbs) name(ctx context.Context, p *cluster.Pod, of map[string]string) error {
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
	p.PDBs = strings.Join(names, ",")
	p.Kept = p.KeptBy(g.all[[2]string{p.Namespace, p.PDBs}])
	return nil
}

func (g *pdbs) read(ctx context.Context, namespace string) error {
	g.in[namespace] = []pdb{}
	err := pages.Each(ctx, g.Live, &policyv1.PodDisruptionBudgetList{}, func(l *policyv1.PodDisruptionBudgetList) {
		for i := range l.Items {
			one := pdb{podspec.PodDisruptionBudget(&l.Items[i]), podspec.PDBSelector(&l.Items[i])}
			g.in[namespace] = append(g.in[namespace], one)
			g.all[[2]string{namespace, one.Name}] = &one.PodDisruptionBudget
		}
	}, client.InNamespace(namespace))
	if err != nil {
		return fmt.Errorf("read PodDisruptionBudgets of namespace %s: %w", namespace, err)
	}
	return nil
}
