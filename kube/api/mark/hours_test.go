package mark_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/mark"
)

const lastDay = "2026-12-31T12:00:00Z"

const office = `
timeZone: Europe/Berlin
holidays: [2026-12-25]
changes:
- {at: "0 7 * * Mon-Fri", nodes: 5}
- {at: "0 19 * * Mon-Fri", nodes: 0}
`

// night changes at a time that the clocks skip on the last Sunday of March.
const night = `{timeZone: Europe/Berlin, changes: [{at: "30 2 * * *", nodes: 5}, {at: "0 22 * * *", nodes: 0}]}`

// What the last change says counts until the next, by the clocks of the time zone and without holidays.
func TestHours(t *testing.T) {
	tests := map[string]struct{ text, now, want string }{
		"in the morning":                  {office, "2026-12-01T07:00:00+01:00", "5 nodes until 2026-12-01T18:00:00Z"},
		"a moment before":                 {office, "2026-12-01T06:59:59+01:00", "0 nodes until 2026-12-01T06:00:00Z"},
		"in the evening":                  {office, "2026-12-01T19:00:00+01:00", "0 nodes until 2026-12-02T06:00:00Z"},
		"over the weekend":                {office, "2026-12-05T12:00:00+01:00", "0 nodes until 2026-12-07T06:00:00Z"},
		"on a holiday nothing changes":    {office, "2026-12-25T12:00:00+01:00", "0 nodes until 2026-12-28T06:00:00Z"},
		"in summer the clocks are ahead":  {office, "2026-07-01T07:00:00+02:00", "5 nodes until 2026-07-01T17:00:00Z"},
		"in spring a time is skipped":     {night, "2026-03-29T12:00:00+02:00", "0 nodes until 2026-03-29T20:00:00Z"},
		"on the day after it comes":       {night, "2026-03-30T12:00:00+02:00", "5 nodes until 2026-03-30T20:00:00Z"},
		"once a month":                    {`changes: [{at: "0 0 1 * *", nodes: 3}]`, lastDay, "3 nodes until 2027-01-01T00:00:00Z"},
		"once a year":                     {`changes: [{at: "0 0 1 1 *", nodes: 3}]`, lastDay, "3 nodes until 2027-01-01T00:00:00Z"},
		"of two at once the later counts": {`changes: [{at: "0 0 * * *", nodes: 3}, {at: "0 0 * * *", nodes: 4}]`, lastDay, "4 nodes until 2027-01-01T00:00:00Z"},
		"a day that there is not":         {`changes: [{at: "0 0 31 2 *", nodes: 3}]`, lastDay, "nothing"},
		"there are no hours":              {"", lastDay, "nothing"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			annotations := map[string]string{api.AnnotationHours: tt.text}
			if tt.text == "" {
				annotations = nil
			}
			now, err := time.Parse(time.RFC3339, tt.now)
			if err != nil {
				t.Fatal(err)
			}
			got, err := mark.Hours(annotations, now)
			if err != nil {
				t.Fatal(err)
			}
			text := "nothing"
			if got.Nodes != nil {
				text = fmt.Sprintf("%d nodes until %s", *got.Nodes, got.Until.Format(time.RFC3339))
			}
			if text != tt.want {
				t.Errorf("the hours say %s, want %s", text, tt.want)
			}
		})
	}
}

// What cannot be read is an error that says where.
func TestHoursThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		`nodes: 5`:    "it is no YAML such as",
		`changes: []`: "changes: there are none",
		`{timeZone: Berlin, changes: [{at: "@daily", nodes: 1}]}`:      `timeZone: "Berlin" is none`,
		`{holidays: [Christmas], changes: [{at: "@daily", nodes: 1}]}`: `holidays[0]: "Christmas" is no day`,
		`changes: [{at: "7 o'clock", nodes: 1}]`:                       "changes[0].at",
		`changes: [{at: "@daily"}]`:                                    "changes[0].nodes",
		`changes: [{at: "@daily", replicas: 2}]`:                       "changes[0].nodes",
		`changes: [{at: "@daily", nodes: -1}]`:                         "changes[0].nodes",
		`changes: [{at: "TZ=Europe/Berlin", nodes: 1}]`:                "no cron expression with five fields",
		`changes: [{at: "CRON_TZ=UTC 0 7 * * *", nodes: 1}]`:           "no cron expression with five fields",
		`changes: [{at: "@every 10m", nodes: 1}]`:                      "has no times of the day",
		`changes: [{at: "0,10,12 7 * * Mon", nodes: 1}]`:               "more often than every 5m",
		`changes: [{at: "2,58 * * * *", nodes: 1}]`:                    "more often than every 5m",
		`changes: [{at: "* * * * *", nodes: 1}]`:                       "more often than every 5m",
	} {
		_, err := mark.Hours(map[string]string{api.AnnotationHours: text}, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), api.AnnotationHours) {
			t.Errorf("%s: the error is %v, want one that names the annotation and says %q", text, err, want)
		}
	}
}
