package comparison

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/api"
)

// DataKey is where the ConfigMap holds the history.
const DataKey = "history.json.gz"

const (
	keepEvery = time.Minute
	keepFor   = 5 * time.Second // that the last write may take
)

// store keeps a history between processes.
type store interface {
	// String names the place: "ConfigMap daemok/daemok-shadow".
	String() string
	// read returns nothing where nothing was kept.
	read(ctx context.Context) ([]byte, error)
	write(ctx context.Context, data []byte) error
}

// ConfigMap keeps a history in the ConfigMap daemok-shadow of a namespace.
type ConfigMap struct {
	Client    client.Client // reads past every cache
	Namespace string
}

func (c ConfigMap) key() client.ObjectKey {
	return client.ObjectKey{Namespace: c.Namespace, Name: api.ConfigMapShadow}
}

func (c ConfigMap) String() string { return "ConfigMap " + c.key().String() }

func (c ConfigMap) read(ctx context.Context) ([]byte, error) {
	o := &corev1.ConfigMap{}
	err := c.Client.Get(ctx, c.key(), o)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %s: %w", c.key(), err)
	}
	return o.BinaryData[DataKey], nil
}

func (c ConfigMap) write(ctx context.Context, data []byte) error {
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: api.ConfigMapShadow}}
	before := o.DeepCopy()
	o.BinaryData = map[string][]byte{DataKey: data}
	err := c.Client.Patch(ctx, o, client.MergeFrom(before))
	if apierrors.IsNotFound(err) {
		err = c.Client.Create(ctx, o)
	}
	if err != nil {
		return fmt.Errorf("write ConfigMap %s: %w", c.key(), err)
	}
	return nil
}

// File keeps a history in a file, which it replaces as a whole.
type File string

func (f File) String() string { return "file " + string(f) }

func (f File) read(context.Context) ([]byte, error) {
	data, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

func (f File) write(_ context.Context, data []byte) error {
	next, err := os.CreateTemp(filepath.Dir(string(f)), filepath.Base(string(f))+".*")
	if err != nil {
		return err
	}
	_, err = next.Write(data)
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), string(f))
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}

// Saver keeps the history of a book. Where it may not, that is logged once, and the history lasts as long as the
// process. Nothing is written before it is known what an earlier process kept.
type Saver struct {
	Book    *Book
	Cluster string
	In      store
	Log     *slog.Logger
	Now     func() time.Time

	known   bool   // what an earlier process kept, which the book has then
	written uint64 // changes of the book that were written
	failed  string // what was logged last
}

// Begin takes up what an earlier process kept. What is there and cannot be read is left alone: nothing is written
// then. Where the right to read is missing, it is taken up as soon as it may be read.
func (k *Saver) Begin(ctx context.Context) error {
	if err := k.recall(ctx); apierrors.IsForbidden(err) {
		k.log(err)
	} else if err != nil {
		return err
	}
	k.Book.Begin(k.Cluster, k.Now().UTC())
	return nil
}

// recall has the book go on from what an earlier process kept.
func (k *Saver) recall(ctx context.Context) error {
	data, err := k.In.read(ctx)
	if err != nil {
		return err
	}
	if len(data) > 0 {
		h, err := Decode(data)
		if err != nil {
			return fmt.Errorf("%s: %w", k.In, err)
		}
		k.Book.Recall(h)
	}
	k.known = true
	return nil
}

// Run writes what is new every minute until ctx ends, and then once more.
func (k *Saver) Run(ctx context.Context) error {
	for pause.For(ctx, keepEvery) == nil {
		k.save(ctx)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepFor)
	defer cancel()
	k.save(last)
	return nil
}

func (k *Saver) save(ctx context.Context) {
	if !k.known {
		if err := k.recall(ctx); err != nil {
			k.log(err)
			return
		}
	}
	h, changes := k.Book.History()
	if changes == k.written {
		return
	}
	data, err := h.Encode()
	if err == nil {
		err = k.In.write(ctx, data)
	}
	if err != nil {
		k.log(err)
		return
	}
	k.written, k.failed = changes, ""
}

// log says what failed, once until something else does.
func (k *Saver) log(err error) {
	if text := err.Error(); text != k.failed {
		k.failed = text
		k.Log.Warn("the history of shadow mode is kept in memory alone, and is lost when the process ends: grant the rights of Role daemok-shadow, or set --shadow-file; it is tried again every minute",
			"error", text)
	}
}
