package fakecloud

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/test/market"
	"github.com/daemok/daemok/test/market/clock"
)

var class = cloud.Class{ID: "EC2NodeClass/default"}

func choice(kind, zone string, option cluster.Option) cloud.OfferingChoice {
	return cloud.OfferingChoice{Kind: kind, Zone: zone, Option: option}
}

func ask(token string, count int, options ...cloud.OfferingChoice) cloud.LaunchRequest {
	return cloud.LaunchRequest{Class: class, Token: token, Batch: token, Count: count, Options: options}
}

var m5 = choice("m5.large", "us-east-1a", cluster.OnDemand)

func TestKindsHoldWhatALinuxNodeOfTheTypeHolds(t *testing.T) {
	tests := map[string]struct{ capacity, allocatable string }{
		"m5.large": {"cpu=2 memory=7577Mi ephemeral-storage=20Gi pods=29 vpc.amazonaws.com/pod-eni=9",
			"cpu=1930m memory=6903Mi ephemeral-storage=17Gi pods=29 vpc.amazonaws.com/pod-eni=9"},
		"m6g.large": {"cpu=2 memory=7518Mi ephemeral-storage=20Gi pods=29 vpc.amazonaws.com/pod-eni=9",
			"cpu=1930m memory=6844Mi ephemeral-storage=17Gi pods=29 vpc.amazonaws.com/pod-eni=9"},
		"c5.4xlarge": {"cpu=16 memory=30310Mi ephemeral-storage=20Gi pods=234 vpc.amazonaws.com/pod-eni=54",
			"cpu=15890m memory=27381Mi ephemeral-storage=17Gi pods=234 vpc.amazonaws.com/pod-eni=54"},
	}
	c, _ := quiet()
	all, err := c.Kinds(t.Context(), class)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all.InstanceTypes {
		want, asked := tests[k.Name]
		if !asked {
			continue
		}
		delete(tests, k.Name)
		if got := k.Capacity.String(); got != want.capacity {
			t.Errorf("capacity of %s = %s; want %s", k.Name, got, want.capacity)
		}
		if got := k.Allocatable.String(); got != want.allocatable {
			t.Errorf("allocatable of %s = %s; want %s", k.Name, got, want.allocatable)
		}
	}
	if len(tests) > 0 {
		t.Errorf("kinds that are missing: %v", tests)
	}
}

func TestAllTypesMakeKinds(t *testing.T) {
	c, _ := quiet(func(o *Options) { o.Types = AllTypes("us-east-1") })
	all, err := c.Kinds(t.Context(), class)
	if err != nil || len(all.InstanceTypes) < 1000 {
		t.Fatalf("Kinds = %d kinds, %v", len(all.InstanceTypes), err)
	}
	for _, k := range all.InstanceTypes {
		if len(k.Offerings) == 0 || k.Allocatable.CPU <= 0 || k.Allocatable.Pods <= 0 {
			t.Errorf("%s has %d offers and %v for pods", k.Name, len(k.Offerings), k.Allocatable)
		}
	}
}

func TestClassLimitsZones(t *testing.T) {
	c, _ := quiet()
	all, err := c.Kinds(t.Context(), cloud.Class{ID: "EC2NodeClass/b", Settings: Settings{Zones: []string{"us-east-1b"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all.InstanceTypes {
		for _, o := range k.Offerings {
			if o.Zone != "us-east-1b" {
				t.Errorf("%s is offered in %s", k.Name, o.Zone)
			}
		}
	}
}

func TestSpotPricesMoveWithTime(t *testing.T) {
	c, virtual := quiet()
	before, _ := c.Kinds(t.Context(), class)
	virtual.Advance(time.Hour)
	after, _ := c.Kinds(t.Context(), class)
	if after.Revision == before.Revision {
		t.Error("an hour passed and no spot price moved")
	}
}

func TestOnDemandTakesTheCheapest(t *testing.T) {
	c, _ := quiet()
	expensive := choice("m5.xlarge", "us-east-1a", cluster.OnDemand)
	expensive.Priority = -1
	got, err := c.Launch(t.Context(), ask("t", 1, expensive, m5))
	if err != nil || got[0].Kind != "m5.large" {
		t.Errorf("Launch = %+v, %v; want m5.large", got, err)
	}
}

func TestSpotAvoidsPoolsThatAreNearlyEmpty(t *testing.T) {
	c, _ := quiet()
	near, deep := choice("m5.large", "us-east-1a", cluster.Spot), choice("m5.large", "us-east-1b", cluster.Spot)
	c.Market().SetPrice(poolOf(near), 0.030)
	c.Market().SetPrice(poolOf(deep), 0.033)
	c.Exhaust(near, 1)
	got, err := c.Launch(t.Context(), ask("t", 1, near, deep))
	if err != nil || got[0].Zone != deep.Zone {
		t.Errorf("Launch = %+v, %v; want the deeper pool at a tenth more", got, err)
	}
}

func TestRefusals(t *testing.T) {
	tests := map[string]cloud.LaunchRequest{
		"no token":           ask("", 1, m5),
		"no machines":        ask("t", 0, m5),
		"no offers":          ask("t", 1),
		"two capacity types": ask("t", 1, m5, choice("m5.large", "us-east-1a", cluster.Spot)),
		"a reserved offer":   ask("t", 1, choice("m5.large", "us-east-1a", cluster.Reserved)),
		"no capacity type":   ask("t", 1, choice("m5.large", "us-east-1a", "free")),
	}
	for name, request := range tests {
		t.Run(name, func(t *testing.T) {
			c, _ := quiet()
			_, err := c.Launch(t.Context(), request)
			if _, refused := errors.AsType[*cloud.RefusedError](err); !refused {
				t.Errorf("Launch(%+v) = %v, want *RefusedError", request, err)
			}
		})
	}
}

func TestAnUnknownKindIsShort(t *testing.T) {
	c, _ := quiet()
	_, err := c.Launch(t.Context(), ask("t", 1, choice("m5.nosuch", "us-east-1a", cluster.OnDemand)))
	if _, short := errors.AsType[*cloud.NoCapacityError](err); !short {
		t.Errorf("Launch = %v, want *NoCapacityError", err)
	}
}

func TestALostAnswerIsFoundByBatchAndToken(t *testing.T) {
	c, _ := quiet()
	lost := errors.New("connection reset")
	c.Inject(Fault{Call: CallLaunch, Nth: 1, After: true, Err: lost})
	if _, err := c.Launch(t.Context(), ask("t", 1, m5)); !errors.Is(err, lost) {
		t.Fatalf("Launch = %v, want the injected fault", err)
	}
	found, err := c.List(t.Context(), cloud.Filter{Batch: "t"})
	if err != nil || len(found) != 1 {
		t.Fatalf("List by batch = %v, %v; want the machine", found, err)
	}
	again, err := c.Launch(t.Context(), ask("t", 1, m5))
	if err != nil || again[0].ID != found[0].ID {
		t.Errorf("Launch again = %v, %v; want %s", again, err, found[0].ID)
	}
}

func TestFaultsBeforeTheEffectDoNothing(t *testing.T) {
	down := errors.New("down")
	c, _ := quiet()
	c.Inject(Fault{Call: CallLaunch, Nth: 2, Err: down})
	var failed []int
	for i := range 4 {
		if _, err := c.Launch(t.Context(), ask(string(rune('a'+i)), 1, m5)); errors.Is(err, down) {
			failed = append(failed, i)
		}
	}
	if all, _ := c.List(t.Context(), cloud.Filter{}); !slices.Equal(failed, []int{1}) || len(all) != 3 {
		t.Errorf("launches that failed: %v, machines: %d; want the second alone, and 3", failed, len(all))
	}
	for call, do := range map[Call]func() error{
		CallKinds:     func() error { _, err := c.Kinds(t.Context(), class); return err },
		CallTerminate: func() error { _, err := c.Terminate(t.Context(), "i-00000000000000000"); return err },
		CallList:      func() error { _, err := c.List(t.Context(), cloud.Filter{}); return err },
		CallTag:       func() error { return c.Tag(t.Context(), cloud.Instance{ID: "i-00000000000000000"}, nil) },
		CallNext:      func() error { _, err := c.Next(t.Context()); return err },
		CallDone:      func() error { return c.Done(t.Context(), cloud.InterruptionMessage{}) },
	} {
		c.Inject(Fault{Call: call, Nth: 1, Err: down})
		if err := do(); !errors.Is(err, down) {
			t.Errorf("%s with a fault = %v", call, err)
		}
	}
}

func TestChanceFaultsFollowTheSeed(t *testing.T) {
	run := func(seed uint64) (failed []int) {
		c, _ := quiet(func(o *Options) { o.Seed = seed })
		c.Inject(Fault{Call: CallList, Chance: 0.3, Err: errors.New("down")})
		for i := range 100 {
			if _, err := c.List(t.Context(), cloud.Filter{}); err != nil {
				failed = append(failed, i)
			}
		}
		c.Heal()
		if _, err := c.List(t.Context(), cloud.Filter{}); err != nil {
			t.Errorf("after Heal: %v", err)
		}
		return failed
	}
	if n := len(run(1)); n < 15 || n > 45 {
		t.Errorf("%d of 100 calls failed at a chance of 0.3", n)
	}
	if !slices.Equal(run(1), run(1)) || slices.Equal(run(1), run(2)) {
		t.Error("faults should be the same for one seed and differ between two")
	}
}

func TestBootReportsWhenTheNodeJoins(t *testing.T) {
	c, virtual := quiet(func(o *Options) { o.TimeScale = 1 })
	r := ask("t", 1, m5)
	r.Node = cloud.NodeSetup{Labels: map[string]string{"a": "b"}, Taints: []cloud.Taint{{Key: "k", Effect: "NoSchedule"}}}
	got, err := c.Launch(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	b, ok := c.Boot(got[0].ID)
	if !ok || !b.RunningAt.After(start) || !b.JoinsAt.After(b.RunningAt) || b.Node.Labels["a"] != "b" || len(b.Node.Taints) != 1 {
		t.Errorf("Boot = %+v, %v", b, ok)
	}
	virtual.Advance(b.RunningAt.Sub(start))
	if listed, _ := c.List(t.Context(), cloud.Filter{}); listed[0].State != cloud.Running {
		t.Errorf("state = %s, want running", listed[0].State)
	}
	c.Market().SetNeverJoin(1)
	lost, _ := c.Launch(t.Context(), ask("u", 1, m5))
	if b, _ := c.Boot(lost[0].ID); !b.JoinsAt.IsZero() {
		t.Errorf("a machine that never joins joins at %v", b.JoinsAt)
	}
}

// TestNewInstancesAreHiddenForAWhile: the lag is the cloud's own, so the time
// scale does not take it away.
func TestNewInstancesAreHiddenForAWhile(t *testing.T) {
	virtual := clock.NewVirtual(start)
	figures := market.DefaultFigures()
	figures.Visible = market.Spread{Half: 2 * time.Second, Tail: 2 * time.Second}
	c := New(Options{Clock: virtual, Figures: figures})
	if _, err := c.Launch(t.Context(), ask("t", 1, m5)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{0, 1} {
		if got, _ := c.List(t.Context(), cloud.Filter{}); len(got) != want {
			t.Errorf("at %v %d machines are listed, want %d", virtual.Now().Sub(start), len(got), want)
		}
		virtual.Advance(2 * time.Second)
	}
}

func TestMaintenanceWakesWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Clock: clock.Wall{}})
		got := make(chan []cloud.InterruptionMessage)
		go func() {
			interruptionMessages, err := c.Next(t.Context())
			if err != nil {
				t.Errorf("Next: %v", err)
			}
			got <- interruptionMessages
		}()
		synctest.Wait()
		c.Announce(cloud.Maintenance, "i-00000000000000001")
		n := (<-got)[0]
		if n.Kind != cloud.Maintenance || n.InstanceID != "i-00000000000000001" {
			t.Errorf("notice = %+v", n)
		}
	})
}

func TestAnUndoneInterruptionMessageComesAgainByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Clock: clock.Wall{}, RedeliverIn: time.Minute})
		c.Announce(cloud.Maintenance, "i-00000000000000001")
		began := time.Now()
		for want := range 3 {
			interruptionMessages, err := c.Next(t.Context())
			if err != nil || len(interruptionMessages) != 1 || time.Since(began) != time.Duration(want)*time.Minute {
				t.Fatalf("after %v: %v, %v; want the notice after %d minutes", time.Since(began), interruptionMessages, err, want)
			}
		}
		n := cloud.InterruptionMessage{ID: interruptionMessage("i-00000000000000001", cloud.Maintenance, began.UTC()).ID}
		if err := c.Done(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if interruptionMessages, err := c.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after Done: %v, %v; want silence", interruptionMessages, err)
		}
	})
}

func TestStopAndAdviceAreReported(t *testing.T) {
	c, _ := quiet()
	got, err := c.Launch(t.Context(), ask("t", 1, choice("m5.large", "us-east-1a", cluster.Spot)))
	if err != nil {
		t.Fatal(err)
	}
	c.Market().Recommend(got[0].ID)
	c.Market().Stop(got[0].ID)
	interruptionMessages, err := c.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var kinds []cloud.InterruptionMessageKind
	for _, n := range interruptionMessages {
		kinds = append(kinds, n.Kind)
	}
	slices.Sort(kinds)
	if !slices.Equal(kinds, []cloud.InterruptionMessageKind{cloud.HasStopped, cloud.Rebalance}) {
		t.Errorf("notices = %v", kinds)
	}
}

func TestTheSameSeedGivesTheSameInstances(t *testing.T) {
	run := func() []cloud.Instance {
		c, _ := quiet()
		got, err := c.Launch(t.Context(), ask("t", 3, m5, choice("c5.large", "us-east-1b", cluster.OnDemand)))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first, second := run(), run()
	for i := range first {
		if first[i].ID != second[i].ID || first[i].PrivateDNS != second[i].PrivateDNS || first[i].Kind != second[i].Kind {
			t.Errorf("machine %d is %+v, then %+v", i, first[i], second[i])
		}
	}
}
