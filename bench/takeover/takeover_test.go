package takeover

import "testing"

func TestWhatRoundsComeTo(t *testing.T) {
	r := Result{Rounds: []Round{{15, 17}, {16, 16.5}, {14, 19}, {13, 15.5}}}
	r.summarise()
	if r.LeadsSecondsMedian != 14.5 || r.PlansSecondsMedian != 16.75 || r.PlansSecondsWorst != 19 {
		t.Errorf("of %v come %+v", r.Rounds, r)
	}
}
