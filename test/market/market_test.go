package market

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// clock is a virtual clock.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time          { return c.now }
func (c *clock) advance(d time.Duration) { c.now = c.now.Add(d) }

func open(seed uint64, scale float64) (*Market, *clock) {
	c := &clock{start}
	return New(Options{Seed: seed, Now: c.Now, TimeScale: scale, Kinds: []Kind{
		{Name: "m5.large", Zones: []string{"a", "b"}, OnDemandUSD: 0.096, SpotUSD: 0.03},
		{Name: "m5.metal", Zones: []string{"a"}, OnDemandUSD: 4.6, Slow: true},
	}}), c
}

var large = Pool{"m5.large", "a", OnDemand}

func TestLifeOfAMachine(t *testing.T) {
	m, c := open(1, 1)
	launched, err := m.Launch(Order{Pool: large, Count: 1})
	if err != nil {
		t.Fatal(err)
	}
	id := launched[0].ID
	var story []string
	advance := func() {
		for _, e := range m.Advance() {
			story = append(story, fmt.Sprintf("%s %s", e.Kind, e.State))
		}
	}
	advance()
	c.advance(time.Minute)
	advance()
	m.Terminate(id, "Client.UserInitiatedShutdown")
	m.Terminate(id, "again")
	advance()
	c.advance(2 * time.Minute)
	advance()
	want := "changed pending, changed running, changed shutting-down, changed terminated"
	if got := strings.Join(story, ", "); got != want {
		t.Errorf("events = %s; want %s", got, want)
	}
	if machine, _ := m.Machine(id); machine.Reason != "Client.UserInitiatedShutdown" {
		t.Errorf("reason = %q, want the first", machine.Reason)
	}
	c.advance(2 * time.Hour)
	if _, known := m.Machine(id); known {
		t.Error("a machine is remembered two hours after its end")
	}
}

func TestTimeScaleZeroSkipsBoots(t *testing.T) {
	m, _ := open(1, 0)
	launched, _ := m.Launch(Order{Pool: large, Count: 1})
	var states []State
	for _, e := range m.Advance() {
		states = append(states, e.State)
	}
	if len(states) != 1 || states[0] != Running {
		t.Errorf("events right after buying = %v, want running once", states)
	}
	if launched[0].VisibleAt.Equal(launched[0].LaunchedAt) {
		t.Error("the time scale took the visibility lag away")
	}
}

func TestAnInterruptionWarnsFirst(t *testing.T) {
	m, c := open(1, 0)
	launched, _ := m.Launch(Order{Pool: Pool{"m5.large", "a", Spot}, Count: 1})
	m.Advance()
	m.Interrupt(launched[0].ID)
	if events := m.Advance(); len(events) != 1 || events[0].Kind != Warning {
		t.Fatalf("events = %v, want the warning alone", events)
	}
	c.advance(119 * time.Second)
	if events := m.Advance(); len(events) != 0 {
		t.Fatalf("events before the two minutes are over = %v", events)
	}
	c.advance(time.Second)
	if events := m.Advance(); len(events) == 0 || events[len(events)-1].State != Terminated {
		t.Fatalf("events after two minutes = %v, want the end", events)
	}
}

// A recommendation may come first, and the warning and the end so much later.
func TestAnInterruptionMayBeginWithARecommendation(t *testing.T) {
	m, c := open(1, 0)
	launched, _ := m.Launch(Order{Pool: Pool{"m5.large", "a", Spot}, Count: 1})
	m.Advance()
	m.InterruptAdvised(launched[0].ID, time.Minute)
	for _, step := range []struct {
		after time.Duration
		want  EventKind // empty: nothing
	}{{0, Rebalance}, {59 * time.Second, ""}, {time.Second, Warning}, {119 * time.Second, ""}, {time.Second, Changed}} {
		c.advance(step.after)
		events := m.Advance()
		if len(events) == 0 != (step.want == "") || len(events) > 0 && events[0].Kind != step.want {
			t.Fatalf("after %v more: %v, want %q", step.after, events, step.want)
		}
	}
}

func TestShortage(t *testing.T) {
	m, c := open(1, 0)
	m.SetCapacity(large, 2, 1)
	if _, err := m.Launch(Order{Pool: large, Count: 3}); !isShortage(err, 2) {
		t.Errorf("buying 3 of 2 = %v, want a shortage that says 2", err)
	}
	if _, err := m.Launch(Order{Pool: large, Count: 2}); err != nil {
		t.Errorf("buying 2 of 2: %v", err)
	}
	if _, err := m.Launch(Order{Pool: large, Count: 1}); !isShortage(err, 0) {
		t.Errorf("buying from an empty pool = %v", err)
	}
	c.advance(time.Hour)
	if _, err := m.Launch(Order{Pool: large, Count: 1}); err != nil {
		t.Errorf("buying after the refill: %v", err)
	}
	if _, err := m.Launch(Order{Pool: Pool{"m5.metal", "b", OnDemand}, Count: 1}); !isShortage(err, 0) {
		t.Errorf("buying where the kind is not offered = %v", err)
	}
}

func isShortage(err error, of int) bool {
	var short *ShortageError
	return errors.As(err, &short) && short.Of == of
}

func TestPricesWanderAndStayPositive(t *testing.T) {
	m, _ := open(7, 1)
	spot := Pool{"m5.large", "a", Spot}
	least, most := 1.0, 0.0
	for i := range 2000 {
		p := m.PriceUSD(spot, start.Add(time.Duration(i)*5*time.Minute))
		least, most = min(least, p), max(most, p)
	}
	if least <= 0.01 || most > 0.096 || most-least < 0.005 {
		t.Errorf("spot price went from %v to %v around 0.03", least, most)
	}
	if m.PriceUSD(spot, start) != m.PriceUSD(spot, start.Add(time.Second)) {
		t.Error("the price changed within a step")
	}
}

func TestTheSameSeedGivesTheSameMarket(t *testing.T) {
	report := func(seed uint64) string {
		m, _ := open(seed, 1)
		launched, _ := m.Launch(Order{Pool: large, Count: 3})
		return fmt.Sprintf("%+v %v", launched, m.PriceUSD(Pool{"m5.large", "b", Spot}, start))
	}
	if report(3) != report(3) {
		t.Error("two markets with one seed differ")
	}
	if report(3) == report(4) {
		t.Error("two seeds give one market")
	}
}

func TestThrottle(t *testing.T) {
	m, c := open(1, 1)
	m.SetRate("RunInstances", Rate{PerSecond: 2, Burst: 5})
	allowed := 0
	for range 10 {
		if m.Call("RunInstances") {
			allowed++
		}
	}
	if allowed != 5 {
		t.Errorf("%d of 10 calls at once were allowed, want the burst of 5", allowed)
	}
	c.advance(time.Second)
	if !m.Call("RunInstances") || !m.Call("RunInstances") || m.Call("RunInstances") {
		t.Error("a second later two calls should pass, and a third not")
	}
	if n := m.Calls()["RunInstances"]; n != 13 {
		t.Errorf("%d calls counted, want 13", n)
	}
}

func TestStateSurvivesARestart(t *testing.T) {
	m, c := open(1, 1)
	launched, _ := m.Launch(Order{Pool: large, Count: 2})
	text, err := m.Export()
	if err != nil {
		t.Fatal(err)
	}
	c.advance(time.Hour)
	again, _ := open(1, 1)
	again.now = c.Now
	if err := again.Import(text); err != nil {
		t.Fatal(err)
	}
	if got := again.Machines(); len(got) != 2 || got[0].ID != launched[0].ID || got[0].At(c.Now()) != Running {
		t.Errorf("machines after a restart = %+v", got)
	}
	if more, _ := again.Launch(Order{Pool: large, Count: 1}); more[0].ID == launched[0].ID || more[0].ID == launched[1].ID {
		t.Error("an ID was used twice")
	}
}

func TestCost(t *testing.T) {
	m, c := open(1, 0)
	launched, _ := m.Launch(Order{Pool: large, Count: 2})
	m.Terminate(launched[0].ID, "")
	c.advance(time.Hour)
	if got, want := m.CostUSD(), 0.096+0.096/60; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("CostUSD = %v, want %v: an hour and a minimum minute", got, want)
	}
}

func TestAStoppedMachineStartsAgain(t *testing.T) {
	m, c := open(1, 1)
	launched, _ := m.Launch(Order{Pool: large, Count: 1})
	id := launched[0].ID
	if m.Stop(id) {
		t.Error("a pending machine was stopped")
	}
	c.advance(time.Hour)
	var story []string
	advance := func() {
		for _, e := range m.Advance() {
			story = append(story, string(e.State))
		}
	}
	advance()
	m.Stop(id)
	advance()
	c.advance(time.Hour)
	advance()
	if !m.Start(id) || m.Start(id) {
		t.Error("a stopped machine should start once")
	}
	c.advance(time.Hour)
	advance()
	// Pending and running fell due together, in the first hour.
	if got, want := strings.Join(story, " "), "pending running stopping stopped running"; got != want {
		t.Errorf("states = %s; want %s", got, want)
	}
}

func TestAReservationOffersWhatItHolds(t *testing.T) {
	m, _ := open(1, 0)
	reserved := Pool{"m5.large", "a", Reservation("cr-1")}
	if m.Offers(reserved) {
		t.Error("a reservation that no one made is sold")
	}
	m.SetCapacity(reserved, 1, 0)
	launched, err := m.Launch(Order{Pool: reserved, Count: 1})
	if err != nil || launched[0].PriceUSD != 0.096 {
		t.Errorf("buying from the reservation = %+v, %v; want one at the on-demand price", launched, err)
	}
	if _, err := m.Launch(Order{Pool: reserved, Count: 1}); !isShortage(err, 0) {
		t.Errorf("buying from the used reservation = %v", err)
	}
	m.Terminate(launched[0].ID, "")
	if got := m.Capacity(reserved); got != 1 {
		t.Errorf("after the machine was returned the reservation holds %d, want 1", got)
	}
}

// An instance that was warned and is terminated before its time leaves one place, not one for each.
func TestAPlaceComesBackOnce(t *testing.T) {
	m, c := open(1, 1)
	reserved := Pool{"m5.large", "a", Reservation("cr-1")}
	m.SetCapacity(reserved, 3, 0)
	launched, err := m.Launch(Order{Pool: reserved, Count: 3})
	if err != nil {
		t.Fatal(err)
	}
	m.Warn(launched[0].ID, c.Now(), time.Time{}, "Server.CapacityReservationReclaimed")
	c.advance(time.Minute)
	m.Terminate(launched[0].ID, "Client.UserInitiatedShutdown")
	if got := m.Capacity(reserved); got != 1 {
		t.Errorf("the reservation has room for %d beside the two that run, want 1", got)
	}
}

func TestARestartReportsNothingTwice(t *testing.T) {
	m, c := open(1, 1)
	m.SetCapacity(large, 5, 0)
	launched, _ := m.Launch(Order{Pool: large, Count: 1})
	m.SetPrice(Pool{"m5.large", "b", Spot}, 0.5)
	m.Advance() // tells of pending
	text, err := m.Export()
	if err != nil {
		t.Fatal(err)
	}
	c.advance(time.Hour)
	again, _ := open(1, 1)
	again.now = c.Now
	if err := again.Import(text); err != nil {
		t.Fatal(err)
	}
	events := again.Advance()
	if len(events) != 1 || events[0].State != Running || events[0].Machine.ID != launched[0].ID {
		t.Errorf("events after the restart = %+v, want running alone", events)
	}
	if left, price := again.Capacity(large), again.PriceUSD(Pool{"m5.large", "b", Spot}, c.Now()); left != 4 || price != 0.5 {
		t.Errorf("after the restart capacity is %d and the fixed price %v, want 4 and 0.5", left, price)
	}
	if err := again.Import([]byte("{")); err == nil {
		t.Error("half a file was imported")
	}
}

// What was announced is told by whoever takes the market over: a warning that is to come, and one that
// none has asked for yet.
func TestARestartReportsWarningsThatAreToCome(t *testing.T) {
	m, c := open(1, 1)
	spot := Pool{"m5.large", "b", Spot}
	launched, _ := m.Launch(Order{Pool: spot, Count: 2})
	c.advance(time.Minute)
	m.Advance()
	m.InterruptAdvised(launched[0].ID, 10*time.Minute)
	m.Recommend(launched[1].ID)
	text, err := m.Export()
	if err != nil {
		t.Fatal(err)
	}
	again, _ := open(1, 1)
	again.now = c.Now
	if err := again.Import(text); err != nil {
		t.Fatal(err)
	}
	var reported []string
	for range 2 {
		for _, e := range again.Advance() {
			reported = append(reported, string(e.Kind)+" "+e.Machine.ID)
		}
		c.advance(10 * time.Minute)
	}
	want := []string{"rebalance " + launched[0].ID, "rebalance " + launched[1].ID, "warning " + launched[0].ID}
	if !slices.Equal(reported, want) {
		t.Errorf("told after the restart: %q, want %q", reported, want)
	}
}

func TestForgottenMachinesStayOnTheBill(t *testing.T) {
	m, c := open(1, 0)
	launched, _ := m.Launch(Order{Pool: large, Count: 1})
	c.advance(time.Hour)
	m.Terminate(launched[0].ID, "")
	before := m.CostUSD()
	c.advance(3 * time.Hour)
	if n := len(m.Machines()); n != 0 {
		t.Fatalf("%d machines are remembered", n)
	}
	if after := m.CostUSD(); after != before || before == 0 {
		t.Errorf("the bill went from %v to %v when the machine was forgotten", before, after)
	}
}

func TestChangedWakesAllWhoWait(t *testing.T) {
	m, _ := open(1, 0)
	first, second := m.Changed(), m.Changed()
	_, _ = m.Launch(Order{Pool: large, Count: 1})
	for _, ch := range []<-chan struct{}{first, second} {
		select {
		case <-ch:
		default:
			t.Error("a purchase did not wake everyone")
		}
	}
}

// A zone that is cut off offers nothing and tells so of each of its instances, in order; what was
// unavailable before is unavailable after.
func TestAnOutageEndsWhereItBegan(t *testing.T) {
	m, c := open(1, 0)
	m.SetCapacity(large, 2, 0)
	launched, err := m.Launch(Order{Pool: large, Count: 1})
	if err != nil {
		t.Fatal(err)
	}
	m.Advance()
	m.SetOutage("a", true)
	m.SetOutage("a", true)
	if _, err := m.Launch(Order{Pool: large, Count: 1}); !isShortage(err, 0) {
		t.Errorf("buy in the zone = %v, want a shortage", err)
	}
	if _, err := m.Launch(Order{Pool: Pool{"m5.large", "b", OnDemand}, Count: 1}); err != nil {
		t.Errorf("buy in another zone = %v", err)
	}
	saved, err := m.Export()
	if err != nil {
		t.Fatal(err)
	}
	later, _ := open(1, 0)
	if err := later.Import(saved); err != nil || later.Capacity(large) != 0 {
		t.Errorf("after a restart %d are there, %v; want none still", later.Capacity(large), err)
	}
	c.advance(time.Minute)
	m.SetOutage("a", false)
	reported := 0
	for _, e := range m.Advance() {
		if e.Kind == Outage && e.Machine.ID == launched[0].ID {
			reported++
		}
	}
	if reported != 2 || m.Capacity(large) != 1 {
		t.Errorf("told of %d times, %d are there; want both ends told, and the one that was left", reported, m.Capacity(large))
	}
}

// A rate that is changed is the ordinary one again in the end, of actions with and without one of their own.
func TestRatesComeBack(t *testing.T) {
	m, _ := open(1, 0)
	for _, action := range []string{"CreateFleet", "DescribeVpcs"} {
		usual := m.UsualRate(action)
		m.SetRate(action, Rate{0.1, 1})
		m.FreeRate(action)
		answered := 0
		for m.Call(action) {
			answered++
		}
		if answered != int(usual.Burst) {
			t.Errorf("%s is answered %d times at once, want %v", action, answered, usual.Burst)
		}
	}
	if _, has := m.Rates()["DescribeVpcs"]; has {
		t.Error("an action without a rate of its own has one after that was ended")
	}
}

// A share of instances never joins a cluster, and the others take their time: half of them the median, some far longer.
func TestSomeMachinesNeverJoin(t *testing.T) {
	m, _ := open(1, 1)
	m.SetNeverJoin(0.2)
	launched, err := m.Launch(Order{Pool: large, Count: 1000})
	if err != nil {
		t.Fatal(err)
	}
	never, quick, slow := 0, 0, 0
	for _, machine := range launched {
		if machine.NeverJoins {
			never++
		}
		if machine.JoinFor < DefaultFigures().Join.Half {
			quick++
		}
		if machine.JoinFor > DefaultFigures().Join.Tail {
			slow++
		}
	}
	if never < 150 || never > 250 || quick < 450 || quick > 550 || slow == 0 || slow > 30 {
		t.Errorf("of a thousand %d never join, %d are quick, %d very slow; want about 200, 500 and 10", never, quick, slow)
	}
}
