package translate

import (
	"testing"
	"time"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

func TestAllowed(t *testing.T) {
	at := time.Date(2026, 3, 4, 9, 30, 0, 0, time.UTC) // a Wednesday
	window := func(nodes, schedule, duration string, reasons ...karpv1.DisruptionReason) karpv1.Budget {
		b := karpv1.Budget{Nodes: nodes, Reasons: reasons}
		if schedule != "" {
			b.Schedule, b.Duration = &schedule, &duration
		}
		return b
	}
	tests := map[string]struct {
		budgets []karpv1.Budget
		nodes   int64
		want    int64
	}{
		"SC-289 none written means ten per cent":            {nil, 30, 3},
		"SC-289 percentages are rounded up":                 {[]karpv1.Budget{window("10%", "", "")}, 11, 2},
		"SC-289 a number is taken as it is":                 {[]karpv1.Budget{window("5", "", "")}, 30, 5},
		"SC-289 zero allows none":                           {[]karpv1.Budget{window("0", "", "")}, 30, 0},
		"SC-289 a hundred per cent allows all":              {[]karpv1.Budget{window("100%", "", "")}, 7, 7},
		"SC-289 the least of several counts":                {[]karpv1.Budget{window("50%", "", ""), window("2", "", "")}, 30, 2},
		"SC-289 inside its window a budget counts":          {[]karpv1.Budget{window("100%", "", ""), window("0", "0 9 * * *", "1h")}, 30, 0},
		"SC-289 outside it does not":                        {[]karpv1.Budget{window("100%", "", ""), window("0", "0 10 * * *", "1h")}, 30, 30},
		"SC-289 a window may be longer than its period":     {[]karpv1.Budget{window("1", "@daily", "48h")}, 30, 1},
		"SC-289 a window that begins now counts":            {[]karpv1.Budget{window("0", "30 9 * * *", "1h")}, 30, 0},
		"SC-289 a window that ends now does not":            {[]karpv1.Budget{window("0", "30 8 * * *", "1h")}, 30, 30},
		"SC-289 on other days it does not":                  {[]karpv1.Budget{window("0", "0 9 * * mon,tue", "1h")}, 30, 30},
		"SC-289 a time zone cannot be said":                 {[]karpv1.Budget{window("100%", "TZ=Europe/Berlin 0 9 * * *", "1h")}, 30, 0},
		"SC-289 a day that never comes allows none":         {[]karpv1.Budget{window("100%", "0 0 31 2 *", "1h")}, 30, 0},
		"SC-289 a length that cannot be read allows none":   {[]karpv1.Budget{window("100%", "0 10 * * *", "1 day")}, 30, 0},
		"SC-289 an amount that cannot be read allows none":  {[]karpv1.Budget{window("some", "", "")}, 30, 0},
		"SC-289 the least of those in force for the reason": {[]karpv1.Budget{window("4", "", ""), window("1", "", "", karpv1.ReasonDrifted), window("0", "0 10 * * *", "1h"), window("3", "", "", karpv1.ReasonEmpty)}, 30, 3},
		"SC-289 of no nodes ten per cent are none":          {nil, 0, 0},
		"SC-289 a schedule that cannot be read allows none": {[]karpv1.Budget{window("100%", "61 * * * *", "1h")}, 30, 0},
		"SC-289 a budget for another reason does not count": {[]karpv1.Budget{window("0", "", "", karpv1.ReasonDrifted)}, 30, 30},
		"SC-289 a budget for this reason does":              {[]karpv1.Budget{window("1", "", "", karpv1.ReasonEmpty)}, 30, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Allowed(tt.budgets, karpv1.ReasonEmpty, tt.nodes, at); got.Most != tt.want {
				t.Errorf("Allowed = %+v, want %d", got, tt.want)
			}
		})
	}
}

// SC-289: budgets are by reason, and of each pool's own nodes; local time does
// not matter.
func TestBudgetsOfAPool(t *testing.T) {
	at := time.Date(2026, 3, 4, 9, 30, 0, 0, time.UTC).In(time.FixedZone("there", -10*3600))
	schedule, hour := "0 9 * * *", "1h"
	budgets := []karpv1.Budget{
		{Nodes: "20%"},
		{Nodes: "1", Reasons: []karpv1.DisruptionReason{karpv1.ReasonDrifted}},
		{Nodes: "0", Reasons: []karpv1.DisruptionReason{karpv1.ReasonUnderutilized}, Schedule: &schedule, Duration: &hour},
	}
	for nodes, want := range map[int64][3]int64{4: {1, 1, 0}, 11: {3, 1, 0}} {
		p, err := Pool(PoolObject{Disruption: karpv1.Disruption{Budgets: budgets}}, nodes, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]int64{p.Policy.Empty.Most, p.Policy.Drifted.Most, p.Policy.Underutilized.Most}; got != want {
			t.Errorf("of %d nodes %v may go for being empty, drifted, underutilised, want %v", nodes, got, want)
		}
		if want := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC); p.Policy.BudgetsChange != want {
			t.Errorf("budgets change at %v, want %v", p.Policy.BudgetsChange, want)
		}
	}
}

func TestWhenBudgetsChange(t *testing.T) {
	at := time.Date(2026, 3, 4, 9, 30, 0, 0, time.UTC) // a Wednesday
	type budget [2]string                              // schedule, duration
	tests := map[string]struct {
		budgets []budget
		want    string // zero: never
	}{
		"none has a schedule":                        {[]budget{{}}, ""},
		"one that is not in force opens":             {[]budget{{"0 10 * * *", "1h"}}, "2026-03-04T10:00"},
		"one that is in force closes":                {[]budget{{"0 9 * * *", "2h"}}, "2026-03-04T11:00"},
		"one that begins now closes":                 {[]budget{{"30 9 * * *", "2h"}}, "2026-03-04T11:30"},
		"one that ends now opens again":              {[]budget{{"30 8 * * *", "1h"}}, "2026-03-05T08:30"},
		"the first of several":                       {[]budget{{"0 9 * * *", "2h"}, {"0 10 * * *", "1h"}, {}}, "2026-03-04T10:00"},
		"one that begins anew before it ends":        {[]budget{{"0 9,10 * * *", "90m"}}, "2026-03-04T11:30"},
		"one that begins anew as it ends":            {[]budget{{"0 9,10 * * *", "1h"}}, "2026-03-04T11:00"},
		"every hour of a working day":                {[]budget{{"0 9-17 * * 1-5", "1h"}}, "2026-03-04T18:00"},
		"always, in pieces: looked at now and then":  {[]budget{{"@hourly", "1h"}}, "2026-03-05T10:00"},
		"one that cannot be read does not":           {[]budget{{"61 * * * *", "1h"}}, ""},
		"one whose day never comes does not":         {[]budget{{"0 0 31 2 *", "1h"}}, ""},
		"one that cannot be read beside one that is": {[]budget{{"61 * * * *", "1h"}, {"0 10 * * *", "1h"}}, "2026-03-04T10:00"},
		"the night in which Berlin loses an hour":    {[]budget{{"0 0 29 3 *", "24h"}}, "2026-03-29T00:00"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var list []karpv1.Budget
			for _, b := range tt.budgets {
				one := karpv1.Budget{Nodes: "1"}
				if b[0] != "" {
					one.Schedule, one.Duration = &b[0], &b[1]
				}
				list = append(list, one)
			}
			got := ""
			if change := readBudgets(list, at).change(at); !change.IsZero() {
				got = change.Format("2006-01-02T15:04")
			}
			if got != tt.want {
				t.Errorf("they change at %s, want %s", got, tt.want)
			}
		})
	}
}

// TestBudgetsChangeOnlyThen: between now and the next change no budget comes into
// force or ends, and at the change one does.
func TestBudgetsChangeOnlyThen(t *testing.T) {
	always := map[string]bool{"0 9 * * * for 30h": true, "*/20 8-10 * * * for 30h": true, "7 */5 * * * for 7h": true, "7 */5 * * * for 30h": true}
	for _, schedule := range []string{"0 9 * * *", "*/20 8-10 * * *", "15 3 1 * *", "@weekly", "0 22 * * 5,6", "7 */5 * * *"} {
		for _, length := range []string{"10m", "1h", "7h", "30h"} {
			b := []karpv1.Budget{{Nodes: "0", Schedule: &schedule, Duration: &length}}
			for at := time.Date(2026, 3, 1, 0, 0, 13, 0, time.UTC); at.Day() < 9; at = at.Add(97 * time.Minute) {
				now := readBudgets(b, at)
				change := now.change(at)
				for _, later := range []time.Duration{0, change.Sub(at) / 3, change.Sub(at) / 2, change.Sub(at) - 1} {
					if readBudgets(b, at.Add(later))[0].inForce != now[0].inForce {
						t.Fatalf("%s for %s: at %v a change is told for %v, one comes before %v", schedule, length, at, change, at.Add(later))
					}
				}
				if always[schedule+" for "+length] {
					continue
				}
				if then := readBudgets(b, change); then[0].inForce == now[0].inForce {
					t.Fatalf("%s for %s: at %v a change is told for %v, none comes", schedule, length, at, change)
				}
			}
		}
	}
}

func BenchmarkBudgets(b *testing.B) {
	hourly, hour, nightly, eight := "@hourly", "1h", "0 20 * * mon-fri", "8h"
	pool := PoolObject{Disruption: karpv1.Disruption{Budgets: []karpv1.Budget{{Nodes: "10%"}, {Nodes: "0", Schedule: &hourly, Duration: &hour}, {Nodes: "20%", Schedule: &nightly, Duration: &eight}}}}
	at := time.Date(2026, 3, 4, 9, 30, 0, 0, time.UTC)
	for b.Loop() {
		Policy(pool, 100, at)
	}
}
