package wave

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// launching is a plan that launched, as the controller's log has it: in dollars an hour.
type launching struct {
	Launches int     `json:"launches"`
	Cost     float64 `json:"launchCostUSDPerHour"`
	Likely   float64 `json:"likelyCostUSDPerHour"`
	Bound    float64 `json:"boundUSDPerHour"`

	claims map[string]bool // names
}

// plansOf reads the plans that launched, of which there is one at least, in their order.
func plansOf(log []byte) (all []launching, err error) {
	for line := range bytes.Lines(log) {
		var said struct {
			Message string `json:"message"`
			Claim   string `json:"claim"`
			launching
		}
		if json.Unmarshal(line, &said) != nil {
			continue // what libraries write need not be JSON
		}
		switch {
		case said.Message == "made a plan" && said.Launches > 0:
			said.claims = map[string]bool{}
			all = append(all, said.launching)
		case said.Message == "created nodeclaim" && len(all) > 0:
			all[len(all)-1].claims[said.Claim] = true
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the controller's log has no plan that launched")
	}
	if first := all[0]; len(first.claims) != first.Launches {
		return nil, fmt.Errorf("the first plan launches %d instances, and %d NodeClaims were created after it", first.Launches, len(first.claims))
	}
	return all, nil
}
