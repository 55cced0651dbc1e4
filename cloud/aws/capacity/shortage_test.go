package capacity

import (
	"slices"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
)

func TestAShiftIsOverAtItsEnd(t *testing.T) {
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	m := New(func() time.Time { return now })
	m.SetShifted(map[string]time.Time{"use1-az1": now.Add(time.Hour), "use1-az2": {}})
	during := m.Seq()
	for _, step := range []struct {
		after time.Duration
		away  bool
	}{{time.Hour - time.Nanosecond, true}, {time.Nanosecond, false}} {
		now = now.Add(step.after)
		shifted := m.Shifted("use1-az1")
		_, away := m.View().Shifted("use1-az1")
		if away != step.away || shifted != step.away || (m.Seq() == during) != step.away || !m.Shifted("use1-az2") {
			t.Errorf("%v later: shifted %v, sequence %d after %d; want %v, another sequence once it is over, and the other zone to go on", step.after, away, m.Seq(), during, step.away)
		}
	}
}

func TestOfferingsAreShortForThreeMinutes(t *testing.T) {
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	m := New(func() time.Time { return now })
	before := m.Seq()
	m.AddOffering("m5.large", "us-east-1a", cluster.Spot, "")

	v := m.View()
	if v.Seq == before {
		t.Error("the sequence number did not change with a new shortage")
	}
	for name, tt := range map[string]struct {
		kind, zone string
		option     cluster.Option
		want       bool
	}{
		"the very offer": {"m5.large", "us-east-1a", cluster.Spot, true},
		"another zone":   {"m5.large", "us-east-1b", cluster.Spot, false},
		"another option": {"m5.large", "us-east-1a", cluster.OnDemand, false},
		"another kind":   {"m5.xlarge", "us-east-1a", cluster.Spot, false},
	} {
		if got := v.Offering(tt.kind, tt.zone, tt.option, ""); got != tt.want {
			t.Errorf("%s: short = %v, want %v", name, got, tt.want)
		}
	}

	now = now.Add(Keep - time.Nanosecond)
	if !m.View().Offering("m5.large", "us-east-1a", cluster.Spot, "") {
		t.Error("forgotten too early")
	}
	during := m.Seq()
	now = now.Add(time.Nanosecond)
	if m.View().Offering("m5.large", "us-east-1a", cluster.Spot, "") {
		t.Error("remembered for too long")
	}
	if m.Seq() == during {
		t.Error("the sequence number did not change when a shortage was over")
	}
}

func TestAShortageSeenAgainLastsLonger(t *testing.T) {
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	m := New(func() time.Time { return now })
	m.AddOffering("m5.large", "us-east-1a", cluster.Spot, "")
	seq := m.Seq()
	now = now.Add(2 * time.Minute)
	m.AddOffering("m5.large", "us-east-1a", cluster.Spot, "")
	if m.Seq() != seq {
		t.Error("the sequence number changed though no answer did")
	}
	now = now.Add(2 * time.Minute)
	if !m.View().Offering("m5.large", "us-east-1a", cluster.Spot, "") {
		t.Error("forgotten two minutes after it was seen last")
	}
}

// An offering that is short whenever it is asked for is asked for less and less readily, and
// as readily as before once it has not been short for long, or an instance of it was had.
func TestAnOfferingThatIsShortAgainAndAgainIsDoubtful(t *testing.T) {
	start := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		short []time.Duration // when it is, after the start
		had   time.Duration   // when an instance of it is had; zero: never
		until time.Duration   // until when it is doubtful; zero: never
	}{
		"once":                             {[]time.Duration{0}, 0, 0},
		"twice at the same moment":         {[]time.Duration{0, time.Second}, 0, 0},
		"again at once":                    {[]time.Duration{0, Keep}, 0, Keep + 8*time.Minute + 35*time.Second},
		"again after a while":              {[]time.Duration{0, 10 * time.Minute}, 0, 15*time.Minute + 51*time.Second},
		"again after long":                 {[]time.Duration{0, time.Hour}, 0, 0},
		"whenever it is asked for":         {[]time.Duration{0, Keep, 2 * Keep, 3 * Keep}, 0, 3*Keep + 15*time.Minute + 54*time.Second},
		"and had before it is short again": {[]time.Duration{0, 2 * Keep}, Keep, 0},
		"and had after that":               {[]time.Duration{0, Keep}, 3 * Keep, 3 * Keep},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			now := start
			m := New(func() time.Time { return now })
			doubtful := func() bool { return m.View().Doubtful("m5.large", "us-east-1a", cluster.Spot, "") }
			was, seq, until := false, m.Seq(), time.Duration(0)
			for after := time.Duration(0); after < 2*time.Hour; after += time.Second {
				now = start.Add(after)
				if slices.Contains(tt.short, after) {
					m.AddOffering("m5.large", "us-east-1a", cluster.Spot, "")
				}
				if after > 0 && after == tt.had {
					m.Had("m5.large", "us-east-1a", cluster.Spot, "")
				}
				is := doubtful()
				if is {
					until = after + time.Second
				}
				if is != was && m.Seq() == seq {
					t.Fatalf("doubtful is %v after %v, and the sequence number is that of before", is, after)
				}
				was, seq = is, m.Seq()
			}
			if until != tt.until {
				t.Errorf("doubtful until %v, want %v", until, tt.until)
			}
		})
	}
	m := New(func() time.Time { return start })
	for range 2 {
		m.AddOffering("m5.large", "us-east-1a", cluster.Spot, "pg-1")
		start = start.Add(Keep)
	}
	if v := m.View(); !v.Doubtful("m5.large", "us-east-1a", cluster.Spot, "pg-1") || v.Doubtful("m5.large", "us-east-1a", cluster.Spot, "") ||
		v.Doubtful("m5.large", "us-east-1b", cluster.Spot, "pg-1") || v.Doubtful("m5.xlarge", "us-east-1a", cluster.Spot, "pg-1") {
		t.Error("the offer of the placement group must be doubtful, and nothing else")
	}
}

// What was short long ago takes no memory: an account has some ten thousand offerings.
func TestWhatWasShortLongAgoIsForgotten(t *testing.T) {
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	m := New(func() time.Time { return now })
	for range 2 {
		m.AddOffering("m5.large", "us-east-1a", cluster.Spot, "")
		now = now.Add(Keep)
	}
	if len(m.past) != 1 || len(m.backOff) != 1 {
		t.Fatalf("of an offer that was short twice %d shortages and %d doubts are kept, want one of each", len(m.past), len(m.backOff))
	}
	now = now.Add(time.Hour)
	m.View()
	if n := len(m.until) + len(m.past) + len(m.backOff); n > 0 {
		t.Errorf("an hour later %d things are kept", n)
	}
}

func TestAReservationCanBeShortByItself(t *testing.T) {
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	m := New(func() time.Time { return now })
	m.AddReservation("cr-1")
	if v := m.View(); !v.Reservation("cr-1") || v.Reservation("cr-2") {
		t.Error("the reservation must be short, and no other")
	}
	now = now.Add(Keep)
	if m.View().Reservation("cr-1") {
		t.Error("remembered for too long")
	}
}

// Two sizes of a family that are out in a zone make its others doubtful there.
func TestAFamilyIsDoubtfulOfWhichSeveralSizesAreShort(t *testing.T) {
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	m := New(func() time.Time { return now })
	for _, kind := range []string{"c5.24xlarge", "c5.metal", "m5.24xlarge"} {
		m.AddOffering(kind, "us-east-1a", cluster.OnDemand, "")
	}
	m.AddOffering("c5.9xlarge", "us-east-1a", cluster.OnDemand, "pg-1")
	if m.View().Doubtful("c5.large", "us-east-1a", cluster.OnDemand, "") {
		t.Error("doubtful for one size, the same in another form, and one of a placement group alone")
	}
	m.AddOffering("c5.18xlarge", "us-east-1a", cluster.OnDemand, "")
	for name, tt := range map[string]struct {
		kind, zone string
		option     cluster.Option
		want       bool
	}{
		"another size":   {"c5.large", "us-east-1a", cluster.OnDemand, true},
		"another family": {"c5d.large", "us-east-1a", cluster.OnDemand, false},
		"another zone":   {"c5.large", "us-east-1b", cluster.OnDemand, false},
		"another option": {"c5.large", "us-east-1a", cluster.Spot, false},
	} {
		if got := m.View().Doubtful(tt.kind, tt.zone, tt.option, ""); got != tt.want {
			t.Errorf("%s: doubtful = %v, want %v", name, got, tt.want)
		}
	}
	now = now.Add(Keep)
	if m.View().Doubtful("c5.large", "us-east-1a", cluster.OnDemand, "") {
		t.Error("doubtful for too long")
	}
}

func TestAWholeOptionAndASubnetCanBeShort(t *testing.T) {
	m := New(func() time.Time { return time.Time{} })
	m.AddOption(cluster.Spot)
	m.AddSubnet("subnet-1")
	v := m.View()
	if !v.Offering("any.type", "any-zone", cluster.Spot, "") || v.Offering("any.type", "any-zone", cluster.OnDemand, "") {
		t.Error("a short option must make all its offers short, and no others")
	}
	if !v.Subnet("subnet-1") || v.Subnet("subnet-2") {
		t.Error("a full subnet must be short, and no other")
	}
}

// An account that may have no more vCPUs of a group may have none of its larger instances,
// whatever their type; smaller ones, other groups and other options may do.
func TestALimitOfTheAccountIsOfAllThatAreAsLarge(t *testing.T) {
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	m := New(func() time.Time { return now })
	m.AddQuota("Standard", 16, cluster.OnDemand)
	m.AddQuota("Standard", 8, cluster.OnDemand)
	seq := m.Seq()
	m.AddQuota("Standard", 32, cluster.OnDemand)
	if m.Seq() != seq {
		t.Error("the sequence number changed though no answer did")
	}
	for name, tt := range map[string]struct {
		group  string
		cpus   int64
		option cluster.Option
		want   bool
	}{
		"as large":       {"Standard", 8, cluster.OnDemand, true},
		"larger":         {"Standard", 64, cluster.OnDemand, true},
		"smaller":        {"Standard", 4, cluster.OnDemand, false},
		"another group":  {"P", 96, cluster.OnDemand, false},
		"another option": {"Standard", 8, cluster.Spot, false},
	} {
		if got := m.View().Quota(tt.group, tt.cpus, tt.option); got != tt.want {
			t.Errorf("%s: beyond the limit = %v, want %v", name, got, tt.want)
		}
	}
	now = now.Add(Keep)
	if m.View().Quota("Standard", 64, cluster.OnDemand) {
		t.Error("remembered for too long")
	}
}

func TestAShortageOfAPlacementGroupIsOfNoOther(t *testing.T) {
	tests := map[string]struct {
		short, asked string
		want         bool
	}{
		"one anywhere is one of the group":        {"", "pg-1", true},
		"one anywhere is one of its partitions":   {"", "pg-1/2", true},
		"one of the group is one of that":         {"pg-1", "pg-1", true},
		"one of the group is one of its parts":    {"pg-1", "pg-1/2", true},
		"one of a partition is not one of all":    {"pg-1/2", "pg-1", false},
		"one of a partition is one of that":       {"pg-1/2", "pg-1/2", true},
		"one of a partition is not of the next":   {"pg-1/2", "pg-1/3", false},
		"one of a group is none of another":       {"pg-1", "pg-2", false},
		"one of a group is none outside of it":    {"pg-1", "", false},
		"one of a partition is none outside, too": {"pg-1/2", "", false},
	}
	for name, tt := range tests {
		m := New(time.Now)
		m.AddOffering("m5.large", "us-east-1a", cluster.Spot, tt.short)
		if got := m.View().Offering("m5.large", "us-east-1a", cluster.Spot, tt.asked); got != tt.want {
			t.Errorf("SC-427 %s: short in %q is %v of %q, want %v", name, tt.short, got, tt.asked, tt.want)
		}
	}
}

// What one process has seen another goes on from: it counts for as long as it would have
// here, whatever the other's clock said, and what is known here for longer stays.
func TestWhatAnotherProcessSawIsShortHereToo(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	one, other := New(clock), New(clock)
	one.AddOffering("m5.large", "a", cluster.Spot, "")
	one.AddSubnet("subnet-1")
	one.AddQuota("standard", 8, cluster.OnDemand)
	one.AddReservation("cr-1")
	seen := one.Seen()
	seen = append(seen, cloud.Unavailable{Kind: "c5.large", Zone: "b", Option: cluster.OnDemand, Until: now.Add(time.Hour)},
		cloud.Unavailable{Kind: "over", Zone: "b", Option: cluster.OnDemand, Until: now})
	before := other.Seq()
	other.Recall(seen)
	if v := other.View(); !v.Offering("m5.large", "a", cluster.Spot, "") || v.Offering("m5.large", "b", cluster.Spot, "") || !v.Subnet("subnet-1") || !v.Reservation("cr-1") ||
		!v.Quota("standard", 8, cluster.OnDemand) || v.Quota("standard", 4, cluster.OnDemand) || !v.Offering("c5.large", "b", cluster.OnDemand, "") || v.Offering("over", "b", cluster.OnDemand, "") {
		t.Errorf("it knows %+v", other.Seen())
	}
	if other.Seq() == before {
		t.Error("answers have changed, and the number has not")
	}
	after := other.Seq()
	other.Recall(seen)
	if other.Seq() != after {
		t.Error("what is known already counts as news")
	}
	now = now.Add(Keep)
	if left := other.Seen(); len(left) > 0 {
		t.Errorf("after %v it still knows %+v", Keep, left)
	}
}
