package class

import (
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// Capacity that is reserved and stays idle is reported once, after half an hour at which
// each check found room; once it was full it begins again. A block that is about to end is
// not reported.
func TestReservationsThatStayIdleAreReported(t *testing.T) {
	s := begin(t)
	s.r.ReservedCapacity = true
	idle := func(n int64) {
		s.reserved = []nodeclass.Reservation{
			{ID: "cr-1", Kind: "m5.large", Zone: "us-east-1a", Idle: n},
			{ID: "cr-2", Kind: "p5.48xlarge", Zone: "us-east-1b", Block: true, Idle: 4, Expiring: true},
		}
	}
	idle(2)
	s.reports(0)
	s.reports(29 * time.Minute)
	idle(1)
	s.reports(time.Minute, "CapacityReservationIdle")
	if got := s.events[0].Message; !strings.Contains(got, "capacity reservation cr-1 has had room for 30m0s and is paid for: now for 1 of m5.large in us-east-1a") {
		t.Errorf("told %q", got)
	}
	idle(3)
	s.reports(time.Hour)
	idle(0)
	s.reports(time.Minute)
	idle(1)
	s.reports(time.Minute)
	s.reports(30*time.Minute, "CapacityReservationIdle")
	if got := idleText(nodeclass.Reservation{ID: "cr-2", Block: true}); !strings.HasPrefix(got, "capacity block cr-2") {
		t.Errorf("a block is told of as %q", got)
	}
}
