// Package ec2data is an embedded table of what EC2 offers: some 1,260 instance types with every fact
// that DescribeInstanceTypes, node labels, prices and offerings need, for eight regions. The emulator
// answers from it, the fake cloud builds its instance types from it, and the controller falls back on
// its prices where AWS reports none.
//
// It promises plain values, sorted by name, decoded once and never written afterwards. It is a record
// of one day: it does not know what AWS offers today, and it marks prices that AWS has not published
// as estimates.
package ec2data

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed" // for the table
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

//go:generate go run ./gen -out types.json.gz $EC2_CATALOGUE $EC2_EXTRA_TYPES

//go:embed types.json.gz
var packed []byte

// load decodes the table on first use.
var load = sync.OnceValue(func() *Data { return decode(packed) })

// Load returns the table. All callers share it and must not write it. The
// first call costs some tens of milliseconds.
func Load() *Data { return load() }

// Data is the whole table.
type Data struct {
	Generated string            `json:"generated"` // the day of the record, such as 2026-11-21
	Regions   map[string]Region `json:"regions"`
	Types     []Type            `json:"types"` // sorted by name
}

// Type returns one instance type by name, such as m5.large.
func (d *Data) Type(name string) (*Type, bool) {
	i, found := slices.BinarySearchFunc(d.Types, name, func(t Type, n string) int { return cmp.Compare(t.Name, n) })
	if !found {
		return nil, false
	}
	return &d.Types[i], true
}

// OfferedIn returns the types that a region offers in at least one of its
// zones, sorted by name.
func (d *Data) OfferedIn(region string) []*Type {
	var out []*Type
	for i := range d.Types {
		if d.Types[i].Zones[region] != "" {
			out = append(out, &d.Types[i])
		}
	}
	return out
}

func decode(packed []byte) *Data {
	unzip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(fmt.Sprintf("the embedded EC2 table is not gzip: %v", err))
	}
	var d Data
	if err := json.NewDecoder(unzip).Decode(&d); err != nil {
		panic(fmt.Sprintf("the embedded EC2 table does not decode: %v", err))
	}
	return &d
}
