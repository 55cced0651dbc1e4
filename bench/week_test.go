package bench

import (
	"testing"
	"time"
)

func TestSpanOfATrace(t *testing.T) {
	const day = int64(24 * 3600)
	all := []stay{{from: 20 * day, to: 30 * day}, {from: 0, to: 22 * day}, {from: 2 * day, to: 3 * day}, {from: 25 * day, to: 26 * day}, {from: 26 * day, to: 26*day + 60}, {from: 27 * day, to: 28 * day}}
	tests := map[string]struct {
		from, to int64
		want     [][2]int64 // in days, from its beginning
		length   int64      // in days
	}{
		"none given is the week in which most pods were created": {0, 0, [][2]int64{{0, 2}, {0, 7}, {5, 6}, {6, 6}}, 7},
		"a beginning alone is a week":                            {1, 0, [][2]int64{{0, 7}, {1, 2}}, 7},
		"an end alone is from 0 on":                              {0, 21, [][2]int64{{0, 21}, {2, 3}, {20, 21}}, 21},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, length, err := span(append([]stay(nil), all...), tt.from*day, tt.to*day)
			if err != nil || length != time.Duration(tt.length)*24*time.Hour || len(got) != len(tt.want) {
				t.Fatalf("span(%d, %d) = %v, %s, %v; want %v", tt.from, tt.to, got, length, err, tt.want)
			}
			for i, w := range tt.want {
				if got[i].from/day != w[0] || got[i].to/day != w[1] {
					t.Errorf("pod %d is there from %d to %d, want days %v", i, got[i].from, got[i].to, w)
				}
			}
		})
	}
}
