package nodepool

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

// OfferedBy reads a catalogue; nil is for none.
func OfferedBy(c *cluster.Catalogue) Offered {
	if c == nil {
		return nil
	}
	kinds, zones, regions := make(map[string]bool, len(c.InstanceTypes)), map[string]bool{}, map[string]bool{}
	for i := range c.InstanceTypes {
		k := &c.InstanceTypes[i]
		kinds[k.Name] = true
		if region, known := k.Labels.Get(api.LabelRegion); known {
			regions[region] = true
		}
		for j := range k.Offerings {
			if zone := k.Offerings[j].Zone; !zones[zone] { // there are thousands of offerings, and they are read at every change of a claim
				zones[zone] = true
			}
		}
	}
	return Offered{cluster.LabelInstanceType: kinds, api.LabelZone: zones, api.LabelRegion: regions}
}

// lack is a requirement that names values which no instance of the class has.
type lack struct {
	field  string
	key    string
	values []string
	all    bool // it names no other
}

// lacks compares what the pool names with what its class offers, which it returns
// too: nil where the pool names nothing that it would have to be read for.
func (r *Reconciler) lacks(view translate.PoolObject) (out []lack, offered Offered) {
	for i, e := range view.Template.Spec.Requirements {
		key := api.Normalise(e.Key)
		if nouns[key] == "" {
			continue
		}
		if offered == nil {
			offered = r.Offered(view.Class)
		}
		have := offered[key]
		requirement, err := translate.Requirement(e.Key, string(e.Operator), e.Values)
		if err != nil || len(have) == 0 {
			continue
		}
		if l := lackOf(requirement, have); len(l.values) > 0 {
			l.field, l.key = fmt.Sprintf("%s[%d]", requirementsOf(view), i), key
			out = append(out, l)
		}
	}
	return out, offered
}

// requirementsOf is the field of a pool that has its requirements.
func requirementsOf(view translate.PoolObject) string {
	if view.ID.Kind == translate.KindProvisioner {
		return "spec.requirements"
	}
	return "spec.template.spec.requirements"
}

// contradiction says that the pool's own rules leave no type of its class, and the way
// out; empty where some type is left.
func (r *Reconciler) contradiction(view translate.PoolObject) string {
	p, err := translate.Pool(view, 0, r.Now())
	if err != nil {
		return ""
	}
	p.Catalogue = r.Catalogue(view.Class)
	text := feasibility.Contradiction(&p)
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%s: %s; %s offers no such type, so nothing is launched: change one of them", requirementsOf(view), text, translate.ClassID(view.Template.Spec.NodeClassRef))
}

func lackOf(r constraint.Requirement, have map[string]bool) lack {
	named, finite := r.Set.Finite()
	if !finite {
		return lack{}
	}
	var l lack
	for _, value := range named {
		if !have[value] {
			l.values = append(l.values, value)
		}
	}
	l.all = len(l.values) == len(named)
	return l
}

// what the labels name, in words.
var nouns = map[string]string{cluster.LabelInstanceType: "instance type", api.LabelZone: "zone", api.LabelRegion: "region"}

// text says what is lacking where, and the way out.
func (l lack) text(offered Offered, class string) string {
	have := slices.Sorted(maps.Keys(offered[l.key]))
	words := make([]string, len(l.values))
	for i, value := range l.values {
		words[i] = fmt.Sprintf("%q", value)
		if near := nearest.Word(value, have); near != "" {
			words[i] += " (did you mean " + near + "?)"
		}
	}
	offering := class + " offers " + few(have)
	if l.key == cluster.LabelInstanceType {
		offering = fmt.Sprintf("%s offers %s in %s", class, counted(len(have), "type"), strings.Join(slices.Sorted(maps.Keys(offered[api.LabelRegion])), ", "))
	}
	outcome := "they are left out"
	if l.all {
		outcome = "nothing else is listed, so nothing is launched: list others, or remove the requirement"
	}
	return fmt.Sprintf("%s: %s not offered: %s; %s; %s", l.field, nouns[l.key], few(words), offering, outcome)
}

// fewMax is how many values a text names.
const fewMax = 10

// few names the first of many words.
func few(words []string) string { return brief.List(words, fewMax) }

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
