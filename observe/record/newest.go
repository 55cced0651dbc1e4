package record

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/daemok/daemok/kube/api"
)

const (
	// newestEvery keeps writes of what is newest apart.
	newestEvery = 3 * time.Second
	// forbiddenFor is when it is tried again where rights are missing.
	forbiddenFor = time.Hour
	// newestPace is how many bytes of it are written a second at most.
	newestPace = 64 << 10
	// newestName is the ConfigMap that holds what is newer than the ring.
	newestName = api.ConfigMapRecord + "-newest"
)

// newest is what changed since the ring was written last. It is written within
// seconds, which for all of the ring would be too much.
type newest struct {
	changes uint64 // of the record, when it was written last
	next    time.Time
	seen    *corev1.ConfigMap
}

// saveNewest writes what changed since the ring was written last, if anything did
// since it was written itself.
func (r *Ring) saveNewest(ctx context.Context) {
	changes := r.Record.Changes()
	if r.failed != "" || changes == r.changes || changes == r.newest.changes || r.Now().Before(r.newest.next) {
		return // what failed is tried again with the ring
	}
	r.conclude(ctx, r.writeNewest(ctx))
}

func (r *Ring) writeNewest(ctx context.Context) error {
	now := r.Now()
	list, changes := r.Record.Since(r.changes)
	data, err := (&part{Version: version, Began: r.began, Written: now, statements: list}).encode()
	if err != nil {
		return err
	}
	if len(data) > slotBytesMax {
		r.newest.next = r.tried.Add(writeEvery) // all of it is written then
		return nil
	}
	seen, err := r.put(ctx, newestName, r.newest.seen, data)
	if apierrors.IsForbidden(err) {
		r.newest.next = now.Add(forbiddenFor)
	}
	if err != nil {
		return err
	}
	r.newest = newest{changes, now.Add(max(newestEvery, time.Duration(len(data))*time.Second/newestPace)), seen}
	return nil
}
