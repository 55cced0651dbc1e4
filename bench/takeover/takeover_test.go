package takeover

import (
	"slices"
	"testing"
)

func TestWhatRoundsComeTo(t *testing.T) {
	r := Result{Rounds: []Round{{15, 17}, {16, 16.5}, {14, 19}, {13, 15.5}}}
	r.summarise()
	if r.LeadsSecondsMedian != 14.5 || r.PlansSecondsMedian != 16.75 || r.PlansSecondsWorst != 19 {
		t.Errorf("of %v come %+v", r.Rounds, r)
	}
}

// A controller that is measured meets neither the user's cluster nor their account.
func TestAControllerIsPointedAtTheLabAlone(t *testing.T) {
	variables := exported("export KUBECONFIG='/lab/admin'\nexport CONTROLLER_KUBECONFIG='/lab/controller'\nexport AWS_ACCESS_KEY_ID='owner'\nexport CONTROLLER_AWS_ACCESS_KEY_ID='role'\n")
	got := environment([]string{"HOME=/root", "AWS_PROFILE=prod", "KUBECONFIG=/prod"}, variables, "one", 8081)
	last := map[string]int{}
	for i, line := range got {
		last[line] = i
	}
	for _, own := range []string{"AWS_PROFILE=prod", "KUBECONFIG=/prod"} {
		if slices.Contains(got, own) {
			t.Errorf("%s passes", own)
		}
	}
	if last["KUBECONFIG=/lab/controller"] < last["KUBECONFIG=/lab/admin"] || last["AWS_ACCESS_KEY_ID=role"] < last["AWS_ACCESS_KEY_ID=owner"] || last["POD_NAME=one"] == 0 {
		t.Errorf("the environment is %v", got)
	}
}
