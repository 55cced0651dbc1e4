package aws

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/test/emulator/ec2/reservation"
)

// group puts a placement group into the account, which the class selects by name.
func (a *account) group(t *testing.T, strategy string, partitions int) (id string) {
	t.Helper()
	id = a.server.AddPlacementGroup("web", strategy, partitions)
	a.lookAtGroup(t)
	return id
}

// lookAtGroup is what the class's controller does every minute.
func (a *account) lookAtGroup(t *testing.T) {
	t.Helper()
	a.class.Spec.Placement = &nodeclass.PlacementTerm{Name: "web"}
	var err error
	if a.class.Resolved.Placement, err = a.provider.Placement(t.Context(), a.class); err != nil {
		t.Fatal(err)
	}
}

// openIn returns the zones, and after a slash the partitions, where an m5.large can be had
// on demand.
func (a *account) openIn(t *testing.T) (out []string) {
	t.Helper()
	for _, k := range a.kinds(t).InstanceTypes {
		for _, o := range k.Offerings {
			if k.Name != "m5.large" || o.Option != cluster.OnDemand || !o.Available || !o.Asked(nil) {
				continue
			}
			where := o.Zone
			if part, ok := o.Labels.Get(nodeclass.LabelPlacementPartition); ok {
				where += "/" + part
			}
			out = append(out, where)
		}
	}
	return out
}

// inZone asks for instances of m5.large in one zone, in the partition if that is not empty.
func (a *account) inZone(t *testing.T, token, zone, partition string, count int) cloud.LaunchRequest {
	t.Helper()
	r := a.request(t, token, cluster.OnDemand, "m5.large")
	r.Count = count
	r.Options = []cloud.OfferingChoice{{Kind: "m5.large", Zone: zone, Option: cluster.OnDemand, Partition: partition}}
	return r
}

func (a *account) listed(t *testing.T, token string) []cloud.Instance {
	t.Helper()
	a.Advance(time.Minute)
	list, err := a.provider.List(t.Context(), cloud.Filter{Batch: "batch-" + token})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestAPlacementGroupIsFoundByNameOrID(t *testing.T) {
	a := openAccount(t)
	id := a.server.AddPlacementGroup("web", "spread", 0)
	tests := map[string]struct {
		term   nodeclass.PlacementTerm
		reason string
	}{
		"by name":                     {nodeclass.PlacementTerm{Name: "web"}, ""},
		"by id":                       {nodeclass.PlacementTerm{ID: id}, ""},
		"not by a name that is not":   {nodeclass.PlacementTerm{Name: "other"}, nodeclass.PlacementGroupNotFound},
		"not by an id that is not":    {nodeclass.PlacementTerm{ID: "pg-0"}, nodeclass.PlacementGroupNotFound},
		"not by the name in place of": {nodeclass.PlacementTerm{ID: "web"}, nodeclass.PlacementGroupNotFound},
	}
	for name, tt := range tests {
		class := a.class
		class.Spec.Placement = &tt.term
		found, err := a.provider.Placement(t.Context(), class)
		missing, isMissing := errors.AsType[*nodeclass.MissingError](err)
		switch {
		case tt.reason == "" && (err != nil || found.ID != id || found.Strategy != nodeclass.Spread):
			t.Errorf("SC-485 %s: Placement = %+v, %v", name, found, err)
		case tt.reason != "" && (!isMissing || missing.Reason != tt.reason):
			t.Errorf("SC-485 %s: Placement = %+v, %v; want reason %s", name, found, err, tt.reason)
		}
	}
}

func TestASpreadGroupIsClosedWhereItIsFull(t *testing.T) {
	a := openAccount(t)
	id := a.group(t, nodeclass.Spread, 0)
	everywhere := a.openIn(t)
	if got, err := a.provider.Launch(t.Context(), a.inZone(t, "t1", "us-east-1a", "", 5)); err != nil || got[0].Placement != id {
		t.Fatalf("Launch = %+v, %v; want it in group %s", got, err, id)
	}
	if got := a.openIn(t); !slices.Equal(got, everywhere) {
		t.Errorf("open in %v with 5 of 7 machines in a zone, want %v", got, everywhere)
	}
	got, err := a.provider.Launch(t.Context(), a.inZone(t, "t2", "us-east-1a", "", 3))
	if len(got) != 2 || !isShort(err) {
		t.Errorf("Launch of three with room for two = %d machines, %v", len(got), err)
	}
	for _, when := range []string{"at once", "once EC2 has counted"} {
		if got := a.openIn(t); slices.Contains(got, "us-east-1a") || len(got) != len(everywhere)-1 {
			t.Errorf("%s: open in %v with the zone full", when, got)
		}
		a.Advance(time.Hour)
		a.lookAtGroup(t)
	}
	for _, m := range a.listed(t, "t1") {
		if m.Placement != id || m.Partition != "" {
			t.Errorf("listed as %+v, want it in group %s", m, id)
		}
		if _, err := a.provider.Terminate(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
	}
	a.Advance(time.Hour)
	a.lookAtGroup(t)
	if got := a.openIn(t); !slices.Equal(got, everywhere) {
		t.Errorf("open in %v after machines were given back, want %v", got, everywhere)
	}
}

// What a plan draws on: the zone's room for all instances of a spread group, beside the
// reservation of reserved ones; nothing of the kind in groups of other strategies.
func TestInstancesOfASpreadGroupDrawOnTheRoomOfTheirZone(t *testing.T) {
	for name, tt := range map[string]struct {
		strategy   string
		partitions int
		counted    bool
	}{
		"a spread group":    {nodeclass.Spread, 0, true},
		"a cluster group":   {nodeclass.Cluster, 0, false},
		"a partition group": {nodeclass.Partition, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := openAccount(t)
			group := a.group(t, tt.strategy, tt.partitions)
			room := group + "/us-east-1a"
			if _, err := a.provider.Launch(t.Context(), a.inZone(t, "t1", "us-east-1a", "", 3)); err != nil {
				t.Fatal(err)
			}
			for _, k := range a.kinds(t).InstanceTypes {
				for _, o := range k.Offerings {
					if counted := len(o.ReservedCapacities) > 0; counted != tt.counted || o.Zone == "us-east-1a" && counted && (len(o.ReservedCapacities) != 1 || o.LeftOf(room) != 4) {
						t.Fatalf("%s is offered as %+v, after three were launched", k.Name, o)
					}
				}
			}
			if !tt.counted {
				return
			}
			id := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: "us-east-1a", Count: 5, Placement: group})
			if o := a.reservedOffering(t, id); len(o.ReservedCapacities) != 2 || o.LeftOf(id) != 5 || o.LeftOf(room) != 4 {
				t.Errorf("a reserved machine draws on %+v", o.ReservedCapacities)
			}
			if got, err := a.provider.Launch(t.Context(), a.fromReservation(t, "t2", id, 4)); err != nil || len(got) != 4 {
				t.Fatalf("Launch = %+v, %v", got, err)
			}
			if o := a.reservedOffering(t, id); o.Available || o.LeftOf(id) != 1 || o.LeftOf(room) != 0 {
				t.Errorf("with the zone full the reservation is offered as %+v", o)
			}
		})
	}
}

func TestAClusterGroupIsOpenInTheZoneOfItsInstances(t *testing.T) {
	a := openAccount(t)
	id := a.group(t, nodeclass.Cluster, 0)
	if got := a.openIn(t); len(got) < 2 {
		t.Fatalf("an empty group is open in %v, want all zones", got)
	}
	for _, k := range a.kinds(t).InstanceTypes {
		if family, _ := k.Labels.Get(nodeclass.LabelFamily); family == "t3" {
			t.Fatalf("type %s is offered, which cannot be in a cluster group", k.Name)
		}
	}
	late := a.inZone(t, "t2", "us-east-1a", "", 1)
	if _, err := a.provider.Launch(t.Context(), a.inZone(t, "t1", "us-east-1b", "", 1)); err != nil {
		t.Fatal(err)
	}
	if got := a.openIn(t); !slices.Equal(got, []string{"us-east-1b"}) {
		t.Errorf("open in %v, want the zone of its machine alone", got)
	}
	if _, err := a.provider.Launch(t.Context(), late); !isShort(err) {
		t.Errorf("Launch into another zone = %v, want a shortage", err)
	}
	a.server.LimitPlacement(id, 1)
	if _, err := a.provider.Launch(t.Context(), a.inZone(t, "t3", "us-east-1b", "", 1)); !isShort(err) {
		t.Errorf("Launch into a group without room = %v, want a shortage", err)
	}
	if got := a.openIn(t); len(got) > 0 {
		t.Errorf("open in %v after EC2 had no room", got)
	}
	a.class.Spec.Placement, a.class.Resolved.Placement = nil, nil
	if got := a.openIn(t); len(got) < 2 {
		t.Errorf("SC-427: outside of the group open in %v, want all zones", got)
	}
}

func TestPartitionsAreOfferingsOfTheirOwn(t *testing.T) {
	a := openAccount(t)
	id := a.group(t, nodeclass.Partition, 3)
	if got := a.openIn(t); len(got) < 3 || !slices.Equal(got[:3], []string{"us-east-1a/1", "us-east-1a/2", "us-east-1a/3"}) {
		t.Errorf("open in %v, want three partitions in each zone", got)
	}
	if got, err := a.provider.Launch(t.Context(), a.inZone(t, "t1", "us-east-1a", "2", 2)); err != nil || got[0].Partition != "2" || got[0].Placement != id {
		t.Errorf("Launch into partition 2 = %+v, %v", got, err)
	}
	for _, m := range a.listed(t, "t1") {
		if m.Partition != "2" {
			t.Errorf("listed as %+v, want partition 2", m)
		}
	}
	if got, err := a.provider.Launch(t.Context(), a.inZone(t, "t2", "us-east-1a", "", 4)); err != nil || got[0].Partition != "" {
		t.Errorf("Launch into any partition = %+v, %v; want it not known which", got, err)
	}
	count := map[string]int{}
	for _, m := range append(a.listed(t, "t1"), a.listed(t, "t2")...) {
		count[m.Partition]++
	}
	for n := range 3 {
		if part := strconv.Itoa(n + 1); count[part] != 2 {
			t.Errorf("partition %s has %d of six machines, want two in each: %v", part, count[part], count)
		}
	}
}

func TestReservationsAndPlacementGroupsGoTogetherWhereEC2LetsThem(t *testing.T) {
	a := openAccount(t)
	inside := a.group(t, nodeclass.Cluster, 0)
	tests := map[string]struct{ class, reservation string }{
		"both in the group":     {inside, inside},
		"neither":               {"", ""},
		"the class alone":       {inside, ""},
		"the reservation alone": {"", inside},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a.class.Spec.Placement, a.class.Resolved.Placement = nil, nil
			if tt.class != "" {
				a.lookAtGroup(t)
			}
			id := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 1, Placement: tt.reservation})
			offered := a.reservedOffering(t, id) != nil
			if want := tt.class == tt.reservation; offered != want {
				t.Fatalf("offered = %v, want %v", offered, want)
			}
			if !offered {
				return
			}
			if got, err := a.provider.Launch(t.Context(), a.fromReservation(t, "t-"+id, id, 1)); err != nil || got[0].ReservedCapacity != id || got[0].Placement != tt.class {
				t.Errorf("Launch = %+v, %v", got, err)
			}
		})
	}
}

func TestAClassWithAPlacementGroupIsVerifiedWithIt(t *testing.T) {
	a := openAccount(t)
	a.group(t, nodeclass.Spread, 0)
	if err := a.provider.Verify(t.Context(), a.class); err != nil {
		t.Errorf("Verify = %v", err)
	}
	a.class.Resolved.Placement.ID = "pg-gone"
	if err := a.provider.Verify(t.Context(), a.class); err == nil {
		t.Error("Verify finds nothing wrong with a group that is gone")
	}
}
