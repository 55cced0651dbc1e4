package ec2data

import (
	"encoding/json"
	"fmt"
)

// NetworkCard is one card of an instance. It is stored as a row, not an object, because
// there are thousands.
type NetworkCard struct {
	Index    int
	ENIsMax  int
	BaseGbps float64
	PeakGbps float64
}

// MarshalJSON writes [index, ENIs, base, peak].
func (c NetworkCard) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{c.Index, c.ENIsMax, c.BaseGbps, c.PeakGbps})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *NetworkCard) UnmarshalJSON(text []byte) error {
	var row [4]float64
	if err := json.Unmarshal(text, &row); err != nil {
		return fmt.Errorf("read network card %s: %w", text, err)
	}
	*c = NetworkCard{int(row[0]), int(row[1]), row[2], row[3]}
	return nil
}

// Disk is a number of equal local disks.
type Disk struct {
	Count  int
	SizeGB int64
	Kind   string // ssd, hdd
}

// MarshalJSON writes [count, GB, kind].
func (d Disk) MarshalJSON() ([]byte, error) { return json.Marshal([]any{d.Count, d.SizeGB, d.Kind}) }

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Disk) UnmarshalJSON(text []byte) error {
	row := []any{&d.Count, &d.SizeGB, &d.Kind}
	if err := json.Unmarshal(text, &row); err != nil {
		return fmt.Errorf("read disk %s: %w", text, err)
	}
	return nil
}
