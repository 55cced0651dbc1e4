package emulator

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/daemok/daemok/test/emulator/world"
)

// saved is the account on disk. The account is one object, which has the fields of all parts.
type saved struct {
	Account json.RawMessage
	Market  json.RawMessage
}

// part is a part of the account that is written to disk and read from there.
type part interface {
	// Kept points to what is written.
	Kept() any
	// Complete adds what an account that an earlier version wrote has not.
	Complete()
}

// parts are all of the account, the world first.
func (s *Server) parts() []part {
	return []part{s.World, s.Identity, s.SQS, s.Bus, s.EKS, s.ARC, s.scaling, s.fis, s.elb, s.Commitments, s.Network,
		s.Registry, s.Store, s.Inventory, s.Layout, s.Ledger, s.Launcher}
}

// Export writes the whole account as JSON, instances included. Faults, prices
// that were set and watchers are not part of it.
func (s *Server) Export() ([]byte, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	instances, err := s.Market().Export()
	if err != nil {
		return nil, fmt.Errorf("export the market: %w", err)
	}
	account := map[string]json.RawMessage{}
	for _, p := range s.parts() {
		text, err := json.Marshal(p.Kept())
		if err != nil {
			return nil, fmt.Errorf("export the account: %w", err)
		}
		if err := json.Unmarshal(text, &account); err != nil {
			return nil, fmt.Errorf("export the account: %w", err)
		}
	}
	text, err := json.Marshal(account)
	if err != nil {
		return nil, fmt.Errorf("export the account: %w", err)
	}
	if text, err = json.Marshal(saved{text, instances}); err != nil {
		return nil, fmt.Errorf("export the account: %w", err)
	}
	return text, nil
}

// Import takes over an account that Export wrote; what the server held before
// is gone. The region must be the server's own.
func (s *Server) Import(text []byte) error {
	var from saved
	if err := json.Unmarshal(text, &from); err != nil {
		return fmt.Errorf("read a saved account: %w", err)
	}
	if len(from.Account) == 0 || string(from.Account) == "null" {
		return fmt.Errorf("read a saved account: it holds none")
	}
	var of struct {
		Account world.Account
		VPCs    []json.RawMessage
	}
	if err := json.Unmarshal(from.Account, &of); err != nil {
		return fmt.Errorf("read a saved account: %w", err)
	}
	if len(of.VPCs) == 0 {
		return fmt.Errorf("read a saved account: it has no VPC, as those of earlier versions: start with an empty directory")
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if have := s.Settings.Region; of.Account.Region != have {
		return fmt.Errorf("the saved account is in region %s, not %s: start with its region or an empty directory", of.Account.Region, have)
	}
	if err := s.takeOver(from); err != nil {
		return err
	}
	s.Clock.Set(s.PutForward)
	s.WakePollers()
	return nil
}

// takeOver puts what was saved in the place of what there is, all or nothing of it.
func (s *Server) takeOver(from saved) error {
	var read []reflect.Value
	for _, p := range s.parts() {
		tables := reflect.New(reflect.TypeOf(p.Kept()).Elem())
		if err := json.Unmarshal(from.Account, tables.Interface()); err != nil {
			return fmt.Errorf("read a saved account: %w", err)
		}
		read = append(read, tables.Elem())
	}
	if err := s.Market().Import(from.Market); err != nil {
		return fmt.Errorf("import the market: %w", err)
	}
	for i, p := range s.parts() {
		reflect.ValueOf(p.Kept()).Elem().Set(read[i])
	}
	for _, p := range s.parts() {
		p.Complete()
	}
	return nil
}
