// Package measure remembers how much memory instances really have, which EC2 does not report: the
// hypervisor and the kernel keep between 1 % and 8 %, depending on type and image.
//
// It promises that of several instances of one type and image the smallest counts, so that what was
// planned fits all of them; that it forgets what was not seen for Keep; and that its sequence number
// changes whenever the answer to any question does. It estimates nothing, and it has no answer for an
// image that no instance of the type has booted yet, because another kernel keeps another share.
package measure

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/quantity"
)

const (
	// Keep is how long a size counts after an instance showed it last.
	Keep = 60 * 24 * time.Hour
	// seenMost is how many sizes are handed on, those seen last before others: more
	// than any cluster runs types and images of.
	seenMost = 4000
	day      = 24 * time.Hour
)

// Book is what was seen. It is safe for concurrent use. New makes one.
type Book struct {
	now func() time.Time

	mu    sync.Mutex
	sizes map[instance]size
	swept time.Time // the day that what is old was forgotten last
	seq   uint64
	view  View // as of its Seq
}

type instance struct{ kind, image string }

type size struct {
	memory quantity.Bytes
	seenOn time.Time
}

// New returns an empty book that lives by the given clock.
func New(now func() time.Time) *Book { return &Book{now: now, sizes: map[instance]size{}} }

// View is the book at one moment. It is not to be written.
type View struct {
	Seq   uint64
	sizes map[instance]quantity.Bytes
}

// Of is the least memory that an instance of the type was seen to have under the image;
// false where none was seen.
func (v View) Of(kind, image string) (quantity.Bytes, bool) {
	memory, seen := v.sizes[instance{kind, image}]
	return memory, seen
}

// View returns what is known now.
func (b *Book) View() View {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget()
	if b.view.Seq != b.seq {
		sizes := make(map[instance]quantity.Bytes, len(b.sizes))
		for m, s := range b.sizes {
			sizes[m] = s.memory
		}
		b.view = View{b.seq, sizes}
	}
	return b.view
}

// Saw records the memory of one instance and reports whether plans may differ for it: it is
// the first of its type and image, or has less than any before.
func (b *Book) Saw(kind, image string, memory quantity.Bytes) (news bool) {
	if kind == "" || image == "" || memory <= 0 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget()
	return b.take(instance{kind, image}, size{memory, b.now().UTC().Truncate(day)})
}

// Seen is what was seen, for another process to go on from: sorted by type and image.
func (b *Book) Seen() cloud.MemorySeen {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget()
	out := make(cloud.MemorySeen, 0, len(b.sizes))
	for m, s := range b.sizes {
		out = append(out, cloud.MemoryOf{Kind: m.kind, Image: m.image, Memory: s.memory, SeenOn: s.seenOn})
	}
	byName := func(a, b cloud.MemoryOf) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Image, b.Image))
	}
	if len(out) > seenMost {
		slices.SortFunc(out, func(a, b cloud.MemoryOf) int { return cmp.Or(b.SeenOn.Compare(a.SeenOn), byName(a, b)) })
		out = out[:seenMost]
	}
	slices.SortFunc(out, byName)
	return out
}

// Recall takes in what another process has seen. To recall the same again
// changes nothing.
func (b *Book) Recall(seen cloud.MemorySeen) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range seen {
		if s.Kind != "" && s.Image != "" && s.Memory > 0 && b.now().Sub(s.SeenOn) < Keep {
			b.take(instance{s.Kind, s.Image}, size{s.Memory, s.SeenOn.UTC().Truncate(day)})
		}
	}
}

// take notes one size. The caller holds mu.
func (b *Book) take(m instance, s size) (news bool) {
	old, known := b.sizes[m]
	if known {
		s.memory = min(s.memory, old.memory)
		if s.seenOn.Before(old.seenOn) {
			s.seenOn = old.seenOn
		}
	}
	b.sizes[m] = s
	if known && s.memory == old.memory {
		return false
	}
	b.seq++
	return true
}

// forget drops what was not seen for long, once a day. The caller holds mu.
func (b *Book) forget() {
	today := b.now().UTC().Truncate(day)
	if today.Equal(b.swept) {
		return
	}
	b.swept = today
	before := len(b.sizes)
	maps.DeleteFunc(b.sizes, func(_ instance, s size) bool { return today.Sub(s.seenOn) >= Keep })
	if len(b.sizes) < before {
		b.seq++
	}
}
