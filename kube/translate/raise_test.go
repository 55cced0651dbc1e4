package translate

import "testing"

// The help is one that helps: no higher limit makes a quota readable, or a price known.
func TestWhatHelpsWhereALimitForbidsALaunch(t *testing.T) {
	const (
		overlay   = "set its price with a NodeOverlay"
		unpriced  = "the cost is limited, and the price of m5.large is not known"
		stranger  = "the cost is limited, and the price of node or NodeClaim n is not known"
		noDollars = `metadata.annotations[daemok.sh/cost-limit]: "ten" is no cost: want US dollars an hour`
		leaveOut  = "have the selector of that CapacityQuota leave it out, or " + overlay
	)
	for _, tt := range []struct{ why, want string }{
		{"cpu limit reached: 4 of 4 used, m5.large needs 2 more", "raise spec.limits"},
		{"nodes limit reached: 2 of 2 used (daemok.sh/hours)",
			"wait for its hours, or change the annotation daemok.sh/hours"},
		{"cost limit reached: $1.000000/h of $1.000000/h used", "raise the annotation daemok.sh/cost-limit"},
		{"on-demand minimum of 2 limits spot instances: 0 of 0 nodes are on demand; allow on-demand in the requirements of " +
			"NodePool/a", "lower daemok.sh/on-demand-minimum"},
		{"on-demand minimum of 2 limits spot instances: 0 of 0 nodes are on demand; lower daemok.sh/on-demand-minimum, " +
			"let the pods use on-demand, or use another NodePool", ""},
		{"nodes limit reached: 2 of 2 used; on-demand minimum of 1 of NodePool/a: without it 0 of 1 nodes are on demand",
			"raise spec.limits"},
		{unpriced, overlay + ", or remove the annotation daemok.sh/cost-limit"},
		{stranger, overlay + ", or remove the annotation daemok.sh/cost-limit"},
		{"CapacityQuota/a: cpu limit reached: 4 of 4 used", "raise the limits of that CapacityQuota"},
		{"CapacityQuota/a: cost limit reached: $1.000000/h used", "raise the limits of that CapacityQuota"},
		{"CapacityQuota/a: " + unpriced, leaveOut},
		{"CapacityQuota/a: " + stranger, leaveOut},
		{"CapacityQuota/a: " + noDollars, "correct that CapacityQuota"},
	} {
		if got := RaiseLimit(tt.why); got != tt.want {
			t.Errorf("after %q it says %q, want %q", tt.why, got, tt.want)
		}
	}
}
