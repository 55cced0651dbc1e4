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
		"SC-289 a schedule that cannot be read allows none": {[]karpv1.Budget{window("100%", "61 * * * *", "1h")}, 30, 0},
		"SC-289 a budget for another reason does not count": {[]karpv1.Budget{window("0", "", "", karpv1.ReasonDrifted)}, 30, 30},
		"SC-289 a budget for this reason does":              {[]karpv1.Budget{window("1", "", "", karpv1.ReasonEmpty)}, 30, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, note := Allowed(tt.budgets, karpv1.ReasonEmpty, tt.nodes, at); got != tt.want {
				t.Errorf("Allowed = %d (%s), want %d", got, note, tt.want)
			}
		})
	}
}
