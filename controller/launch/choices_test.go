package launch

import (
	"context"
	"fmt"
	"testing"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/offering"
	"github.com/daemok/daemok/core/quantity"
)

// changing is a cloud whose catalogue can be replaced.
type changing struct{ catalogue *cluster.Catalogue }

func (s *changing) Kinds(context.Context, cloud.Class) (*cluster.Catalogue, error) {
	return s.catalogue, nil
}

// TestWhatWasChosenBeforeHoldsForOneCatalogue: a request is formed from what is offered now,
// though equal claims share what was looked up for the first of them.
func TestWhatWasChosenBeforeHoldsForOneCatalogue(t *testing.T) {
	emulated := &changing{&cluster.Catalogue{Revision: 1, InstanceTypes: []cluster.InstanceType{kind("m5.large", 2000, "a spot 30", "a on-demand 96")}}}
	requests := &Requests{Classes: oneClass{}, Catalog: emulated}
	small, large := launching("default", 1000, "m5.large"), launching("default", 5000, "m5.large")
	first, err := forms(t, requests, small)
	if err != nil {
		t.Fatal(err)
	}
	again, err := forms(t, requests, small)
	if err != nil || &again.Options[0] != &first.Options[0] || again.Whole != first.Whole {
		t.Errorf("an equal claim had %v chosen anew, error %v", again.Options, err)
	}
	if _, err := forms(t, requests, large); err == nil {
		t.Error("a claim that asks for more than a machine has got what was chosen for another")
	}
	emulated.catalogue = &cluster.Catalogue{Revision: 2, InstanceTypes: []cluster.InstanceType{kind("m5.large", 2000, "!a spot 30", "a on-demand 96")}}
	if now, err := forms(t, requests, small); err != nil || now.Options[0].Option != cluster.OnDemand {
		t.Errorf("with spot sold out %v is to be bought, error %v", now.Options, err)
	}
}

func TestNoMoreIsRememberedThanOnePlanNeeds(t *testing.T) {
	kept, catalogue := &choices{}, &cluster.Catalogue{Revision: 1}
	for i := range 3*choicesMax + 1 {
		kept.put("class", catalogue, sameChoice(offering.Ask{Requests: quantity.Resources{CPU: quantity.MilliCPU(i)}}), choice{whole: uint64(i)})
	}
	if n := len(kept.of["class"].chosen); n != 1 {
		t.Errorf("%d choices are kept, want the latest", n)
	}
	for i := range 3 * choicesMax {
		kept.put(fmt.Sprint("class ", i), catalogue, "the same", choice{})
	}
	if n := len(kept.of); n > choicesMax {
		t.Errorf("choices of %d classes are kept, want %d at most", n, choicesMax)
	}
	if _, known := kept.get("class", catalogue, "another"); known {
		t.Error("what was never chosen is known")
	}
}
