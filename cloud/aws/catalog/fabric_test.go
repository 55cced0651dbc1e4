package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// Instances for those who ask for EFA are launched with an adapter on each network card.
func TestAFabricHasAnAdapterOnEachCard(t *testing.T) {
	own := nodeclass.Spec{Interfaces: []nodeclass.Interface{{Type: "interface"}}}
	tests := map[string]struct {
		cards, adapters int
		spec            nodeclass.Spec
		want            string // card/device type
	}{
		"a type without":                      {1, 0, nodeclass.Spec{}, "0/0 interface"},
		"one card":                            {1, 1, nodeclass.Spec{}, "0/0 efa"},
		"several cards":                       {3, 3, nodeclass.Spec{}, "0/0 efa, 1/1 efa, 2/1 efa"},
		"the first card takes none":           {3, 2, nodeclass.Spec{}, "0/0 interface, 1/1 efa, 2/1 efa"},
		"the class says which interfaces are": {3, 3, own, "0/0 interface"},
	}
	for name, tt := range tests {
		var got []string
		f := fabricOf(Type{EFAs: int64(tt.adapters), CardENIs: make([]int64, tt.cards)}, tt.spec)
		for _, i := range f.Interfaces() {
			got = append(got, fmt.Sprintf("%d/%d %s", i.Card, i.Device, i.Type))
		}
		if attached := strings.HasSuffix(tt.want, "efa"); slices.Contains(f.onRequest(), ResourceEFA) != attached {
			t.Errorf("%s: %v are there on request; adapters are: %v", name, f.onRequest(), attached)
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("SC-446 %s: %v, want %s", name, got, tt.want)
		}
	}
}
