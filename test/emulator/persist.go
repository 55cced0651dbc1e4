package emulator

import (
	"encoding/json"
	"fmt"
	"strings"
)

// saved is the account on disk.
type saved struct {
	Account *state
	Market  json.RawMessage
}

// Export writes the whole account as JSON, instances included. Faults, prices
// that were set and watchers are not part of it.
func (s *Server) Export() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	machines, err := s.market.Export()
	if err != nil {
		return nil, fmt.Errorf("export the market: %w", err)
	}
	text, err := json.Marshal(saved{s.st, machines})
	if err != nil {
		return nil, fmt.Errorf("export the account: %w", err)
	}
	return text, nil
}

// complete adds what an account that an earlier version wrote has not.
func (s *state) complete() {
	if s.Quotas == nil {
		s.Quotas = map[string]int{}
	}
	if s.Scaling == nil {
		s.Scaling, s.Nodegroups = map[string]*scalingGroup{}, map[string]map[string]any{}
	}
	if s.Policies == nil {
		s.Policies = map[string]*policy{}
	}
	if s.Rules == nil {
		s.Rules, s.Experiments = newRules(s.Account), newExperiments()
	}
	if s.Identities == nil {
		s.Identities = map[string]*podIdentity{}
	}
	if s.Providers == nil {
		s.Account = s.Account.withDefaults()
		s.Providers, s.Sessions = newProviders(s.Account, s.CreatedAt), map[string]*session{}
		if r := s.Roles[s.Account.controllerRole()]; r != nil && r.Trust == strings.ReplaceAll(ec2Trust, "ec2.amazonaws.com", podsService) {
			r.Trust = controllerTrust(s.Account)
		}
	}
	if s.Entries == nil {
		s.Entries, s.ShutOut, s.TargetGroups = newEntries(s.Account, s.CreatedAt), map[string]bool{}, map[string]*targetGroup{}
	}
}

// Import takes over an account that Export wrote; what the server held before
// is gone. The region must be the server's own.
func (s *Server) Import(text []byte) error {
	var from saved
	if err := json.Unmarshal(text, &from); err != nil {
		return fmt.Errorf("read a saved account: %w", err)
	}
	if from.Account == nil {
		return fmt.Errorf("read a saved account: it holds none")
	}
	if len(from.Account.VPCs) == 0 {
		return fmt.Errorf("read a saved account: it has no VPC, as those of earlier versions: start with an empty directory")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.st.Account.Region; from.Account.Account.Region != have {
		return fmt.Errorf("the saved account is in region %s, not %s: start with its region or an empty directory", from.Account.Account.Region, have)
	}
	if err := s.market.Import(from.Market); err != nil {
		return fmt.Errorf("import the market: %w", err)
	}
	s.st = from.Account
	s.st.complete()
	s.clock.set(s.st.Ahead)
	s.wakePollers()
	return nil
}
