package oracle

import (
	"context"
	"fmt"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
)

// Story reports a disagreement: what it is, the cluster as the core sees it, the plan, and
// the world that Read makes again from the story.
func Story(ctx context.Context, w *World, d Disagreement) ([]byte, error) {
	s, err := w.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	p, trouble := decided(s)
	if trouble != nil {
		p = &plan.Plan{}
	}
	order := ""
	for i, x := range p.Placements {
		order += fmt.Sprintf("%d: %s/%s on %s %s\n", i+1, x.Pod.Namespace, x.Pod.Name, x.On, x.Target)
	}
	return txtar.Format(&txtar.Archive{
		Comment: fmt.Appendf(nil, "Seed %d: the plan and kube-scheduler disagree.\n%s\n", w.Seed, d),
		Files: []txtar.File{
			{Name: "cluster", Data: []byte(scenario.Print(s))},
			{Name: "plan", Data: []byte(p.String())},
			{Name: "order", Data: []byte(order)},
			{Name: "world", Data: []byte(toYAML(w))},
		},
	}), nil
}

// Read makes the world of a story again.
func Read(story []byte) (*World, error) {
	for _, f := range txtar.Parse(story).Files {
		if f.Name != "world" {
			continue
		}
		w := &World{}
		if err := yaml.UnmarshalStrict(f.Data, w); err != nil {
			return nil, fmt.Errorf("read the world of a story: %w", err)
		}
		return w, nil
	}
	return nil, fmt.Errorf("the story has no file named world")
}

func toYAML(o any) string {
	out, err := yaml.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("%T cannot be written as YAML: %v", o, err))
	}
	return string(out)
}
