package quantity_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/daemok/daemok/core/quantity"
)

func TestAmountsAreWrittenAndRead(t *testing.T) {
	tests := map[string]struct {
		name, text string
		want       int64
		printed    string // "" where it is as read
	}{
		"whole cores":          {"cpu", "2", 2000, ""},
		"thousandths":          {"cpu", "1500m", 1500, ""},
		"fractions":            {"cpu", "0.25", 250, "250m"},
		"negative cores":       {"cpu", "-2", -2000, ""},
		"binary units":         {"memory", "8Gi", 8 << 30, ""},
		"a unit that divides":  {"memory", "2048Mi", 2 << 30, "2Gi"},
		"decimal units":        {"memory", "1M", 1000000, "1000000"},
		"plain bytes":          {"ephemeral-storage", "7", 7, ""},
		"huge pages are bytes": {"hugepages-2Mi", "4Mi", 4 << 20, ""},
		"pieces":               {"nvidia.com/gpu", "3", 3, ""},
		"no bytes at all":      {"memory", "0", 0, ""},
		"large units":          {"memory", "3Pi", 3 << 50, ""},
		"more than is counted": {"memory", "9999999999Ti", quantity.Most, "8Ei"},
		"more cores likewise":  {"cpu", "9999999999999999999", quantity.Most, "9223372036854775807m"},
		"more thousandths":     {"cpu", "9999999999999999999m", quantity.Most, "9223372036854775807m"},
		"more pieces likewise": {"nvidia.com/gpu", "9999999999999999999", quantity.Most, "9223372036854775807"},
		"less than is counted": {"nvidia.com/gpu", "-9999999999999999999", math.MinInt64, "-9223372036854775808"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := quantity.ParseAmount(tt.name, tt.text)
			if err != nil || got != tt.want {
				t.Fatalf("ParseAmount(%s, %s) = %d, %v; want %d", tt.name, tt.text, got, err, tt.want)
			}
			if tt.printed == "" {
				tt.printed = tt.text
			}
			if text := quantity.FormatAmount(tt.name, got); text != tt.printed {
				t.Errorf("FormatAmount(%s, %d) = %s, want %s", tt.name, got, text, tt.printed)
			}
		})
	}
}

func TestBadAmountsAreRefused(t *testing.T) {
	tests := map[string]struct{ name, text string }{
		"words":               {"cpu", "many"},
		"too fine a fraction": {"cpu", "0.0001"},
		"half a thousandth":   {"cpu", "1.5m"},
		"an unknown unit":     {"memory", "3Qi"},
		"half a byte":         {"memory", "0.5"},
		"half a GPU":          {"nvidia.com/gpu", "0.5"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := quantity.ParseAmount(tt.name, tt.text); err == nil {
				t.Errorf("ParseAmount(%s, %s) = %d, want an error", tt.name, tt.text, got)
			}
		})
	}
}

func TestPricesAreExact(t *testing.T) {
	tests := map[string]struct {
		dollars float64
		want    quantity.MicroUSDPerHour
		text    string
	}{
		"a price of the list":  {0.096, 96000, "$0.096000/h"},
		"half a millionth":     {0.0000005, 1, "$0.000001/h"},
		"less than half of it": {0.0000004, 0, "$0.000000/h"},
		"a saving is negative": {-1.25, -1250000, "-$1.250000/h"},
		"a very large machine": {407.68, 407680000, "$407.680000/h"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := quantity.USDPerHour(tt.dollars); got != tt.want || got.String() != tt.text {
				t.Errorf("USDPerHour(%v) = %d, %s; want %d, %s", tt.dollars, got, got, tt.want, tt.text)
			}
		})
	}
}

// table is resources as a plain map: the model of Resources.
type table map[string]int64

var names = []string{"cpu", "memory", "ephemeral-storage", "pods", "a/x", "a/y", "b/z"}

func chance(r *rand.Rand) (quantity.Resources, table) {
	var out quantity.Resources
	m := table{}
	for _, name := range names {
		if r.IntN(2) == 0 {
			m[name] = r.Int64N(9) - 3
			out = out.With(name, m[name])
		}
	}
	return out, m
}

func TestArithmeticIsThatOfEveryResourceAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		a, inA := chance(r)
		b, inB := chance(r)
		n := r.Int64N(4)
		results := map[string]struct {
			got  quantity.Resources
			want func(x, y int64) int64
		}{
			"sum":        {a.Add(b), func(x, y int64) int64 { return x + y }},
			"difference": {a.Sub(b), func(x, y int64) int64 { return x - y }},
			"larger":     {a.Max(b), func(x, y int64) int64 { return max(x, y) }},
			"smaller":    {a.Min(b), func(x, y int64) int64 { return min(x, y) }},
			"multiple":   {a.Times(n), func(x, _ int64) int64 { return n * x }},
			"clamped":    {a.ClampNegative(), func(x, _ int64) int64 { return max(0, x) }},
		}
		for what, result := range results {
			for _, name := range names {
				if want := result.want(inA[name], inB[name]); result.got.Get(name) != want {
					t.Fatalf("%s of %s and %s: %s is %d, want %d", what, a, b, name, result.got.Get(name), want)
				}
			}
			for _, e := range result.got.Extended {
				if e.Amount == 0 {
					t.Fatalf("%s of %s and %s keeps a zero: %v", what, a, b, result.got.Extended)
				}
			}
		}
		checkFits(t, a, b, inA, inB)
	}
}

func checkFits(t *testing.T, a, b quantity.Resources, inA, inB table) {
	t.Helper()
	want := true
	for _, name := range names {
		want = want && (inA[name] <= 0 || inA[name] <= inB[name])
	}
	if a.FitsIn(b) != want {
		t.Fatalf("%s fits in %s: %v, want %v", a, b, a.FitsIn(b), want)
	}
	if !a.Add(b).Sub(b).Equal(a) || a.Sub(a).IsZero() != true {
		t.Fatalf("%s + %s - %s is not the former", a, b, b)
	}
}

// extremes are amounts near which arithmetic would wrap around.
var extremes = []int64{math.MinInt64, math.MinInt64 + 1, -3, -1, 0, 1, 2, 1 << 32, math.MaxInt64 / 2, math.MaxInt64 - 1, math.MaxInt64}

func TestArithmeticSaturates(t *testing.T) {
	for _, a := range extremes {
		for _, b := range extremes {
			checkSaturates(t, a, b)
		}
	}
}

func checkSaturates(t *testing.T, a, b int64) {
	t.Helper()
	x, y := big.NewInt(a), big.NewInt(b)
	for what, result := range map[string]struct {
		got   int64
		exact *big.Int
	}{
		"sum":        {quantity.Sum(a, b), new(big.Int).Add(x, y)},
		"difference": {quantity.Difference(a, b), new(big.Int).Sub(x, y)},
		"product":    {quantity.Product(a, b), new(big.Int).Mul(x, y)},
	} {
		want := result.exact
		if low := big.NewInt(math.MinInt64); want.Cmp(low) < 0 {
			want = low
		}
		if high := big.NewInt(math.MaxInt64); want.Cmp(high) > 0 {
			want = high
		}
		if big.NewInt(result.got).Cmp(want) != 0 {
			t.Errorf("the %s of %d and %d is %d, want %d", what, a, b, result.got, want)
		}
	}
}

func FuzzArithmeticSaturates(f *testing.F) {
	f.Add(int64(math.MaxInt64), int64(1))
	f.Fuzz(func(t *testing.T, a, b int64) { checkSaturates(t, a, b) })
}

func TestAskingForMoreThanIsCountedFitsNowhere(t *testing.T) {
	for _, name := range names {
		half := quantity.Resources{}.With(name, quantity.Most/2+1)
		most := quantity.Resources{}.With(name, 1<<40)
		for what, sum := range map[string]quantity.Resources{"two halves": half.Add(half), "a multiple": half.Times(7)} {
			if sum.FitsIn(most) || sum.Get(name) != quantity.Most {
				t.Errorf("%s of %s are %s and fit in %s", what, half, sum, most)
			}
		}
		if left := most.Sub(half.Times(7)); half.FitsIn(left) || left.Get(name) >= 0 {
			t.Errorf("%s is left of %s without %s", left, most, half.Times(7))
		}
		if got := half.With(name, -quantity.Most).With(name, 5).Get(name); got != 5 {
			t.Errorf("%s set to 5 is %d", name, got)
		}
	}
}

func FuzzParseAmount(f *testing.F) {
	f.Add("cpu", "1500m")
	f.Add("memory", "8Gi")
	f.Fuzz(func(t *testing.T, name, text string) {
		n, err := quantity.ParseAmount(name, text)
		if err != nil {
			return
		}
		again, err := quantity.ParseAmount(name, quantity.FormatAmount(name, n))
		if err != nil || again != n {
			t.Errorf("%s %q is %d, printed %s, read %d, %v", name, text, n, quantity.FormatAmount(name, n), again, err)
		}
	})
}
