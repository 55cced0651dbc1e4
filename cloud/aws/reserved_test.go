package aws

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/capacity"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/test/emulator/ec2/reservation"
)

// reserve puts a reservation into the account that the class selects by a tag, and resolves
// the class again.
func (a *account) reserve(t *testing.T, r reservation.CapacityReservation) (id string) {
	t.Helper()
	r.Tags = map[string]string{"team": "web"}
	id = a.server.AddReservation(r)
	a.recheck(t)
	return id
}

// recheck is what the class's controller does every minute.
func (a *account) recheck(t *testing.T) {
	t.Helper()
	a.class.Spec.Reservations = []nodeclass.ReservationTerm{{Tags: map[string]string{"team": "web"}}}
	var err error
	if a.class.Resolved.Reservations, err = a.provider.Reservations(t.Context(), a.class); err != nil {
		t.Fatal(err)
	}
}

// reservedOffering is the offering of a reservation.
func (a *account) reservedOffering(t *testing.T, id string) *cluster.Offering {
	t.Helper()
	for _, k := range a.kinds(t).InstanceTypes {
		for i := range k.Offerings {
			if k.Offerings[i].Reservation() == id {
				return &k.Offerings[i]
			}
		}
	}
	return nil
}

// fromReservation asks for instances of one reservation.
func (a *account) fromReservation(t *testing.T, token, id string, count int) cloud.LaunchRequest {
	t.Helper()
	r := a.request(t, token, cluster.Reserved, "m5.large")
	r.Count = count
	r.Options = []cloud.OfferingChoice{r.Options[0]}
	o := a.reservedOffering(t, id)
	tenancy, _ := o.Labels.Get(nodeclass.LabelTenancy)
	r.Options[0].Zone, r.Options[0].ReservedCapacity, r.Options[0].Dedicated = o.Zone, id, tenancy == nodeclass.TenancyDedicated
	return r
}

const reservedZone = "us-east-1a"

func TestInstancesComeFromTheReservationTheyAreLaunchedFrom(t *testing.T) {
	a := openAccount(t)
	id := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 3, Targeted: true})
	o := a.reservedOffering(t, id)
	if o == nil || !o.Available || o.LeftOf(id) != 3 || o.Option != cluster.Reserved || !o.Priced {
		t.Fatalf("the offer is %+v, want three to be had", o)
	}
	for key, want := range map[string]string{
		nodeclass.LabelReservation: id, nodeclass.LabelReservationType: "default", nodeclass.LabelReservationInterruptible: "false",
		cluster.LabelCapacityType: "reserved", cluster.LabelZone: reservedZone,
	} {
		if got, _ := o.Labels.Get(key); got != want {
			t.Errorf("label %s = %q, want %q", key, got, want)
		}
	}
	got, err := a.provider.Launch(t.Context(), a.fromReservation(t, "t1", id, 2))
	if err != nil || len(got) != 2 || got[0].Option != cluster.Reserved || got[0].ReservedCapacity != id {
		t.Fatalf("Launch = %+v, %v; want two of %s", got, err, id)
	}
	if left := a.reservedOffering(t, id).LeftOf(id); left != 1 {
		t.Errorf("%d are left right after two of three were bought", left)
	}
	a.recheck(t) // EC2 has not counted all of them yet
	if left := a.reservedOffering(t, id).LeftOf(id); left > 1 {
		t.Errorf("%d are left while EC2 counts two of three", left)
	}
	a.Advance(time.Minute)
	a.recheck(t)
	if left := a.reservedOffering(t, id).LeftOf(id); left != 1 {
		t.Errorf("%d are left after EC2 has counted, want 1", left)
	}
	listed, err := a.provider.List(t.Context(), cloud.Filter{Batch: "batch-t1"})
	if err != nil || len(listed) != 2 || listed[0].Option != cluster.Reserved || listed[0].ReservedCapacity != id {
		t.Errorf("List = %+v, %v", listed, err)
	}
	if _, err := a.provider.Terminate(t.Context(), listed[0].ID); err != nil {
		t.Fatal(err)
	}
	a.Advance(time.Minute)
	a.recheck(t)
	if left := a.reservedOffering(t, id).LeftOf(id); left != 2 {
		t.Errorf("SC-205: %d are left after one of two was given back, want 2", left)
	}
}

// The place of an instance that came and went is free at once: what would be launched on
// demand meanwhile costs money that the reservation has cost already.
func TestAInstanceThatHasEndedFreesItsReservationAtOnce(t *testing.T) {
	a := openAccount(t)
	id := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 1, Targeted: true})
	got, err := a.provider.Launch(t.Context(), a.fromReservation(t, "t1", id, 1))
	if err != nil || len(got) != 1 {
		t.Fatalf("Launch = %+v, %v; want one", got, err)
	}
	a.Advance(20 * time.Second)
	if _, err := a.provider.Terminate(t.Context(), got[0].ID); err != nil {
		t.Fatal(err)
	}
	if o := a.reservedOffering(t, id); o.LeftOf(id) != 0 || o.Available {
		t.Errorf("%d are left, to be had: %v, while the machine shuts down; want none", o.LeftOf(id), o.Available)
	}
	for {
		left, err := a.provider.List(t.Context(), cloud.Filter{IDs: []string{got[0].ID}})
		if err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			break
		}
		a.Advance(time.Second)
	}
	if o := a.reservedOffering(t, id); o.LeftOf(id) != 1 || !o.Available {
		t.Errorf("%d are left, to be had: %v, when the machine has ended; want its place at once", o.LeftOf(id), o.Available)
	}
	if again, err := a.provider.Launch(t.Context(), a.fromReservation(t, "t2", id, 1)); err != nil || len(again) != 1 || again[0].ReservedCapacity != id {
		t.Errorf("Launch = %+v, %v; want one of %s", again, err, id)
	}
}

// A launch that is repeated, as after a lost answer, takes no more of the reservation.
func TestALaunchThatIsRepeatedCountsOnce(t *testing.T) {
	a := openAccount(t)
	id := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 4})
	r := a.fromReservation(t, "t1", id, 2)
	for _, when := range []string{"at first", "again"} {
		if got, err := a.provider.Launch(t.Context(), r); err != nil || len(got) != 2 {
			t.Fatalf("%s: Launch = %+v, %v", when, got, err)
		}
		if left := a.reservedOffering(t, id).LeftOf(id); left != 2 {
			t.Errorf("%s: %d of four are left after a launch of two", when, left)
		}
	}
}

func TestAFullReservationIsShortByItself(t *testing.T) {
	a := openAccount(t)
	full := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 1})
	other := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 5})
	got, err := a.provider.Launch(t.Context(), a.fromReservation(t, "t1", full, 2))
	short, ok := errors.AsType[*cloud.NoCapacityError](err)
	if !ok || len(got) != 1 || len(short.Offerings) != 1 || short.Offerings[0].ReservedCapacity != full {
		t.Fatalf("Launch of two from a reservation of one = %+v, %v; want one, and that reservation named", got, err)
	}
	a.recheck(t)
	if o := a.reservedOffering(t, full); o.Available || o.LeftOf(full) != 0 {
		t.Errorf("SC-416: the full reservation is offered as %+v", o)
	}
	if o := a.reservedOffering(t, other); !o.Available || o.LeftOf(other) != 5 {
		t.Errorf("another reservation of the same type and zone is offered as %+v", o)
	}
	if !available(a.kinds(t), "m5.large", cluster.OnDemand) {
		t.Error("on-demand instances count as short for the sake of a reservation")
	}
}

// EC2 may have nothing for a reservation that has room. Others of its type and zone are
// asked for meanwhile.
func TestAReservationThatIsShortIsClosedForAWhileByItself(t *testing.T) {
	a := openAccount(t)
	short := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 2})
	other := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 2})
	a.provider.short.AddReservation(short)
	if a.reservedOffering(t, short).Available || !a.reservedOffering(t, other).Available {
		t.Error("SC-416: the reservation that is short must be closed, and the other must not")
	}
	a.Advance(capacity.Keep)
	if !a.reservedOffering(t, short).Available {
		t.Error("the reservation is closed for longer than shortages are remembered")
	}
}

func TestInstancesOnDemandLeaveReservationsAlone(t *testing.T) {
	a := openAccount(t)
	id := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 2})
	r := a.request(t, "t1", cluster.OnDemand, "m5.large")
	r.Options = slices.DeleteFunc(r.Options, func(o cloud.OfferingChoice) bool { return o.Zone != reservedZone })
	if got, err := a.provider.Launch(t.Context(), r); err != nil || got[0].ReservedCapacity != "" {
		t.Fatalf("Launch = %+v, %v", got, err)
	}
	a.Advance(time.Minute)
	a.recheck(t)
	if left := a.reservedOffering(t, id).LeftOf(id); left != 2 {
		t.Errorf("%d of two are left after a machine was bought on demand", left)
	}
}

func TestAReservationThatIsCancelledIsNoOfferingAndItsInstancesGoOn(t *testing.T) {
	a := openAccount(t)
	id := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 2})
	got, err := a.provider.Launch(t.Context(), a.fromReservation(t, "t1", id, 1))
	if err != nil {
		t.Fatal(err)
	}
	a.Advance(time.Minute)
	late := a.fromReservation(t, "t2", id, 1)
	if _, err := a.admin.EC2.CancelCapacityReservation(t.Context(), &ec2.CancelCapacityReservationInput{CapacityReservationId: sdk.String(id)}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.provider.Launch(t.Context(), late); !isShort(err) {
		t.Errorf("Launch from a reservation that was cancelled a moment ago = %v, want a shortage", err)
	}
	a.recheck(t)
	if o := a.reservedOffering(t, id); o != nil {
		t.Errorf("the reservation is still offered: %+v", o)
	}
	listed, err := a.provider.List(t.Context(), cloud.Filter{IDs: []string{got[0].ID}})
	if err != nil || len(listed) != 1 || listed[0].Option != cluster.OnDemand || listed[0].ReservedCapacity != "" || listed[0].State != cloud.Running {
		t.Errorf("its machine is %+v, %v; want one that runs on demand", listed, err)
	}
}

func isShort(err error) bool {
	_, short := errors.AsType[*cloud.NoCapacityError](err)
	return short
}

func TestReservationsAreSelectedByEachOfTheirTerms(t *testing.T) {
	a := openAccount(t)
	open := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 1})
	targeted := a.reserve(t, reservation.CapacityReservation{Type: "c5.large", Zone: reservedZone, Count: 1, Targeted: true})
	shared := a.reserve(t, reservation.CapacityReservation{Type: "r5.large", Zone: reservedZone, Count: 1, Owner: "210987654321"})
	over := a.reserve(t, reservation.CapacityReservation{Type: "r5.xlarge", Zone: reservedZone, Count: 1, EndsAt: a.Now().Add(time.Second)})
	a.Advance(time.Minute)
	tests := map[string]struct {
		terms []nodeclass.ReservationTerm
		want  []string
	}{
		"by id": {[]nodeclass.ReservationTerm{{ID: open}}, []string{open}},
		"by several ids, one of which is not there": {[]nodeclass.ReservationTerm{{ID: targeted}, {ID: "cr-0123456789abcdef0"}, {ID: open}}, []string{open, targeted}},
		"by an id that is not there":                {[]nodeclass.ReservationTerm{{ID: "cr-0123456789abcdef0"}}, nil},
		"by how machines come into it":              {[]nodeclass.ReservationTerm{{Criteria: "targeted"}}, []string{targeted}},
		"by owner and tag":                          {[]nodeclass.ReservationTerm{{Owner: "210987654321", Tags: map[string]string{"team": "*"}}}, []string{shared}},
		"by a tag, those that are over left out":    {[]nodeclass.ReservationTerm{{Tags: map[string]string{"team": "web"}}, {ID: over}}, []string{open, targeted, shared}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			class := a.class
			class.Spec.Reservations = tt.terms
			found, err := a.provider.Reservations(t.Context(), class)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range found {
				got = append(got, r.ID)
			}
			slices.Sort(tt.want)
			if !slices.Equal(got, tt.want) {
				t.Errorf("found %v, want %v", got, tt.want)
			}
		})
	}
}

func TestACapacityBlockIsLaunchedAsOne(t *testing.T) {
	a := openAccount(t)
	id := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 1, Block: true, EndsAt: a.Now().Add(2 * time.Hour)})
	if got, err := a.provider.Launch(t.Context(), a.fromReservation(t, "t1", id, 1)); err != nil || got[0].ReservedCapacity != id {
		t.Fatalf("Launch = %+v, %v", got, err)
	}
	a.Advance(79 * time.Minute)
	a.recheck(t)
	if a.class.Resolved.Reservations[0].Expiring {
		t.Error("the block counts as expiring more than 40 minutes before its end")
	}
	a.Advance(2 * time.Minute)
	a.recheck(t)
	if !a.class.Resolved.Reservations[0].Expiring || a.reservedOffering(t, id).Available {
		t.Error("39 minutes before its end the block is neither expiring nor closed")
	}
	// Its instance has not gone, so that none is left: what counts as gone elsewhere, as in shadow mode, opens it to none.
	o := a.reservedOffering(t, id)
	if want := "capacity block " + id + " expires: "; o.LeftOf(id) != 0 || !strings.HasPrefix(o.Why, want) {
		t.Errorf("%d are left, and it is closed because of %q; want 0 and %q", o.LeftOf(id), o.Why, want)
	}
	catalogue := &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{{Offerings: []cluster.Offering{*o}}}}
	if o := catalogue.WithMore(map[string]int64{id: 1}).InstanceTypes[0].Offerings[0]; o.Available {
		t.Error("a block that is used up and expires looks free where one more is left")
	}
}

// "Instances are terminated 30 minutes before a Capacity Block ends"; ten minutes before
// that their instances are reported, whether or not a class selects the block still.
func TestInstancesOfACapacityBlockAreReportedBeforeTheyEnd(t *testing.T) {
	a := openAccount(t)
	ends := a.Now().Add(2 * time.Hour)
	id := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 1, Block: true, EndsAt: ends})
	got, err := a.provider.Launch(t.Context(), a.fromReservation(t, "t1", id, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.provider.Launch(t.Context(), a.request(t, "t2", cluster.OnDemand, "m5.large")); err != nil {
		t.Fatal(err)
	}
	a.recheck(t)
	want := []cloud.Trouble{{InstanceID: got[0].ID, Kind: cloud.CapacityEnds, StartsAt: ends.Add(-30 * time.Minute), What: "capacity block " + id + " ends at " + ends.Format(time.RFC3339)}}
	a.Advance(79 * time.Minute)
	if found, err := a.provider.Troubles(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("Troubles = %+v, %v; 41 minutes before the end", found, err)
	}
	a.Advance(2 * time.Minute)
	a.class.Resolved.Reservations = nil // the class selects it no more
	for _, denied := range []bool{false, true} {
		if denied {
			a.server.Deny("DescribeInstanceStatus")
		}
		if found, err := a.provider.Troubles(t.Context()); err != nil || !slices.Equal(found, want) {
			t.Errorf("SC-472: Troubles = %+v, %v; want %+v", found, err, want)
		}
	}
	a.server.Allow("DescribeInstanceStatus")
	next, err := New(t.Context(), Options{Cluster: "prod", Now: a.Now, Pause: a.Pause}) // after a restart
	if err != nil {
		t.Fatal(err)
	}
	if _, err := next.List(t.Context(), cloud.Filter{}); err != nil {
		t.Fatal(err)
	}
	calls := a.server.Calls()["DescribeCapacityReservations"]
	for range 2 {
		if found, err := next.Troubles(t.Context()); err != nil || !slices.Equal(found, want) {
			t.Errorf("Troubles = %+v, %v after a restart; want %+v", found, err, want)
		}
	}
	if n := a.server.Calls()["DescribeCapacityReservations"] - calls; n != 1 {
		t.Errorf("the reservation was asked for %d times after a restart, want once", n)
	}
	if list, err := a.provider.List(t.Context(), cloud.Filter{IDs: []string{got[0].ID}}); err != nil || list[0].State != cloud.Running {
		t.Errorf("the machine is %+v, %v; want it to run until 30 minutes before the end", list, err)
	}
	a.Advance(10 * time.Minute)
	if list, err := a.provider.List(t.Context(), cloud.Filter{IDs: []string{got[0].ID}}); err != nil || len(list) > 0 && list[0].State == cloud.Running {
		t.Errorf("the machine is %+v, %v; want EC2 to have ended it", list, err)
	}
	if found, err := a.provider.Troubles(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("Troubles = %+v, %v; after the machine has ended", found, err)
	}
}

// SC-420: instances on demand that EC2 puts into an open reservation are instances on
// demand: else each of them would be in one that its class does not select.
func TestWithoutTheGateReservationsAreLeftToEC2(t *testing.T) {
	a := openAccount(t)
	a.provider.options.NoReservedCapacity = true
	id := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 1})
	if len(a.class.Resolved.Reservations) > 0 || a.reservedOffering(t, id) != nil {
		t.Error("the reservation is offered")
	}
	r := a.request(t, "t1", cluster.OnDemand, "m5.large")
	r.Options = slices.DeleteFunc(r.Options, func(o cloud.OfferingChoice) bool { return o.Zone != reservedZone })
	got, err := a.provider.Launch(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	a.Advance(time.Minute)
	if in, err := a.provider.instances.InReservations(t.Context(), id); err != nil || len(in) != 1 || in[0].ID != got[0].ID {
		t.Errorf("in the open reservation are %+v, %v; want the machine", in, err)
	}
	if listed, err := a.provider.List(t.Context(), cloud.Filter{IDs: []string{got[0].ID}}); err != nil || listed[0].Option != cluster.OnDemand || listed[0].ReservedCapacity != "" {
		t.Errorf("the machine is listed as %+v, %v; want one on demand", listed, err)
	}
}

func TestAReservationThatIsTakenBackIsClosedUntilEC2SaysMore(t *testing.T) {
	a := openAccount(t)
	id := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 2, Interruptible: true})
	a.provider.Short(cloud.OfferingChoice{Kind: "m5.large", Zone: reservedZone, Option: cluster.Reserved, ReservedCapacity: id})
	if a.reservedOffering(t, id).Available {
		t.Error("SC-497: the reservation is offered after a notice that its machines are taken back")
	}
	a.Advance(time.Minute)
	a.recheck(t)
	if !a.reservedOffering(t, id).Available {
		t.Error("the reservation is closed for ever")
	}
}

// Instances of dedicated tenancy run in reservations of it, and no others do.
func TestADedicatedReservationIsForDedicatedInstances(t *testing.T) {
	a := openAccount(t)
	usual := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 1})
	alone := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 1, Dedicated: true})
	wantsDefault := constraint.Requirements{{Key: nodeclass.LabelTenancy, Set: constraint.Values(nodeclass.TenancyDefault)}}
	wantsDedicated := constraint.Requirements{{Key: nodeclass.LabelTenancy, Set: constraint.Values(nodeclass.TenancyDedicated)}}
	for id, dedicated := range map[string]bool{usual: false, alone: true} {
		o := a.reservedOffering(t, id)
		if tenancy, _ := o.Labels.Get(nodeclass.LabelTenancy); (tenancy == nodeclass.TenancyDedicated) != dedicated || !o.Available {
			t.Errorf("dedicated %v: offered as %+v", dedicated, o)
		}
		if got := o.Asked(nil) || o.Asked(wantsDefault); got == dedicated || !o.Asked(wantsDedicated) {
			t.Errorf("dedicated %v: for who asks for nothing or for the default: %v", dedicated, got)
		}
		r := a.fromReservation(t, "wrong-"+id, id, 1)
		r.Options[0].Dedicated = !dedicated
		if got, err := a.provider.Launch(t.Context(), r); err == nil {
			t.Errorf("dedicated %v: EC2 launches %+v of the other tenancy", dedicated, got)
		}
		token := "right-" + id
		if got, err := a.provider.Launch(t.Context(), a.fromReservation(t, token, id, 1)); err != nil || got[0].ReservedCapacity != id || got[0].Dedicated != dedicated {
			t.Errorf("dedicated %v: Launch = %+v, %v", dedicated, got, err)
		}
		if listed := a.listed(t, token); len(listed) != 1 || listed[0].ReservedCapacity != id || listed[0].Dedicated != dedicated {
			t.Errorf("dedicated %v: listed as %+v", dedicated, listed)
		}
	}
}

// EC2 puts no dedicated instances into spread groups, whatever is reserved there.
func TestADedicatedReservationIsOfNoUseInASpreadGroup(t *testing.T) {
	a := openAccount(t)
	group := a.group(t, nodeclass.Spread, 0)
	id := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 1, Dedicated: true, Placement: group})
	if o := a.reservedOffering(t, id); o != nil {
		t.Errorf("offered as %+v", o)
	}
}
