package ec2data

import (
	"slices"
	"strconv"
	"strings"
)

// Region is one AWS region.
type Region struct {
	Letters []string `json:"azs"` // of its zones, sorted
}

// Zone is one availability zone.
type Zone struct {
	Name string // us-east-1a
	ID   string // use1-az1
}

// zoneNumbers names the zone ids where they do not follow the letters. Which
// letter an id has differs between accounts; this table is one account's.
var zoneNumbers = map[string]string{"ap-northeast-1a": "4", "ap-northeast-1c": "1", "ap-northeast-1d": "2"}

// RegionNames lists the regions in the table, sorted.
func (d *Data) RegionNames() []string {
	names := make([]string, 0, len(d.Regions))
	for name := range d.Regions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Zones returns the zones of a region, sorted by name; none for a region that
// is not in the table.
func (d *Data) Zones(region string) []Zone {
	zones := make([]Zone, 0, 6)
	for _, letter := range d.Regions[region].Letters {
		zones = append(zones, Zone{Name: region + letter, ID: ZoneID(region + letter)})
	}
	return zones
}

// ZoneID returns the account-independent id of a zone by its name: use1-az1
// for us-east-1a. It is empty for what is not a zone's name.
func ZoneID(zone string) string {
	words := strings.Split(zone, "-")
	if len(words) != 3 || len(words[2]) < 2 || words[1] == "" {
		return ""
	}
	number, letter := words[2][:len(words[2])-1], words[2][len(words[2])-1]
	if letter < 'a' || letter > 'z' {
		return ""
	}
	az := zoneNumbers[zone]
	if az == "" {
		az = strconv.Itoa(int(letter-'a') + 1)
	}
	return words[0] + direction(words[1]) + number + "-az" + az
}

// direction shortens northeast to ne, east to e.
func direction(word string) string {
	for _, d := range []string{"north", "south"} {
		if rest, ok := strings.CutPrefix(word, d); ok && rest != "" {
			return d[:1] + rest[:1]
		}
	}
	return word[:1]
}

// OfferedZones returns the names of the zones of a region that offer the type,
// sorted.
func (t *Type) OfferedZones(region string) []string {
	var zones []string
	for _, letter := range t.Zones[region] {
		zones = append(zones, region+string(letter))
	}
	return zones
}
