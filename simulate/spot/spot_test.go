package spot_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/simulate/spot"
)

// offered is m5.large: on demand for 96 thousandths of a dollar and as spot for 40 in zone a, and as spot alone in zone b.
func offered() *cluster.Catalogue {
	return &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{{Name: "m5.large", Offerings: []cluster.Offering{
		{Zone: "a", Option: cluster.OnDemand, Price: 96_000, Priced: true}, {Zone: "a", Option: cluster.Spot, Price: 40_000, Priced: true},
		{Zone: "b", Option: cluster.Spot, Price: 40_000, Priced: true}}}}}
}

func TestPricesWanderFromThoseOfTheCatalogue(t *testing.T) {
	moving := spot.Options{Prices: spot.Moving}
	m, err := moving.Market(offered(), 1)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := moving.Market(offered(), 1)
	other, _ := moving.Market(offered(), 2)
	differs := 0
	for at := time.Duration(0); at < 60*24*time.Hour; at += m.PriceStep {
		price, before := m.Price("m5.large", "a", at), m.Price("m5.large", "a", max(0, at-m.PriceStep))
		if at == 0 && price != 40_000 {
			t.Errorf("the first price is %d, want that of the catalogue", price)
		}
		if price < 15_000 || price > 96_000 {
			t.Errorf("after %s it is %d: far from 40000, or more than on demand", at, price)
		}
		if change := math.Abs(float64(price)/float64(before) - 1); change > 0.1 {
			t.Errorf("after %s it changes by %.0f %% within %s", at, 100*change, m.PriceStep)
		}
		if price != again.Price("m5.large", "a", at) {
			t.Errorf("after %s the same seed has another price", at)
		}
		if price != other.Price("m5.large", "a", at) && price != m.Price("m5.large", "b", at) {
			differs++
		}
	}
	if differs < 1000 {
		t.Errorf("%d of 1440 prices differ by seed and zone", differs)
	}
	now := m.Priced(offered(), 30*24*time.Hour).InstanceTypes[0].Offerings
	if now[0].Price != 96_000 || now[1].Price != m.Price("m5.large", "a", 30*24*time.Hour) {
		t.Errorf("after 30 days offers are %+v; want the on-demand price as before, and the spot price of then", now)
	}
}

func TestSpotPricesNeverExceedOnDemandPrices(t *testing.T) {
	c := offered()
	c.InstanceTypes[0].Offerings[0].Price = 41_000
	m, err := spot.Options{Prices: spot.Moving}.Market(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	reached := false
	for at := time.Duration(0); at < 60*24*time.Hour; at += m.PriceStep {
		price := m.Price("m5.large", "a", at)
		if reached = reached || price == 41_000; price > 41_000 {
			t.Errorf("after %s it is %d", at, price)
		}
	}
	if !reached {
		t.Error("the price never reaches that on demand")
	}
}

// advisor writes a file of Spot Instance Advisor.
func advisor(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "advisor.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Of a band of 5 to 10 % a month, 7.5 % of instances are gone after a month.
func TestInterruptionsFollowTheAdvisor(t *testing.T) {
	path := advisor(t, "instance_type,interruption_bucket,interruption_label\nm5.large,1,5-10%\nc5.large,4,>20%\n")
	m, err := spot.Options{Advisor: path, InterruptionsPerHour: 0.5}.Market(offered(), 1)
	if err != nil {
		t.Fatal(err)
	}
	left := func(kind string) float64 { return math.Exp(-720 * m.Interruptions(kind, "a")) }
	if left("m5.large") < 0.924 || left("m5.large") > 0.926 || left("c5.large") < 0.749 || left("c5.large") > 0.751 {
		t.Errorf("after a month %.3f and %.3f are left; want 0.925 and 0.75", left("m5.large"), left("c5.large"))
	}
	if rate := m.Interruptions("r5.large", "a"); rate != 0.5 {
		t.Errorf("a type that the file does not name is interrupted %g times an hour, want 0.5", rate)
	}
}

func TestNothingHappensUnlessAsked(t *testing.T) {
	m, err := spot.Options{}.Market(offered(), 1)
	if c := offered(); err != nil || m.Interruptions != nil || m.Priced(c, time.Hour) != c {
		t.Errorf("Market = %+v, %v; want no interruptions and the same prices", m, err)
	}
}

func TestMarketsThatCannotBe(t *testing.T) {
	for name, tt := range map[string]struct {
		advisor string
		options spot.Options
		want    string
	}{
		"a negative rate":          {options: spot.Options{InterruptionsPerHour: -1}, want: "--interruptions-per-hour is -1: want 0 to 30"},
		"a rate that is no number": {options: spot.Options{InterruptionsPerHour: math.NaN()}, want: "--interruptions-per-hour is NaN: want 0 to 30"},
		"prices of another kind":   {options: spot.Options{Prices: "wild"}, want: `--spot-prices is "wild": use moving or fixed`},
		"a band that is none":      {advisor: "instance_type,interruption_bucket\nm5.large,5\n", want: "advisor.csv:2: column interruption_bucket: want 0 to 4, not 5"},
		"a type that comes twice":  {advisor: "instance_type,interruption_bucket\nm5.large,1\nm5.large,2\n", want: "advisor.csv:3: column instance_type: m5.large is in line 2 already"},
		"a file without bands":     {advisor: "instance_type,savings\nm5.large,1\n", want: "advisor.csv:1: there is no column interruption_bucket"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.advisor != "" {
				tt.options.Advisor = advisor(t, tt.advisor)
			}
			if _, err := tt.options.Market(offered(), 1); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Market = %v, want %q", err, tt.want)
			}
		})
	}
}
