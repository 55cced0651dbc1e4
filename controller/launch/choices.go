package launch

import (
	"fmt"
	"sync"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/offering"
)

// choicesMax is how many choices are kept of all classes, of some 300 offerings each at
// the most: 9 MiB. Those of classes that are gone are dropped with the rest once it is reached.
const choicesMax = 250

// choices keeps what was chosen from one catalogue of each class, the last that was asked. The claims of
// a plan ask for what was looked up when the plan was foreseen, and a request for one of
// those need not be formed once more while instances are waited for. It is safe for
// concurrent use; the zero value is ready.
type choices struct {
	mu sync.Mutex
	of map[string]classCatalogue // by class, and pool where NodeOverlays change what it offers
}

type classCatalogue struct {
	catalogue *cluster.Catalogue
	chosen    map[string]choice // by what is asked for
}

// says reports whether both say the same. Of what NodeOverlays make of a catalogue each is another one.
func (s classCatalogue) says(c *cluster.Catalogue) bool {
	plain := s.catalogue == s.catalogue.Listed() && c == c.Listed()
	return s.catalogue == c || plain && s.catalogue != nil && s.catalogue.Revision == c.Revision
}

// choice is what can be launched, best first; see Request.
type choice struct {
	options []cloud.OfferingChoice
	whole   uint64
	room    int
	few     []string
	leftOut string
	ordered bool
}

// sameChoice is equal for claims that ask for the same of one catalogue.
func sameChoice(a offering.Ask) string { return fmt.Sprint(a.Requirements, a.Requests, a.Relaxed) }

// get returns what was chosen before; none may write it.
func (k *choices) get(class string, c *cluster.Catalogue, same string) (choice, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.of[class]
	chosen, known := s.chosen[same]
	return chosen, known && s.says(c)
}

func (k *choices) put(class string, c *cluster.Catalogue, same string, chosen choice) {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept := 0
	for _, s := range k.of {
		kept += len(s.chosen)
	}
	if kept >= choicesMax || k.of == nil {
		k.of = map[string]classCatalogue{}
	}
	if s, there := k.of[class]; !there || !s.says(c) {
		k.of[class] = classCatalogue{c, map[string]choice{}}
	}
	k.of[class].chosen[same] = chosen
}
