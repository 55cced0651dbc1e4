// Package identity decides who calls the emulated account and what they may do, by roles, policies and temporary credentials.
//
// It promises that keys which nobody handed out and Enforce does not know may do everything. It checks no signatures, but for
// their dates where STS is called. The lock of the account is held by the caller of what does not say otherwise.
package identity

import (
	"strings"

	"github.com/go-jose/go-jose/v4"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/world"
)

// Directory is what an account that was exported keeps of its identities.
type Directory struct {
	Roles     map[string]*Role         // by name
	Profiles  map[string]*Profile      // by name
	Providers map[string]*OIDCProvider // by ARN
	Sessions  map[string]*Session      // by access key
	Policies  map[string]*Policy       // managed ones of the account, by ARN
}

// Identity is who and what may call.
type Identity struct {
	*world.World
	Directory

	IssuerKeys jose.JSONWebKeySet            // public keys of the cluster's OIDC issuer
	enforced   map[string]string             // roles whose policies decide on calls, by the access key that signs them
	documents  map[string]iampolicy.Document // of roles, by their text
}

// New is the roles, the profile and the provider of the getting-started guides.
func New(w *world.World) *Identity {
	s := &Identity{World: w, enforced: map[string]string{}, documents: map[string]iampolicy.Document{}}
	s.Roles, s.Profiles = NewRoles(w.Settings, w.CreatedAt)
	s.Complete()
	return s
}

// Kept is what Export writes.
func (s *Identity) Kept() any { return &s.Directory }

// Complete adds what an account that an earlier version wrote has not.
func (s *Identity) Complete() {
	if s.Policies == nil {
		s.Policies = map[string]*Policy{}
	}
	if s.Providers == nil {
		s.Providers, s.Sessions = newProviders(s.Settings, s.CreatedAt), map[string]*Session{}
		if r := s.Roles[s.Settings.ControllerRole()]; r != nil && r.Trust == strings.ReplaceAll(EC2Trust, "ec2.amazonaws.com", PodsService) {
			r.Trust = controllerTrust(s.Settings)
		}
	}
}
