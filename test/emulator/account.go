package emulator

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Account says what the emulated AWS account holds at the start. Zero fields
// take the defaults written beside them.
type Account struct {
	ID          string            // "123456789012"
	Region      string            // "us-east-1"
	ClusterName string            // "lab"
	EKSVersion  string            // Kubernetes version that EKS answers and images are published for: "1.36"
	Endpoint    string            // API server of the cluster; SetClusterEndpoint changes it later
	CA          string            // certificate authority, PEM
	ServiceCIDR string            // "10.100.0.0/16"
	Issuer      string            // OIDC issuer of the cluster's tokens: "https://oidc.eks.<region>.amazonaws.com/id/<ID of the cluster>"
	Tags        map[string]string // put on subnets and the cluster's group beside the usual ones
}

func (a Account) withDefaults() Account {
	a.ID = cmp.Or(a.ID, "123456789012")
	a.Region = cmp.Or(a.Region, "us-east-1")
	a.ClusterName = cmp.Or(a.ClusterName, "lab")
	a.EKSVersion = cmp.Or(a.EKSVersion, "1.36")
	a.Endpoint = cmp.Or(a.Endpoint, "https://127.0.0.1:6443")
	a.ServiceCIDR = cmp.Or(a.ServiceCIDR, "10.100.0.0/16")
	a.Issuer = cmp.Or(a.Issuer, "https://oidc.eks."+a.Region+".amazonaws.com/id/"+a.uniqueID("", a.ClusterName))
	return a
}

// discoveryTags are what the getting-started guides put on everything that a
// node class selects.
func (a Account) discoveryTags() tags {
	return tagsFrom(a.Tags).with(tag{Key: "karpenter.sh/discovery", Value: a.ClusterName})
}

// arn names a resource of the account.
func (a Account) arn(service, region, resource string) string {
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", service, region, a.ID, resource)
}

// stableID is an AWS-like identifier that depends on its names alone, so that
// two accounts with the same settings are equal.
func (a Account) stableID(prefix string, names ...string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q", append([]string{a.ID, a.Region, a.ClusterName, prefix}, names...))
	return prefix + "-" + hex.EncodeToString(h.Sum(nil))[:17]
}

// state is everything the account holds, instances' lives and prices aside:
// those are the market's. It is written to and read from JSON as it is.
type state struct {
	Account      Account
	CreatedAt    time.Time
	Zones        []zone
	VPCs         []*vpc           // the cluster's first, then by age
	Subnets      []*subnet        // sorted by ID
	Groups       []*securityGroup // sorted by ID
	Images       []*image         // sorted by ID
	Released     int              // how often newer images came out since
	Parameters   map[string]parameter
	Templates    map[string]*template            // by ID
	Instances    map[string]*instance            // by ID
	Fleets       map[string]*fleet               // by ID
	Roles        map[string]*role                // by name
	Profiles     map[string]*profile             // by name
	Providers    map[string]*oidcProvider        // by ARN
	Sessions     map[string]*session             // by access key
	Policies     map[string]*policy              // managed ones of the account, by ARN
	Tokens       map[string]answered             // by action and client token
	TokensAt     time.Time                       // when old ones were forgotten
	Queues       map[string]*queue               // by name
	Reservations map[string]*capacityReservation // by ID
	Placements   map[string]*placementGroup      // by ID
	Interfaces   map[string]*detachedInterface   // that instances do not hold, by ID
	Shifts       []zonalShift
	Cluster      eksCluster
	Rules        map[string]*rule // of EventBridge, by name
	Experiments  experiments
	Entries      map[string]*accessEntry   // of the cluster, by ARN
	ShutOut      map[string]bool           // roles whose entry was deleted
	Identities   map[string]*podIdentity   // of the cluster, by ID
	TargetGroups map[string]*targetGroup   // by ARN
	Scaling      map[string]*scalingGroup  // Auto Scaling groups, by name
	Nodegroups   map[string]map[string]any // of EKS, as they were asked for, by name
	Quotas       map[string]int            // vCPUs by code, where SetQuota said so
	NextID       uint64
	Ahead        time.Duration // how far the clocks were put forward
}

// zone is one availability zone.
type zone struct{ Name, ID string }

// newState builds the account as the getting-started guides leave it.
func newState(a Account, zones []zone, now time.Time) *state {
	s := &state{
		Account:      a,
		CreatedAt:    now,
		Zones:        zones[:min(len(zones), zonesMax)],
		Templates:    map[string]*template{},
		Instances:    map[string]*instance{},
		Fleets:       map[string]*fleet{},
		Tokens:       map[string]answered{},
		Policies:     map[string]*policy{},
		Reservations: map[string]*capacityReservation{},
		Scaling:      map[string]*scalingGroup{},
		Nodegroups:   map[string]map[string]any{},
		Quotas:       map[string]int{},
		NextID:       1,
	}
	own := newVPC(a)
	s.VPCs = []*vpc{own}
	s.Subnets = newSubnets(a, own.ID, s.Zones)
	s.Groups = newGroups(a, own.ID)
	s.Images, s.Parameters = publishImages(a, now)
	s.Roles, s.Profiles = newRoles(a, now)
	s.Providers, s.Sessions = newProviders(a, now), map[string]*session{}
	s.Rules, s.Experiments = newRules(a), newExperiments()
	s.Entries, s.ShutOut, s.TargetGroups = newEntries(a, now), map[string]bool{}, map[string]*targetGroup{}
	s.Identities = map[string]*podIdentity{}
	s.Queues = map[string]*queue{a.ClusterName: guidesQueue(a, now)}
	s.Cluster = newCluster(s)
	return s
}

// newID draws the next identifier of a kind, such as lt-0a1b….
func (s *state) newID(prefix string) string {
	s.NextID++
	return s.Account.stableID(prefix, "drawn", fmt.Sprint(s.NextID))
}
