package launch

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// instead is what was to be launched where something else was, and why it was not; the
// zero value where it was launched as decided.
type instead struct{ of, why string }

// decided brings the decision that a claim carries up to the instance that was launched: what was
// decided becomes the first of the runners-up, with what spoke against it. A text that is no
// decision stays as it is.
func decided(text string, m cloud.Instance, offering cluster.Offering, offered *cluster.Catalogue) (string, instead) {
	var d translate.Decision
	if err := json.Unmarshal([]byte(text), &d); err != nil || isOf(d, m) {
		return text, instead{}
	}
	out := translate.Decision{Type: m.Kind, Zone: m.Zone, Option: string(m.Option), Reason: d.Reason}
	if offering.Priced {
		price := offering.Price.Dollars()
		out.Price = &price
		if d.Cost != nil && d.Price != nil {
			cost := math.Round((price+*d.Cost-*d.Price)*1e6) / 1e6 // what is beside the price stays
			out.Cost = &cost
		}
	}
	first := d
	first.Reason, first.RunnersUp, first.WhyNot = "", nil, whyNot(offered, d)
	out.RunnersUp = []translate.Decision{first}
	for _, next := range d.RunnersUp {
		if isOf(next, m) {
			continue
		}
		if o := offeringOf(offered, next); o == nil || !o.Available {
			next.WhyNot = whyNot(offered, next)
		}
		out.RunnersUp = append(out.RunnersUp, next)
	}
	made, err := json.Marshal(out)
	if err != nil { // of amounts that are no numbers
		return text, instead{}
	}
	return string(made), instead{fmt.Sprintf("%s in %s, %s", d.Type, d.Zone, d.Option), first.WhyNot}
}

func isOf(d translate.Decision, m cloud.Instance) bool {
	return d.Type == m.Kind && d.Zone == m.Zone && d.Option == string(m.Option)
}

// whyNot says why a choice that was better by price was not launched, as far as is known by now.
func whyNot(offered *cluster.Catalogue, d translate.Decision) string {
	switch o := offeringOf(offered, d); {
	case o == nil:
		return "it is not offered to the pool any more"
	case o.Available && o.Option == cluster.Spot:
		return "EC2 chose among what the NodeClaim allows, by price and by how much it has of each"
	case o.Available:
		return "EC2 chose among what the NodeClaim allows"
	case o.Why != "":
		return o.Why
	}
	return "insufficient capacity"
}

// offeringOf is the offering of a choice, which says nothing of tenancy or of a reservation: of several
// one that is for all, and that can be had; nil: there is none.
func offeringOf(offered *cluster.Catalogue, d translate.Decision) (best *cluster.Offering) {
	for i := range offered.InstanceTypes {
		if offered.InstanceTypes[i].Name != d.Type {
			continue
		}
		for j := range offered.InstanceTypes[i].Offerings {
			o := &offered.InstanceTypes[i].Offerings[j]
			if o.Zone != d.Zone || string(o.Option) != d.Option {
				continue
			}
			if best == nil || forAll(o) && !forAll(best) || forAll(o) == forAll(best) && o.Available && !best.Available {
				best = o
			}
		}
	}
	return best
}

func forAll(o *cluster.Offering) bool { return o.Unless.Key == "" }
