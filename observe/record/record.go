// Package record stores what was decided and why, in memory and in ConfigMaps; `daemok explain` prints
// it. It can be read when the events are gone, after a restart, and while no controller runs.
//
// It promises to store a repeated decision once, with the time since when it has held; to take no more
// memory than a limit, dropping the oldest first; and that problems with the ConfigMaps affect no
// plan. It decides nothing, and no decision depends on it.
package record

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/daemok/daemok/core/plan"
)

// KeepFor is how long what no longer holds is kept.
const KeepFor = 24 * time.Hour

// bytesMax bounds the record in memory, by what Statement.bytes counts: some
// thirty thousand statements.
const bytesMax = 16 << 20

// Record is what was decided. The zero value is empty. It is safe for
// concurrent use.
type Record struct {
	mu      sync.Mutex
	open    map[key]*held
	over    []Statement // in the order in which they ended, more or less
	bytes   int
	round   uint64
	changes uint64 // grows with every statement that is news
}

type key struct {
	Object
	Topic
}

// id distinguishes statements.
type id struct {
	key
	from int64
	said string
}

func idOf(s *Statement) id { return id{key{s.About, s.Topic}, s.From.UnixNano(), s.Said} }

// held is a statement that holds.
type held struct {
	Statement
	round uint64 // of plans, in which it was said last
}

// Note keeps something that happened at one moment, From.
func (r *Record) Note(s Statement) {
	s.Topic, s.Until = "", s.From
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes++
	s.news = r.changes
	r.end(s)
	r.forget(s.From)
}

// Hold keeps what is decided from now on: From. Where that is what was decided before, the
// statement goes on, with the numbers of now. more reports what it was decided from; it is asked
// for news alone, and may be nil.
func (r *Record) Hold(s Statement, more func() []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := key{s.About, s.Topic}
	if h, known := r.open[k]; known {
		if s.says(&h.Statement) {
			r.bytes += len(cmp.Or(s.Why, h.Why)) - len(h.Why)
			h.round, h.Why = r.round, cmp.Or(s.Why, h.Why)
			return
		}
		r.close(k, s.From)
	}
	if more != nil {
		s.More = more()
	}
	s.Until = time.Time{}
	if r.open == nil {
		r.open = map[key]*held{}
	}
	r.changes++
	s.news = r.changes
	r.open[k] = &held{s, r.round}
	r.bytes += s.bytes()
}

// Add adds to what holds of the topic, where anything does.
func (r *Record) Add(about Object, topic Topic, more []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, known := r.open[key{about, topic}]
	if !known || len(more) == 0 {
		return
	}
	r.bytes -= h.bytes()
	h.More = slices.Concat(h.More, more)
	r.bytes += h.bytes()
	r.changes++
	h.news = r.changes
}

// Held returns what holds of the topic; ok is false where nothing does.
func (r *Record) Held(about Object, topic Topic) (s Statement, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.open[key{about, topic}]
	if !ok {
		return Statement{}, false
	}
	return h.Statement, true
}

// Stays returns why a node stays that has drifted, by what is held about it;
// empty: that is not known.
func (r *Record) Stays(node string) string {
	if s, _ := r.Held(Object{Node, node}, TopicStay); s.Said == mightGo+string(plan.Drifted) {
		return s.Why
	}
	return ""
}

// Stand lets what holds of the topic hold on, whatever it says.
func (r *Record) Stand(about Object, topic Topic) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h, ok := r.open[key{about, topic}]; ok {
		h.round = r.round
	}
}

// End says that what held of the topic does so no longer.
func (r *Record) End(about Object, topic Topic, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.close(key{about, topic}, at)
}

// Begin begins a round: everything that holds is to be said again.
func (r *Record) Begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round++
}

// Finish ends what was not said in this round, and forgets what is too old or
// too much.
func (r *Record) Finish(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var gone []key
	for k, h := range r.open {
		if h.round != r.round {
			gone = append(gone, k)
		}
	}
	slices.SortFunc(gone, compareKeys)
	for _, k := range gone {
		r.close(k, at)
	}
	r.forget(at)
}

func compareKeys(a, b key) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Topic, b.Topic))
}

// close ends an open statement.
func (r *Record) close(k key, at time.Time) {
	h, known := r.open[k]
	if !known {
		return
	}
	delete(r.open, k)
	r.bytes -= h.bytes()
	h.Until = at
	r.changes++
	h.news = r.changes
	r.end(h.Statement)
}

// end adds what no longer holds.
func (r *Record) end(s Statement) {
	r.over = append(r.over, s)
	r.bytes += s.bytes()
}

// forget drops what ended a day ago and, where there is too much, a tenth of it:
// what ended first and, if all that is over does not suffice, what has held for
// longest.
func (r *Record) forget(now time.Time) {
	most := bytesMax
	if r.bytes > most {
		most = bytesMax / 10 * 9
	}
	old := 0
	for old < len(r.over) && (now.Sub(r.over[old].Until) > KeepFor || r.bytes > most) {
		r.bytes -= r.over[old].bytes()
		old++
	}
	r.over = slices.Delete(r.over, 0, old)
	if r.bytes <= most {
		return
	}
	for _, h := range slices.SortedFunc(maps.Values(r.open), func(a, b *held) int { return inTime(a.Statement, b.Statement) }) {
		if r.bytes <= most {
			return
		}
		delete(r.open, key{h.About, h.Topic})
		r.bytes -= h.bytes()
	}
}

// Statements returns what is on record since a moment, and how often it has
// changed: what holds or ended since then, in the order in which it began. The
// caller owns the list.
func (r *Record) Statements(since time.Time) (list []Statement, changes uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.over {
		if !r.over[i].Until.Before(since) {
			list = append(list, r.over[i])
		}
	}
	for _, h := range r.open {
		list = append(list, h.Statement)
	}
	slices.SortStableFunc(list, inTime)
	return list, r.changes
}

// Since returns what has changed since the record had changed so often, in the order
// in which it began, and how often it has changed now. The caller owns the list.
func (r *Record) Since(changes uint64) (list []Statement, now uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.over {
		if r.over[i].news > changes {
			list = append(list, r.over[i])
		}
	}
	for _, h := range r.open {
		if h.news > changes {
			list = append(list, h.Statement)
		}
	}
	slices.SortStableFunc(list, inTime)
	return list, r.changes
}

// Changes is how often the record has changed.
func (r *Record) Changes() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes
}

func inTime(a, b Statement) int {
	return cmp.Or(a.From.Compare(b.From), compareKeys(key{a.About, a.Topic}, key{b.About, b.Topic}), cmp.Compare(a.Said, b.Said))
}
