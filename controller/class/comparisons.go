package class

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// AwaitFor is how long launches wait for comparisons after a controller began to lead, all classes together: pods wait no
// longer because of them.
const AwaitFor = 5 * time.Second

// Comparisons is of which classes this controller has compared launch template and user data with those that nodes were
// launched with. Its zero value is ready; one is shared by the loops over classes and by launches, and is safe for
// concurrent use.
type Comparisons struct {
	mu   sync.Mutex
	made map[string]chan struct{} // by Kind and name of the class; closed once it was compared
	late chan struct{}            // closed when launches wait no longer; nil until the first one waits

	digests map[string]digestOf // by Kind and name of the class
}

// digestOf is that of the form that was rendered of a spec.
type digestOf struct {
	spec   nodeclass.Spec
	digest string
}

// Digest is that of the form of a class for launches that cannot read it on the class. It is rendered once for each spec,
// and empty where there is none.
func (m *Comparisons) Digest(c *Subject, spec nodeclass.Spec, render func(nodeclass.Spec) (*nodeclass.LaunchForm, error)) string {
	m.mu.Lock()
	known, has := m.digests[key(c)]
	m.mu.Unlock()
	if has && reflect.DeepEqual(known.spec, spec) {
		return known.digest
	}
	digest := ""
	if form, err := render(spec); err == nil && form != nil {
		if b, err := built("", *form); err == nil {
			digest = b.Digest
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.digests == nil {
		m.digests = map[string]digestOf{}
	}
	m.digests[key(c)] = digestOf{spec, digest}
	return digest
}

// Await returns once the class has been compared, AwaitFor has passed since the first such call, or ctx ends.
func (m *Comparisons) Await(ctx context.Context, c *Subject) {
	compared, late := m.of(c)
	select {
	case <-compared:
	case <-late:
	case <-ctx.Done():
	}
}

func (m *Comparisons) of(c *Subject) (compared, late <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.late == nil {
		passed := make(chan struct{})
		time.AfterFunc(AwaitFor, func() { close(passed) })
		m.late = passed
	}
	return m.channel(c), m.late
}

// has reports whether the class was compared.
func (m *Comparisons) has(c *Subject) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.channel(c):
		return true
	default:
		return false
	}
}

// add notes that the class was compared, and what came of it was written.
func (m *Comparisons) add(c *Subject) {
	if m.has(c) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.channel(c))
}

// channel is the class's own; mu is held.
func (m *Comparisons) channel(c *Subject) chan struct{} {
	if m.made == nil {
		m.made = map[string]chan struct{}{}
	}
	if m.made[key(c)] == nil {
		m.made[key(c)] = make(chan struct{})
	}
	return m.made[key(c)]
}

// key is of the object, which Provisioners share that name it.
func key(c *Subject) string { return c.Kind.Name + "/" + c.GetName() }
