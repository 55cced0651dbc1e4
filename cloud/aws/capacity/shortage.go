// Package capacity remembers which offerings were unavailable lately, so that the next plan does not
// request them again at once.
//
// It promises to forget an unavailable offering after Keep, by the clock that it was given; to doubt
// an offering that is unavailable repeatedly for longer, and the less the longer ago that was; and to
// change its sequence number whenever the answer to any question changes. It does not decide which
// errors mean insufficient capacity.
package capacity

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
)

// Keep is how long an offering counts as short.
const Keep = 3 * time.Minute

// halfLife is after how long a shortage of an offering counts half. An offering is doubtful while
// its shortages count for more than one does at once: one that was short twice in three
// minutes for nine minutes, one that is short whenever it is asked for, every three
// minutes, for 24.
const halfLife = 10 * time.Minute

// forgotten is how little shortages count when they are not remembered.
const forgotten = 1.0 / 16

// backOffAt is how many sizes of a family must be short for the others to be doubtful. One
// may be out where smaller ones are left; two that are out rarely are the only ones.
const backOffAt = 2

// Memory is what is short at the moment. It is safe for concurrent use.
type Memory struct {
	now func() time.Time

	mu      sync.Mutex
	until   map[key]time.Time
	past    map[key]past         // of offerings
	swept   time.Time            // when past ones that count too little were dropped
	backOff map[key]time.Time    // offerings that were short several times, until when that makes them doubtful
	least   map[key]int64        // of limits: with how many vCPUs an instance is too much
	away    map[string]time.Time // zones, by ID, that work is shifted away from, until when; zero: until AWS ends it. Never written
	seq     uint64
}

// past is how often an offering was short up to a moment, each time counting the less the
// longer ago it was.
type past struct {
	count float64
	at    time.Time
}

// countAt is what that counts at a later moment.
func (p past) countAt(now time.Time) float64 {
	return p.count * math.Exp2(-now.Sub(p.at).Hours()/halfLife.Hours())
}

// backOffUntil is until when that counts for more than one; its own moment where it does not.
func (p past) backOffUntil() time.Time {
	return p.at.Add(time.Duration(max(0, math.Log2(p.count)) * float64(halfLife)))
}

// key names an offering (kind:zone:option, in a placement group or not, or of a capacity
// reservation), a whole option, a subnet, or the account's limit of vCPUs for a group of
// instance types under an option.
type key struct {
	kind, zone       string
	place            string // hardware, or hardware/part of it, such as a placement group; empty: anywhere
	option           cluster.Option
	reservedCapacity string // the capacity reservation
	subnet           string
	quota            string
}

// New returns an empty memory that lives by the given clock.
func New(now func() time.Time) *Memory {
	return &Memory{now: now, until: map[key]time.Time{}, past: map[key]past{}, backOff: map[key]time.Time{}, least: map[key]int64{}}
}

// AddOffering remembers that one instance type is short in one zone under one option; with
// a place, in that placement group or partition of one alone.
func (m *Memory) AddOffering(kind, zone string, option cluster.Option, place string) {
	m.add(key{kind: kind, zone: zone, option: option, place: place})
}

// Had says that an instance of the offering could be had: that it was short before counts
// no more.
func (m *Memory) Had(kind, zone string, option cluster.Option, place string) {
	k := key{kind: kind, zone: zone, option: option, place: place}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.past, k)
	if _, doubted := m.backOff[k]; doubted {
		delete(m.backOff, k)
		m.seq++
	}
}

// AddReservation remembers that nothing can be had from a capacity reservation, though it
// may have room.
func (m *Memory) AddReservation(id string) { m.add(key{reservedCapacity: id}) }

// AddOption remembers that nothing can be launched under an option.
func (m *Memory) AddOption(option cluster.Option) { m.add(key{option: option}) }

// AddSubnet remembers that a subnet has no free addresses.
func (m *Memory) AddSubnet(id string) { m.add(key{subnet: id}) }

// AddQuota remembers that the account's limit for a group of instance types leaves no room
// for an instance of so many vCPUs under an option. Smaller ones may still be had.
func (m *Memory) AddQuota(group string, cpus int64, option cluster.Option) {
	k := key{quota: group, option: option}
	m.add(k)
	m.mu.Lock()
	defer m.mu.Unlock()
	if least, known := m.least[k]; !known || cpus < least {
		m.least[k] = cpus
		m.seq++
	}
}

// SetShifted takes over the zones, by ID, that work is shifted away from now, and until
// when; zero is until AWS ends it.
func (m *Memory) SetShifted(zones map[string]time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !maps.EqualFunc(m.away, zones, time.Time.Equal) {
		m.away = maps.Clone(zones)
		m.seq++
	}
}

// endShifts forgets shifts that are over by what was said of them, whether or not AWS can
// be asked.
func (m *Memory) endShifts(now time.Time) {
	over := func(_ string, until time.Time) bool { return !until.IsZero() && !now.Before(until) }
	left := maps.Clone(m.away)
	if maps.DeleteFunc(left, over); len(left) < len(m.away) {
		m.away = left
		m.seq++
	}
}

// Shifted reports whether work is shifted away from the zone of that ID.
func (m *Memory) Shifted(zoneID string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.endShifts(m.now())
	_, away := m.away[zoneID]
	return away
}

// Shifted reports whether work is shifted away from the zone of that ID, and until when;
// zero is until AWS ends it.
func (v View) Shifted(zoneID string) (until time.Time, away bool) {
	until, away = v.away[zoneID]
	return until, away
}

// Seq is a number that changes with every change of the memory, forgetting
// included.
func (m *Memory) Seq() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
	return m.seq
}

// View is the memory at one moment, for many questions at once.
type View struct {
	Seq     uint64
	short   map[key]bool
	backOff map[key]time.Time
	sizes   map[key]int // by family in place of the instance type: how many are short
	least   map[key]int64
	away    map[string]time.Time
}

// View copies what is short now.
func (m *Memory) View() View {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
	v := View{Seq: m.seq, short: make(map[key]bool, len(m.until)), backOff: maps.Clone(m.backOff), sizes: map[key]int{}, least: maps.Clone(m.least), away: m.away}
	for k := range m.until {
		v.short[k] = true
		if family, size, named := strings.Cut(k.kind, "."); named && k.place == "" && !strings.HasPrefix(size, "metal") { // that is as large as another
			k.kind = family
			v.sizes[k]++
		}
	}
	return v
}

// Doubtful reports whether the offering is likely to be short too: it was so several times
// lately, or several sizes of its family are short in the zone under the option.
func (v View) Doubtful(kind, zone string, option cluster.Option, place string) bool {
	if _, often := v.backOff[key{kind: kind, zone: zone, option: option, place: place}]; often {
		return true
	}
	if len(v.sizes) == 0 {
		return false
	}
	family, _, _ := strings.Cut(kind, ".")
	return v.sizes[key{kind: family, zone: zone, option: option}] >= backOffAt
}

// Offering reports whether the offering, or its whole option, is short; with a place, also
// whether it is short in that partition or its whole placement group.
func (v View) Offering(kind, zone string, option cluster.Option, place string) bool {
	if len(v.short) == 0 {
		return false
	}
	group, _, _ := strings.Cut(place, "/")
	for _, where := range []string{"", group, place} {
		if v.short[key{kind: kind, zone: zone, option: option, place: where}] {
			return true
		}
	}
	return v.short[key{option: option}]
}

// Reservation reports whether nothing can be had from the capacity reservation.
func (v View) Reservation(id string) bool { return v.short[key{reservedCapacity: id}] }

// Subnet reports whether the subnet is out of addresses.
func (v View) Subnet(id string) bool { return v.short[key{subnet: id}] }

// Quota reports whether an instance of so many vCPUs is beyond the account's limit for its
// group.
func (v View) Quota(group string, cpus int64, option cluster.Option) bool {
	least, known := v.least[key{quota: group, option: option}]
	return known && cpus >= least
}

// Seen is what is short now, in a fixed order. What was short before and makes offerings
// doubtful is not among it.
func (m *Memory) Seen() []cloud.Unavailable {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
	var out []cloud.Unavailable
	for k, until := range m.until {
		out = append(out, cloud.Unavailable{Kind: k.kind, Zone: k.zone, Place: k.place, Option: k.option, Reservation: k.reservedCapacity, Subnet: k.subnet,
			Quota: k.quota, VCPUsLeast: m.least[k], Until: until.UTC()})
	}
	slices.SortFunc(out, func(a, b cloud.Unavailable) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Option, b.Option),
			cmp.Compare(a.Reservation, b.Reservation), cmp.Compare(a.Subnet, b.Subnet), cmp.Compare(a.Quota, b.Quota))
	})
	return out
}

// Recall takes in what another process has seen, as long as that holds, and Keep at the
// most, whatever its clock said.
func (m *Memory) Recall(seen []cloud.Unavailable) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
	now := m.now()
	for _, u := range seen {
		k := key{kind: u.Kind, zone: u.Zone, place: u.Place, option: u.Option, reservedCapacity: u.Reservation, subnet: u.Subnet, quota: u.Quota}
		until := u.Until
		if last := now.Add(Keep); until.After(last) {
			until = last
		}
		if !until.After(now) || !until.After(m.until[k]) {
			continue
		}
		m.until[k] = until
		if least, known := m.least[k]; u.Quota != "" && (!known || u.VCPUsLeast < least) {
			m.least[k] = u.VCPUsLeast
		}
		m.seq++
	}
}

func (m *Memory) add(k key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
	if _, known := m.until[k]; !known {
		m.seq++
		m.count(k)
	}
	m.until[k] = m.now().Add(Keep)
}

// count notes that an offering is short once more; while it is, it is no news. The caller
// holds mu.
func (m *Memory) count(k key) {
	if k.kind == "" {
		return
	}
	now := m.now()
	p := past{m.past[k].countAt(now) + 1, now}
	m.past[k] = p
	if until := p.backOffUntil(); until.After(now.Add(Keep)) {
		m.backOff[k] = until
	}
}

// forget drops what is over. The caller holds mu.
func (m *Memory) forget() {
	now := m.now()
	m.endShifts(now)
	for k, until := range m.until {
		if !now.Before(until) {
			delete(m.until, k)
			delete(m.least, k)
			m.seq++
		}
	}
	for k, until := range m.backOff {
		if !now.Before(until) {
			delete(m.backOff, k)
			m.seq++
		}
	}
	if now.Sub(m.swept) >= Keep { // they change no answer, and may be thousands
		m.swept = now
		maps.DeleteFunc(m.past, func(_ key, p past) bool { return p.countAt(now) < forgotten })
	}
}
