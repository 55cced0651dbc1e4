package emulator

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/market"
)

// Quota is a limit of an account on the vCPUs of its running instances.
type Quota struct {
	Code, Name string
	Spot       bool
	classes    []string // what the names of its types begin with, up to the generation
}

// Quotas are those of EC2 that limit vCPUs, under the codes of Service Quotas.
func Quotas() []Quota {
	standard := []string{"a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"}
	return []Quota{
		{"L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", false, standard},
		{"L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", true, standard},
		{"L-DB2E81BA", "Running On-Demand G and VT instances", false, []string{"g", "gr", "vt"}},
		{"L-3819A6DF", "All G and VT Spot Instance Requests", true, []string{"g", "gr", "vt"}},
		{"L-417A185B", "Running On-Demand P instances", false, []string{"p"}},
		{"L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests", true, []string{"p2", "p3", "p4"}},
		{"L-C4BD4855", "All P5 Spot Instance Requests", true, []string{"p5"}},
		{"L-7295265B", "Running On-Demand X instances", false, []string{"x"}},
		{"L-E3A00192", "All X Spot Instance Requests", true, []string{"x"}},
		{"L-74FC7D96", "Running On-Demand F instances", false, []string{"f"}},
		{"L-88CF9481", "All F Spot Instance Requests", true, []string{"f"}},
		{"L-1945791B", "Running On-Demand Inf instances", false, []string{"inf"}},
		{"L-B5D1601B", "All Inf Spot Instance Requests", true, []string{"inf"}},
		{"L-2C3B7624", "Running On-Demand Trn instances", false, []string{"trn"}},
		{"L-6B0D517C", "All Trn Spot Instance Requests", true, []string{"trn"}},
		{"L-6E869C2A", "Running On-Demand DL instances", false, []string{"dl"}},
		{"L-85EED4F7", "All DL Spot Instance Requests", true, []string{"dl"}},
		{"L-43DA4232", "Running On-Demand High Memory instances", false, []string{"u"}},
		{"L-F7808C92", "Running On-Demand HPC instances", false, []string{"hpc"}},
	}
}

// quotaUnset is what the account may have until SetQuota says less: the lab is not about
// asking AWS for more.
const quotaUnset = 1_000_000

// holds reports whether the quota counts a type. Classes are told by the letters before
// the generation, so that "i" does not count inf2.
func (q Quota) holds(kind string) bool {
	family, _, _ := strings.Cut(kind, ".")
	letters := strings.TrimRightFunc(family[:strings.IndexAny(family+"0", "0123456789")], func(r rune) bool { return r == '-' })
	generation := family[:min(len(letters)+1, len(family))]
	return slices.Contains(q.classes, letters) || slices.Contains(q.classes, generation)
}

// quotaFor is the quota that counts a type under a capacity type; ok is false where none does.
func quotaFor(kind string, spot bool) (q Quota, ok bool) {
	i := slices.IndexFunc(Quotas(), func(q Quota) bool { return q.Spot == spot && q.holds(kind) })
	if i < 0 {
		return Quota{}, false
	}
	return Quotas()[i], true
}

// SetQuota limits the vCPUs of a quota by its code. Launches beyond it fail as EC2's do; less
// than what runs ends nothing.
func (s *Server) SetQuota(code string, vCPUs int) error {
	if !slices.ContainsFunc(Quotas(), func(q Quota) bool { return q.Code == code }) {
		return fmt.Errorf("Service Quotas has no %q for EC2 that limits vCPUs: want one such as L-1216C47A", code) //nolint:staticcheck // the name of a service
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.st.Quotas[code] = vCPUs
	return nil
}

// withinQuota is how many instances of the launch the account's quota still allows, and
// what EC2 says when that is too few. The lock is held.
func (s *Server) withinQuota(l launch) (int, *wire.Error) {
	q, counted := quotaFor(l.kind.Name, l.spot)
	most, limited := s.st.Quotas[q.Code]
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
func (s *Server) used(q Quota) int {
	used, now := 0, s.now()
	for _, i := range s.instances(now) {
		if (i.state == market.Pending || i.state == market.Running) && i.Spot == q.Spot && q.holds(i.Type) && s.st.reservationOf(i.instance, now) == "" {
			kind, _ := s.data.Type(i.Type)
			used += vCPUsOf(kind)
		}
	}
	for _, r := range s.st.Reservations {
		if r.state(now) == "active" && r.Owner == s.st.Account.ID && r.Source == "" && r.Kind != reservationBlock && !q.Spot && q.holds(r.Type) {
			kind, _ := s.data.Type(r.Type)
			used += r.Total * vCPUsOf(kind)
		}
	}
	return used
}

// mayReserve refuses a reservation that is more than the account's quota has left.
func (s *Server) mayReserve(kind *ec2data.Type, count int) error {
	q, counted := quotaFor(kind.Name, false)
	if most, limited := s.st.Quotas[q.Code]; counted && limited && s.used(q)+count*vCPUsOf(kind) > most {
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

const quotasPerPage = 100

// listServiceQuotas answers for EC2, applied values and AWS's own defaults alike.
func listServiceQuotas(c *call) (any, error) {
	var in struct {
		ServiceCode string
		MaxResults  int
		NextToken   string
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if err := quotaService(in.ServiceCode); err != nil {
		return nil, err
	}
	size := cmp.Or(in.MaxResults, quotasPerPage)
	if size < 1 || size > quotasPerPage {
		return nil, wire.Errorf("IllegalArgumentException", "MaxResults must be between 1 and %d", quotasPerPage)
	}
	after := ""
	if in.NextToken != "" {
		var err error
		if after, err = readPageToken(c.action, in.NextToken); err != nil {
			return nil, wire.Errorf("InvalidPaginationTokenException", "The token is invalid")
		}
	}
	answer := map[string]any{}
	list := []any{}
	for _, q := range byKey(Quotas(), func(q Quota) string { return q.Code }) {
		if q.Code <= after {
			continue
		}
		if len(list) == size {
			answer["NextToken"] = pageToken(c.action, after)
			break
		}
		after = q.Code
		list = append(list, c.quotaAnswer(q))
	}
	answer["Quotas"] = list
	return answer, nil
}

// getServiceQuota answers for one, its applied value or AWS's own default.
func getServiceQuota(c *call) (any, error) {
	var in struct{ ServiceCode, QuotaCode string }
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if err := quotaService(in.ServiceCode); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(Quotas(), func(q Quota) bool { return q.Code == in.QuotaCode })
	if i < 0 {
		return nil, wire.Errorf("NoSuchResourceException", "The quota %s of service ec2 does not exist, or limits no vCPUs, which are all that the emulator has", in.QuotaCode)
	}
	return map[string]any{"Quota": c.quotaAnswer(Quotas()[i])}, nil
}

func quotaService(code string) error {
	if code != "ec2" {
		return wire.Errorf("NoSuchResourceException", "The service %s does not exist, or has no quotas in the emulator: it has those of ec2", code)
	}
	return nil
}

func (c *call) quotaAnswer(q Quota) map[string]any {
	a := c.state().Account
	value, set := c.state().Quotas[q.Code]
	if !set || c.action == "ListAWSDefaultServiceQuotas" || c.action == "GetAWSDefaultServiceQuota" {
		value = quotaUnset
	}
	return map[string]any{
		"ServiceCode": "ec2", "ServiceName": "Amazon Elastic Compute Cloud (Amazon EC2)", "QuotaCode": q.Code, "QuotaName": q.Name,
		"QuotaArn": a.arn("servicequotas", a.Region, "ec2/"+q.Code), "Value": float64(value), "Unit": "None", "Adjustable": true, "GlobalQuota": false,
		"QuotaAppliedAtLevel": "ACCOUNT",
	}
}
