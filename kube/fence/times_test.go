package fence

import (
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection"
)

// The other controller plans within 20 s of the death of the leader: it has to see the last renewal, wait for the
// lease to end, see that, and wait a second for further pods.
func TestTheLeaseOfADeadLeaderEndsInTime(t *testing.T) {
	look := RenewEvery + time.Duration(leaderelection.JitterFactor*float64(RenewEvery))
	const within, batch = 20 * time.Second, time.Second
	if most := look + LeaseFor + look + batch; most > within {
		t.Errorf("a plan comes %v after the last renewal of a dead leader, want %v at most", most, within)
	}
}

// One renewal that hangs until its timeout, and is repeated, stops nothing; and a leader that gives up does so
// before another may lead.
func TestALateRenewalDoesNotCloseTheFence(t *testing.T) {
	if open, late := LeaseFor-CallFor, RenewEvery+RenewalTimeout; late+RenewEvery > open {
		t.Errorf("the fence is open for %v after a renewal, and the next one may come after %v", open, late+RenewEvery)
	}
	if RenewFor >= LeaseFor {
		t.Errorf("a leader tries for %v to renew a lease of %v", RenewFor, LeaseFor)
	}
}
