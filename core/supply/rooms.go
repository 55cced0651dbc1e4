package supply

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/parallel"
)

// Rooms is how much a spot instance of an instance type may hold at most, if its launch is to leave enough
// instance types open.
type Rooms struct {
	Whole bool      // all that it has room for
	Parts [][]int64 // else any one of these amounts
}

// roomsTable is what RoomsTable.Of has found for some options, by instance type and what it has for pods.
type roomsTable = parallel.Known[Rooms]

// RoomsTable finds out how much instances may hold so that enough instance types among some options of a pool have
// room for as much. Only resources that some pod asks for count.
type RoomsTable struct {
	of      *obtainable
	options bitset.Set
	asked   []bool
	known   *roomsTable
	key     []byte // kept for its memory
}

// RoomsAmong returns the table for these options and the resources that are asked for. Within one decision most
// is asked again and again, and for pools with the same options.
func (b *obtainable) RoomsAmong(options bitset.Set, asked []bool) *RoomsTable {
	return &RoomsTable{
		of: b, options: options, asked: asked,
		known: b.rooms.Get(roomsKey(options, asked), func() *roomsTable { return &roomsTable{} }),
	}
}

// roomsKey is equal for equal options and resources that are asked for.
func roomsKey(options bitset.Set, asked []bool) []byte {
	var key []byte
	for _, on := range asked {
		key = strconv.AppendBool(key, on)
	}
	return AppendSet(append(key, ':'), options)
}

// Of returns how much an instance of the instance type may hold that has so much for pods.
func (t *RoomsTable) Of(kind int, free []int64) *Rooms {
	t.key = AppendAmounts(binary.LittleEndian.AppendUint64(t.key[:0], uint64(kind)), free)
	return t.known.Get(t.key, func() *Rooms { return t.of.roomsFor(t.options, kind, free, t.asked) })
}

func (b *obtainable) roomsFor(options bitset.Set, kind int, free []int64, asked []bool) *Rooms {
	sum := of(free, asked)
	first := b.firstWith(options, kind, sum)
	if first < 0 || b.LeavesOpen(options, first, sum) {
		return &Rooms{Whole: true}
	}
	out := &Rooms{}
	if !b.same(b.Options[first].Kind, kind) {
		return out // a cheaper option has that much room
	}
	for _, part := range b.cornersOf(options, first, sum) {
		room := b.commonTo(options, first, part)
		if room == nil || slices.ContainsFunc(out.Parts, func(other []int64) bool { return amount.Covers(other, room) }) ||
			b.firstWith(options, kind, of(room, asked)) != first {
			continue
		}
		out.Parts = append(out.Parts, room)
	}
	return out
}

// of is the amounts that any pod asks for.
func of(amounts []int64, asked []bool) []int64 {
	out := make([]int64, len(amounts))
	for i, v := range amounts {
		if asked[i] {
			out[i] = v
		}
	}
	return out
}

// firstWith returns the option launched first that has room for so much and takes no more of what the pool limits
// than an instance of the type does; -1: none.
func (b *obtainable) firstWith(options bitset.Set, kind int, sum []int64) int {
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if amount.Fits(b.Free[b.Options[i].Kind], sum) && b.asModestAs(i, kind) {
			return i
		}
	}
	return -1
}

// LeavesOpen reports whether an instance that is launched first by the option, with so much on it, leaves enough
// instance types open. Only spot instances must.
func (b *obtainable) LeavesOpen(options bitset.Set, first int, sum []int64) bool {
	n := 0
	for k := range b.SpotKinds(options, first, first, sum) {
		if amount.Fits(b.Free[k], sum) {
			n++
		}
		if n == flexible {
			return true
		}
	}
	return !b.IsSpot(first)
}

// cornersOf lists amounts that enough instance types have, for an instance that is launched first by the option:
// each time with less memory and more cpu. Everything else is that of sum; where sum has devices, the amounts
// without devices follow.
func (b *obtainable) cornersOf(options bitset.Set, first int, sum []int64) [][]int64 {
	out := b.corners(options, first, sum)
	if slices.ContainsFunc(sum[amount.Devices:], func(v int64) bool { return v > 0 }) {
		plain := slices.Clone(sum)
		clear(plain[amount.Devices:])
		out = append(out, b.corners(options, first, plain)...)
	}
	return out
}

func (b *obtainable) corners(options bitset.Set, first int, sum []int64) (out [][]int64) {
	kinds := slices.Collect(b.SpotKinds(options, first, first, sum))
	slices.SortStableFunc(kinds, func(x, y int) int { return cmp.Compare(b.Free[y][amount.Memory], b.Free[x][amount.Memory]) })
	var cpu []int64 // of instance types so far, the most first
	for i, k := range kinds {
		has := b.Free[k]
		if !amount.Fits(has[amount.Devices:], sum[amount.Devices:]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(cpu, has[amount.CPU], func(x, v int64) int { return cmp.Compare(v, x) })
		cpu = slices.Insert(cpu, at, has[amount.CPU])
		if len(cpu) < flexible || i+1 < len(kinds) && b.Free[kinds[i+1]][amount.Memory] == has[amount.Memory] {
			continue
		}
		part := slices.Clone(sum)
		part[amount.CPU], part[amount.Memory] = min(sum[amount.CPU], cpu[flexible-1]), min(sum[amount.Memory], has[amount.Memory])
		if n := len(out); n > 0 && amount.Covers(out[n-1], part) {
			continue
		}
		out = append(out, part)
	}
	return out
}

// commonTo returns the room that enough instance types have in common, of those that an instance launched first by
// the option leaves open, if it is to hold as much of sum as possible; nil where they are too few.
func (b *obtainable) commonTo(options bitset.Set, first int, sum []int64) []int64 {
	for range EnoughTries {
		room, enough := b.CommonRoom(slices.Collect(b.SpotKinds(options, first, first, sum)), sum, nil)
		if !enough {
			return nil
		}
		if amount.Fits(room, sum) {
			return room
		}
		sum = slices.Clone(sum)
		for i, v := range sum {
			sum[i] = min(v, room[i])
		}
	}
	return nil
}
