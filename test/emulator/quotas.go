package emulator

import (
	"fmt"
	"math"
	"slices"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// SetQuota limits the vCPUs of a quota by its code. Launches beyond it fail as EC2's do; less
// than what runs ends nothing.
func (s *Server) SetQuota(code string, vCPUs int) error {
	if !slices.ContainsFunc(world.Quotas(), func(q world.Quota) bool { return q.Code == code }) {
		return fmt.Errorf("Service Quotas has no %q for EC2 that limits vCPUs: want one such as L-1216C47A", code) //nolint:staticcheck // the name of a service
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Quotas[code] = vCPUs
	return nil
}

// withinQuota is how many instances of the launch the account's quota still allows, and
// what EC2 says when that is too few. The lock is held.
func (s *Server) withinQuota(l launch) (int, *wire.Error) {
	q, counted := world.QuotaFor(l.kind.Name, l.spot)
	most, limited := s.Quotas[q.Code]
	if !counted || !limited || l.reservation != nil {
		return math.MaxInt, nil // its reservation counts already, or has another limit
	}
	left := max(0, most-s.used(q)) / max(1, vCPUsOf(l.kind))
	if l.spot {
		return left, wire.Errorf("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded")
	}
	return left, wire.Errorf("VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of %d allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.", most)
}

// used is how many vCPUs count against a quota. Reservations of the account count, used or
// not, and instances in them do not; those in one that another account shares count there,
// and capacity blocks against a quota of their own. The lock is held.
func (s *Server) used(q world.Quota) int {
	used, now := 0, s.Now()
	for _, i := range s.instances(now) {
		if (i.state == market.Pending || i.state == market.Running) && i.Spot == q.Spot && q.Holds(i.Type) && s.reservationOf(i.instance, now) == "" {
			kind, _ := s.Data.Type(i.Type)
			used += vCPUsOf(kind)
		}
	}
	for _, r := range s.Reservations {
		if r.state(now) == "active" && r.Owner == s.Settings.ID && r.Source == "" && r.Kind != reservationBlock && !q.Spot && q.Holds(r.Type) {
			kind, _ := s.Data.Type(r.Type)
			used += r.Total * vCPUsOf(kind)
		}
	}
	return used
}

// mayReserve refuses a reservation that is more than the account's quota has left.
func (s *Server) mayReserve(kind *ec2data.Type, count int) error {
	q, counted := world.QuotaFor(kind.Name, false)
	if most, limited := s.Quotas[q.Code]; counted && limited && s.used(q)+count*vCPUsOf(kind) > most {
		return wire.Errorf("InstanceLimitExceeded", "You have requested more capacity than your current limit of %d vCPUs for running On-Demand Instances of this family allows.", most)
	}
	return nil
}

func vCPUsOf(t *ec2data.Type) int {
	if t == nil {
		return 0
	}
	return t.VCPUs
}
