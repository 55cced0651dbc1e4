package translate

import (
	"testing"
	"time"

	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
)

func TestOpenAt(t *testing.T) {
	const berlin = "Europe/Berlin"
	weekdays := []v1alpha1.Day{"Mon", "Tue", "Wed", "Thu", "Fri"}
	night := v1alpha1.Window{TimeZone: berlin, Days: weekdays, Start: "22:00", Duration: "6h"}
	tests := map[string]struct {
		windows []v1alpha1.Window
		now     string
		open    bool
		changes string // empty: never
	}{
		"without windows always":                    {nil, "2026-01-07T12:00:00Z", true, ""},
		"before the start, by the clocks there":     {[]v1alpha1.Window{night}, "2026-01-07T20:59:59Z", false, "2026-01-07T21:00:00Z"},
		"at the start":                              {[]v1alpha1.Window{night}, "2026-01-07T21:00:00Z", true, "2026-01-08T03:00:00Z"},
		"past midnight":                             {[]v1alpha1.Window{night}, "2026-01-08T02:59:59Z", true, "2026-01-08T03:00:00Z"},
		"at the end":                                {[]v1alpha1.Window{night}, "2026-01-08T03:00:00Z", false, "2026-01-08T21:00:00Z"},
		"an hour earlier in summer":                 {[]v1alpha1.Window{night}, "2026-07-07T20:00:00Z", true, "2026-07-08T02:00:00Z"},
		"on Friday until Saturday":                  {[]v1alpha1.Window{night}, "2026-01-10T02:00:00Z", true, "2026-01-10T03:00:00Z"},
		"not at the weekend":                        {[]v1alpha1.Window{night}, "2026-01-10T22:00:00Z", false, "2026-01-12T21:00:00Z"},
		"of two that overlap until the later":       {[]v1alpha1.Window{night, {Start: "02:00", Duration: "2h"}}, "2026-01-08T02:30:00Z", true, "2026-01-08T04:00:00Z"},
		"of two that meet until the later":          {[]v1alpha1.Window{night, {Start: "03:00", Duration: "1h"}}, "2026-01-08T02:30:00Z", true, "2026-01-08T04:00:00Z"},
		"of two that do not meet until the earlier": {[]v1alpha1.Window{night, {Start: "05:00", Duration: "1h"}}, "2026-01-08T02:30:00Z", true, "2026-01-08T03:00:00Z"},
		"the next that opens":                       {[]v1alpha1.Window{night, {Start: "05:00", Duration: "1h"}}, "2026-01-08T03:30:00Z", false, "2026-01-08T05:00:00Z"},
		"a week long":                               {[]v1alpha1.Window{{Days: []v1alpha1.Day{"Wed"}, Start: "12:00", Duration: "167h"}}, "2026-01-14T10:59:00Z", true, "2026-01-14T11:00:00Z"},
		"from where clocks go forward over it":      {[]v1alpha1.Window{{TimeZone: berlin, Start: "02:30", Duration: "1h"}}, "2026-03-29T01:00:00Z", true, "2026-03-29T02:00:00Z"},
		"not before they do":                        {[]v1alpha1.Window{{TimeZone: berlin, Start: "02:30", Duration: "1h"}}, "2026-03-29T00:59:00Z", false, "2026-03-29T01:00:00Z"},
		"from the first of two where they go back":  {[]v1alpha1.Window{{TimeZone: berlin, Start: "02:30", Duration: "30m"}}, "2026-10-25T00:30:00Z", true, "2026-10-25T01:00:00Z"},
		"once, where they go back":                  {[]v1alpha1.Window{{TimeZone: berlin, Start: "02:30", Duration: "30m"}}, "2026-10-25T01:30:00Z", false, "2026-10-26T01:30:00Z"},
		"as long as it says, where they go back":    {[]v1alpha1.Window{{TimeZone: berlin, Start: "22:00", Duration: "6h"}}, "2026-10-25T01:59:00Z", true, "2026-10-25T02:00:00Z"},
		"by days there, which are others than in UTC": {[]v1alpha1.Window{{TimeZone: "Pacific/Auckland", Days: []v1alpha1.Day{"Mon"}, Start: "01:00", Duration: "1h"}},
			"2026-01-11T12:30:00Z", true, "2026-01-11T13:00:00Z"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var windows []dayWindow
			for _, w := range tt.windows {
				windows = append(windows, readDayWindow(w))
			}
			now, err := time.Parse(time.RFC3339, tt.now)
			if err != nil {
				t.Fatal(err)
			}
			open, at := openAt(windows, now)
			changes := ""
			if !at.IsZero() {
				changes = at.Format(time.RFC3339)
			}
			if open != tt.open || changes != tt.changes {
				t.Errorf("openAt(%s) = %v until %s; want %v until %s", tt.now, open, changes, tt.open, tt.changes)
			}
		})
	}
}
