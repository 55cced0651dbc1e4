package record

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/api"
)

const (
	// slots is how many ConfigMaps make the ring.
	slots = 8
	// slotFor is how long one of them is written before the next is begun, so
	// that all but the oldest hold a day.
	slotFor = KeepFor / (slots - 1)
	// slotBytesMax is how much one holds: half of what the API server takes, so
	// that it can be written at once everywhere.
	slotBytesMax = 512 << 10
	// writeEvery keeps writes apart.
	writeEvery = time.Minute
	// lastFor is how long the last write may take when the program ends.
	lastFor = 5 * time.Second
)

// dataKey is where a ConfigMap of the ring holds its part.
const dataKey = "decisions.json.gz"

// slotName is the name of the ConfigMap at a place of the ring.
func slotName(at int) string { return fmt.Sprintf("%s-%d", api.ConfigMapRecord, at) }

// counter counts attempts to write by how they ended.
type counter func(result string)

// Ring keeps a record in ConfigMaps while this process leads. A failure is reported and retried; no
// plan waits for it.
type Ring struct {
	Record    *Record
	Store     client.Writer
	Live      client.Reader // reads past every cache
	Namespace string
	Log       *slog.Logger
	Count     counter
	Now       func() time.Time

	at      int       // place of the part that is being written
	began   time.Time // the moment from which on it has statements
	written time.Time // when it was written last; zero: it was not
	changes uint64    // of the record, when it was written last
	seen    [slots]*corev1.ConfigMap
	newest  newest
	tried   time.Time // when the ring was to be written last
	failed  string    // what was reported last to have failed
}

// Run reads what is there and writes what is new until ctx ends, within seconds, and
// then once more.
func (r *Ring) Run(ctx context.Context) error {
	for r.attempt("read the record of decisions", r.load(ctx)) != nil {
		if pause.For(ctx, writeEvery) != nil {
			return nil //nolint:nilerr // nothing is written over what was not read
		}
	}
	r.tried = r.Now()
	for pause.For(ctx, newestEvery) == nil {
		if r.Now().Sub(r.tried) >= writeEvery {
			r.tried = r.Now()
			r.save(ctx)
			continue
		}
		r.saveNewest(ctx)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastFor)
	defer cancel()
	r.save(last)
	return nil
}

// load takes in what the ring holds and goes on behind what was written last.
func (r *Ring) load(ctx context.Context) error {
	found, err := read(ctx, r.Live, r.Namespace)
	if err != nil {
		return err
	}
	r.seen, r.newest.seen = found.objects, found.newest
	r.at, r.began, r.written = 0, r.Now(), time.Time{}
	for i := range found.parts {
		if p := &found.parts[i]; found.at[i] >= 0 && p.Written.After(r.written) {
			r.at, r.began, r.written = found.at[i], p.Began, p.Written
		}
	}
	r.Record.Recall(merge(found.parts))
	if list, _ := r.Record.Statements(time.Time{}); len(found.parts) == 0 && len(list) > 0 {
		r.began = list[0].From
	}
	return nil
}

// save writes what changed since it was written last.
func (r *Ring) save(ctx context.Context) {
	if r.Record.Changes() == r.changes {
		return
	}
	r.conclude(ctx, r.write(ctx))
}

// conclude counts and reports how an attempt to write ended.
func (r *Ring) conclude(ctx context.Context, err error) {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
		r.Count("conflict")
		again := r.load(ctx)                                                // another process wrote: read what, and write with the next turn
		r.attempt("write the record of decisions", errors.Join(err, again)) //nolint:errcheck // told there
		return
	}
	switch {
	case apierrors.IsForbidden(err):
		r.Count("forbidden")
	case err != nil:
		r.Count("failed")
	default:
		r.Count("written")
	}
	r.attempt("write the record of decisions", err) //nolint:errcheck // told there
}

// attempt reports what failed, once until something else does, and returns it.
func (r *Ring) attempt(what string, err error) error {
	if err == nil {
		r.failed = ""
		return nil
	}
	if text := what + ": " + err.Error(); text != r.failed {
		r.failed = text
		r.Log.Warn("could not "+what+"; plans do not depend on it, and it is tried again every minute", "error", err.Error())
	}
	return err
}

// write writes the part of the ring that is being filled or, where it is full
// or old, the next one in its place.
func (r *Ring) write(ctx context.Context) error {
	now := r.Now()
	at, began := r.at, r.began
	list, changes := r.Record.Statements(began)
	data, err := (&part{Version: version, Began: began, Written: now, statements: list}).encode()
	if err != nil {
		return err
	}
	if now.Sub(began) >= slotFor || len(data) > slotBytesMax {
		if !r.written.IsZero() {
			at, began = (at+1)%slots, r.written.Add(-writeEvery) // rather twice than not at all
		}
		if data, err = r.fitting(began, now); err != nil {
			return err
		}
	}
	seen, err := r.put(ctx, slotName(at), r.seen[at], data)
	if err != nil {
		return err
	}
	r.seen[at] = seen
	r.at, r.began, r.written, r.changes = at, began, now, changes
	return nil
}

// fitting encodes what is on record since a moment as far as it is not too
// much: what is oldest is left out.
func (r *Ring) fitting(began, now time.Time) ([]byte, error) {
	list, _ := r.Record.Statements(began)
	for {
		data, err := (&part{Version: version, Began: began, Written: now, statements: list}).encode()
		if err != nil || len(data) <= slotBytesMax {
			return data, err
		}
		list = list[len(list)/4+1:]
	}
}

// put writes a ConfigMap as it was seen last, or makes it, and returns it as it is now.
func (r *Ring) put(ctx context.Context, name string, seen *corev1.ConfigMap, data []byte) (*corev1.ConfigMap, error) {
	if seen == nil {
		c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: name}, BinaryData: map[string][]byte{dataKey: data}}
		return c, r.Store.Create(ctx, c)
	}
	c := seen.DeepCopy()
	c.BinaryData = map[string][]byte{dataKey: data}
	return c, r.Store.Patch(ctx, c, client.MergeFromWithOptions(seen, client.MergeFromWithOptimisticLock{}))
}

// ring is what was found in the ConfigMaps.
type ring struct {
	objects [slots]*corev1.ConfigMap
	newest  *corev1.ConfigMap
	parts   []part
	at      []int // of each part: its place; -1 for what is newest
}

// read reads all ConfigMaps. What is in none of the forms that are known is
// passed over.
func read(ctx context.Context, from client.Reader, namespace string) (ring, error) {
	var out ring
	for i := -1; i < slots; i++ {
		name := newestName
		if i >= 0 {
			name = slotName(i)
		}
		c := &corev1.ConfigMap{}
		err := from.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, c)
		if apierrors.IsNotFound(err) || i < 0 && apierrors.IsForbidden(err) { // rights of an earlier version lack it
			continue
		}
		if err != nil {
			return ring{}, fmt.Errorf("read ConfigMap %s/%s: %w", namespace, name, err)
		}
		if i >= 0 {
			out.objects[i] = c
		} else {
			out.newest = c
		}
		if p, err := decode(c.BinaryData[dataKey]); err == nil {
			out.parts, out.at = append(out.parts, p), append(out.at, i)
		}
	}
	return out, nil
}

// Read returns the record that the ConfigMaps of a namespace hold, and when it
// was written last; zero where there is none.
func Read(ctx context.Context, from client.Reader, namespace string) (*Record, time.Time, error) {
	found, err := read(ctx, from, namespace)
	if err != nil {
		return nil, time.Time{}, err
	}
	out := &Record{}
	out.Recall(merge(found.parts))
	if len(found.parts) == 0 {
		return out, time.Time{}, nil
	}
	last := slices.MaxFunc(found.parts, func(a, b part) int { return a.Written.Compare(b.Written) })
	return out, last.Written, nil
}
