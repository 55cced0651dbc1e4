package pool

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

// Offered lists, for some labels, the values that the machines of a class can
// have: their type, zone and region. It is nil while that is not known.
type Offered map[string]map[string]bool

// OfferedBy reads a catalogue; nil is for none.
func OfferedBy(c *cluster.Catalogue) Offered {
	if c == nil {
		return nil
	}
	kinds, zones, regions := make(map[string]bool, len(c.Kinds)), map[string]bool{}, map[string]bool{}
	for i := range c.Kinds {
		k := &c.Kinds[i]
		kinds[k.Name] = true
		if region, known := k.Labels.Get(api.LabelRegion); known {
			regions[region] = true
		}
		for j := range k.Offers {
			if zone := k.Offers[j].Zone; !zones[zone] { // there are thousands of offers, and they are read at every change of a claim
				zones[zone] = true
			}
		}
	}
	return Offered{cluster.LabelInstanceType: kinds, api.LabelZone: zones, api.LabelRegion: regions}
}

// lack is a requirement that names values which no machine of the class has.
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
			l.field, l.key = fmt.Sprintf("spec.template.spec.requirements[%d]", i), key
			out = append(out, l)
		}
	}
	return out, offered
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
	offer := class + " offers machines in " + strings.Join(have, ", ")
	if l.key == cluster.LabelInstanceType {
		offer = fmt.Sprintf("%s offers %d types in %s", class, len(have), strings.Join(slices.Sorted(maps.Keys(offered[api.LabelRegion])), ", "))
	}
	outcome := "they are left out"
	if l.all {
		outcome = "nothing else is listed, so the pool buys nothing: name others, or remove the requirement"
	}
	return fmt.Sprintf("%s: %s not offered: %s; %s; %s", l.field, nouns[l.key], strings.Join(words, ", "), offer, outcome)
}
