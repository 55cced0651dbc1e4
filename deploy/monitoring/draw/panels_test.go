package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/deploy/monitoring/evaluate"
)

// minutes is a series of values from one minute to the next; "_" is a minute without one.
func minutes(t *testing.T, values string) evaluate.Series {
	t.Helper()
	var out evaluate.Series
	for i, word := range strings.Fields(values) {
		var v float64
		if word == "_" {
			continue
		}
		if _, err := fmt.Sscan(word, &v); err != nil {
			t.Fatal(err)
		}
		out.Points = append(out.Points, evaluate.Point{At: time.Unix(int64(60*i), 0).UTC(), Value: v})
	}
	return out
}

// Lines are cut where a point is missing, and stand on those of the same minute before them.
func TestCurves(t *testing.T) {
	tests := map[string]struct {
		series  []string
		stacked bool
		want    string
	}{
		"one line":              {[]string{"1 2"}, false, "1-0 2-0"},
		"a point is missing":    {[]string{"1 _ 3 4"}, false, "1-0 | 3-0 4-0"},
		"two lines":             {[]string{"1 2", "5 5"}, false, "1-0 2-0; 5-0 5-0"},
		"one upon the other":    {[]string{"1 2", "5 5"}, true, "1-0 2-0; 6-1 7-2"},
		"upon what is missing":  {[]string{"1 _ 3", "5 5 5"}, true, "1-0 | 3-0; 6-1 5-0 8-3"},
		"one begins afterwards": {[]string{"1 2", "_ 4"}, true, "1-0 2-0; 6-2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var shown []evaluate.Series
			for _, values := range tt.series {
				shown = append(shown, minutes(t, values))
			}
			var lines []string
			for _, line := range curves(shown, tt.stacked, time.Minute) {
				var parts []string
				for _, part := range line {
					var points []string
					for i := range part.upper {
						points = append(points, fmt.Sprintf("%v-%v", part.upper[i].Y, part.lower[i].Y))
					}
					parts = append(parts, strings.Join(points, " "))
				}
				lines = append(lines, strings.Join(parts, " | "))
			}
			if got := strings.Join(lines, "; "); got != tt.want {
				t.Errorf("curves of %q = %q, want %q", tt.series, got, tt.want)
			}
		})
	}
}
