package aws

import (
	"slices"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
)

// An instance is listed with what its class selects: otherwise every instance would count
// as drifted as soon as it is checked.
func TestAInstanceHasWhatItsClassSelects(t *testing.T) {
	a := openAccount(t)
	for _, kind := range []string{"m5.large", "c7g.large"} {
		launched, err := a.provider.Launch(t.Context(), a.request(t, kind, cluster.OnDemand, kind))
		if err != nil {
			t.Fatal(err)
		}
		a.Advance(time.Minute)
		listed, err := a.provider.List(t.Context(), cloud.Filter{IDs: []string{launched[0].ID}})
		if err != nil || len(listed) != 1 {
			t.Fatalf("List: %v, %v", listed, err)
		}
		m := listed[0]
		var subnets, groups, images []string
		for _, s := range a.class.Resolved.Subnets {
			subnets = append(subnets, s.ID)
		}
		for _, g := range a.class.Resolved.Groups {
			groups = append(groups, g.ID)
		}
		for _, i := range a.class.Resolved.Images {
			images = append(images, i.ID)
		}
		slices.Sort(groups)
		if !slices.Contains(subnets, m.Subnet) || !slices.Equal(m.Groups, groups) || !slices.Contains(images, m.Image) {
			t.Errorf("a %s has subnet %s, groups %v, image %s; its class selects of %v, %v, of %v", kind, m.Subnet, m.Groups, m.Image, subnets, groups, images)
		}
	}
}
