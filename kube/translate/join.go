package translate

import (
	"encoding/json"
	"fmt"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
)

// join is plan.Join as the annotation daemok.sh/joins-with has it, in a list.
type join struct {
	Group string `json:"group"`
	Key   string `json:"key"`
	Opens bool   `json:"opens,omitempty"`
	Turn  int    `json:"turn,omitempty"`
}

// Joins reads which groups of claims a claim with the annotations opens to
// pods with. What cannot be read is as good as nothing: no node waits then.
func Joins(annotations map[string]string) []plan.Join {
	text := annotations[api.AnnotationJoins]
	if text == "" {
		return nil
	}
	var list []join
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil
	}
	out := make([]plan.Join, len(list))
	for i, j := range list {
		out[i] = plan.Join(j)
	}
	return out
}

// SetJoins adds joins to what the annotations say already; nothing is written
// where there are none.
func SetJoins(annotations map[string]string, joins []plan.Join) error {
	all := Joins(annotations)
	for _, j := range joins {
		all = withJoin(all, j)
	}
	if len(all) == 0 {
		return nil
	}
	list := make([]join, len(all))
	for i, j := range all {
		list[i] = join(j)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("write annotation %s: %w", api.AnnotationJoins, err)
	}
	annotations[api.AnnotationJoins] = string(text)
	return nil
}

func withJoin(all []plan.Join, j plan.Join) []plan.Join {
	for i := range all {
		if all[i].Group == j.Group && all[i].Key == j.Key {
			all[i].Opens = all[i].Opens || j.Opens
			return all
		}
	}
	return append(all, j)
}
