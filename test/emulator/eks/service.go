// Package eks emulates EKS with one cluster: its version, access entries, Pod Identity, and node groups on record.
package eks

import (
	"time"

	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/world"
)

// Tables are what an account that was exported keeps of it.
type Tables struct {
	Cluster    eksCluster
	Entries    map[string]*accessEntry   // of the cluster, by ARN
	ShutOut    map[string]bool           // roles whose entry was deleted
	Identities map[string]*podIdentity   // of the cluster, by ID
	Nodegroups map[string]map[string]any // as they were asked for, by name
}

// EKS is the service.
type EKS struct {
	*identity.Identity
	Tables

	network   network
	groups    groups
	updateFor time.Duration // how long updates of the cluster take
}

// New is the service as the getting-started guides leave it.
func New(i *identity.Identity, n network, g groups, timeScale float64) *EKS {
	s := &EKS{Identity: i, network: n, groups: g, updateFor: time.Duration(float64(updateTakes) * timeScale)}
	s.Cluster = newCluster(s.Settings, s.CreatedAt)
	s.Complete()
	return s
}

// Kept is what Export writes.
func (s *EKS) Kept() any { return &s.Tables }

// Complete adds what an account that an earlier version wrote has not.
func (s *EKS) Complete() {
	if s.Nodegroups == nil {
		s.Nodegroups = map[string]map[string]any{}
	}
	if s.Identities == nil {
		s.Identities = map[string]*podIdentity{}
	}
	if s.Entries == nil {
		s.Entries, s.ShutOut = newEntries(s.Settings, s.CreatedAt), map[string]bool{}
	}
}

// call is one request, and the service that answers it.
type call struct {
	*world.Call
	server *EKS
}

// action is one entry of the service's table.
type action = world.Entry[*call]

// Actions are those that the service answers.
func (s *EKS) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *EKS) of(c *world.Call) *call { return &call{c, s} }

// AuthActions are those of EKS Auth.
func (s *EKS) AuthActions() map[string]world.Action { return world.Bind(authActions(), s.of) }

// network is that of the cluster.
type network interface {
	ClusterNetwork() (vpc, group string, subnets []string)
}

// groups are the Auto Scaling groups of the account.
type groups interface {
	AddForNodegroup(group, nodegroup string, least, most, desired int, subnets []string)
	Forget(group string)
}
