// Package remember stores in a ConfigMap, for the next leader, what the leader has seen and no object
// records. Examples are which pods were moved lately, how long they take to start, what they requested
// when they were created, which nodes were removed, how often spot instances were interrupted, how
// much memory instances have, and which offerings were unavailable.
//
// It promises never to overwrite what it has not read, and to write at most once a minute, and only
// what changed. If it cannot read or write, plans are still made, with less knowledge. A crash may
// lose what was seen in the last minute.
package remember

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/snapshot"
)

const (
	// writeEvery keeps writes apart.
	writeEvery = time.Minute
	// dataKey is where the ConfigMap holds the memory, as compressed JSON.
	dataKey = "memory.json.gz"
	// unpackedMax bounds what is read, whatever was written there.
	unpackedMax = 16 << 20
)

// cluster state is what remembers.
type clusterState interface {
	Memory() snapshot.Memory
	Remember(snapshot.Memory)
}

// spotStore is what remembers spot instances.
type spotStore interface {
	SpotSeen() cloud.SpotSeen
	RecallSpot(cloud.SpotSeen)
}

// sizeStore is what remembers how much memory instances have.
type sizeStore interface {
	MemorySeen() cloud.MemorySeen
	RecallMemory(cloud.MemorySeen)
}

// offeringStore is what remembers which offerings could not be had.
type offeringStore interface {
	UnavailableSeen() []cloud.Unavailable
	RecallUnavailable([]cloud.Unavailable)
}

// memory is what the ConfigMap says.
type memory struct {
	snapshot.Memory
	Spot        *cloud.SpotSeen     `json:"spot,omitempty"`
	Sizes       cloud.MemorySeen    `json:"sizes,omitempty"`
	Unavailable []cloud.Unavailable `json:"unavailable,omitempty"`
}

// Book is the memory on paper. Its methods are called one after another, when the
// cluster state has seen what there is.
type Book struct {
	ClusterState clusterState
	Spot         spotStore     // nil: spot instances are not observed
	Sizes        sizeStore     // nil: the memory of instances is not observed
	Offerings    offeringStore // nil: unavailable offerings are not remembered
	Store        client.Writer
	Live         client.Reader // reads past every cache
	Namespace    string        // empty: nothing is kept

	read bool
	seen *corev1.ConfigMap // as it was read or written last; nil: there is none
}

// Load takes in what an earlier process wrote, once. The first plan should wait
// for it; where it fails, Round tries again.
func (b *Book) Load(ctx context.Context) error {
	if b.read || b.Namespace == "" {
		return nil
	}
	c, err := stored(ctx, b.Live, b.Namespace)
	if err != nil {
		return err
	}
	b.read, b.seen = true, c
	if c == nil {
		return nil
	}
	if m, err := decode(c.BinaryData[dataKey]); err == nil { // what is not understood is written again
		b.ClusterState.Remember(m.Memory)
		if b.Spot != nil && m.Spot != nil {
			b.Spot.RecallSpot(*m.Spot)
		}
		if b.Sizes != nil {
			b.Sizes.RecallMemory(m.Sizes)
		}
		if b.Offerings != nil {
			b.Offerings.RecallUnavailable(m.Unavailable)
		}
	}
	return nil
}

// stored is what was written last; nil where nothing was.
func stored(ctx context.Context, from client.Reader, namespace string) (*corev1.ConfigMap, error) {
	c := &corev1.ConfigMap{}
	switch err := from.Get(ctx, client.ObjectKey{Namespace: namespace, Name: api.ConfigMapMemory}, c); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read ConfigMap %s/%s, which stores what the last leader has seen: %w", namespace, api.ConfigMapMemory, err)
	}
	return c, nil
}

// Unavailable are the offerings that could not be had lately, as the controller of a namespace wrote them last: within the last minute
// while it runs. Some may be available again by now: see Until.
func Unavailable(ctx context.Context, from client.Reader, namespace string) ([]cloud.Unavailable, error) {
	c, err := stored(ctx, from, namespace)
	if c == nil || err != nil {
		return nil, err
	}
	m, err := decode(c.BinaryData[dataKey])
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s/%s: %w", namespace, api.ConfigMapMemory, err)
	}
	return m.Unavailable, nil
}

// now is what is known.
func (b *Book) now() memory {
	out := memory{Memory: b.ClusterState.Memory()}
	if b.Spot != nil {
		if seen := b.Spot.SpotSeen(); len(seen.Pools) > 0 {
			out.Spot = &seen
		}
	}
	if b.Sizes != nil {
		out.Sizes = b.Sizes.MemorySeen()
	}
	if b.Offerings != nil {
		out.Unavailable = b.Offerings.UnavailableSeen()
	}
	return out
}

// Round writes what is news, and returns when to check again.
func (b *Book) Round(ctx context.Context) (time.Duration, error) {
	if b.Namespace == "" {
		return time.Hour, nil
	}
	if err := b.Load(ctx); err != nil {
		return writeEvery, err
	}
	data, err := encode(b.now())
	if err != nil {
		return writeEvery, err
	}
	err = b.put(ctx, data)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
		b.read = false // another writer was faster: read what it wrote, and write with the next turn
		return writeEvery, nil
	}
	if err != nil {
		return writeEvery, fmt.Errorf("write ConfigMap %s/%s: %w", b.Namespace, api.ConfigMapMemory, err)
	}
	return writeEvery, nil
}

// put writes the ConfigMap as it was seen last, or makes it, if it says something
// else.
func (b *Book) put(ctx context.Context, data []byte) error {
	if b.seen == nil {
		c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: api.ConfigMapMemory}, BinaryData: map[string][]byte{dataKey: data}}
		if err := b.Store.Create(ctx, c); err != nil {
			return err
		}
		b.seen = c
		return nil
	}
	if bytes.Equal(b.seen.BinaryData[dataKey], data) {
		return nil
	}
	c := b.seen.DeepCopy()
	c.BinaryData = map[string][]byte{dataKey: data}
	if err := b.Store.Patch(ctx, c, client.MergeFromWithOptions(b.seen, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	b.seen = c
	return nil
}

// encode writes equal memories as equal bytes.
func encode(m memory) ([]byte, error) {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	if err := json.NewEncoder(packed).Encode(m); err != nil {
		return nil, fmt.Errorf("encode what the leader has seen: %w", err)
	}
	if err := packed.Close(); err != nil {
		return nil, fmt.Errorf("compress what the leader has seen: %w", err)
	}
	return out.Bytes(), nil
}

func decode(data []byte) (m memory, err error) {
	packed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return m, fmt.Errorf("unpack what the last leader has seen: %w", err)
	}
	if err := json.NewDecoder(io.LimitReader(packed, unpackedMax)).Decode(&m); err != nil {
		return memory{}, fmt.Errorf("decode what the last leader has seen: %w", err)
	}
	return m, nil
}
