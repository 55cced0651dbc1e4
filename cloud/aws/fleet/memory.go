package fleet

import (
	"fmt"
	"sync"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// memory holds the orders sent lately by token, so that a repeated request is
// sent as it was, even where subnets have fewer addresses by now.
type memory struct {
	mu    sync.Mutex
	order map[string]sentOrder
	queue []string // tokens, oldest first
}

type sentOrder struct {
	digest nodeclass.Digest
	order  order
}

// sentMax is how many orders are held.
const sentMax = 512

// orderFor returns the order that was sent for an equal request under this
// token, else builds one.
func (m *memory) orderFor(r Request) (order, error) {
	sum, err := digest(r)
	if err != nil {
		return order{}, err
	}
	if o, ok := m.get(r.Launch.Token, sum); ok {
		return o, nil
	}
	o, err := build(r)
	if err != nil {
		return order{}, err
	}
	m.put(r.Launch.Token, sentOrder{sum, o})
	return o, nil
}

func (m *memory) get(token string, sum nodeclass.Digest) (order, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.order[token]
	return s.order, ok && s.digest == sum
}

func (m *memory) put(token string, s sentOrder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.order == nil {
		m.order = map[string]sentOrder{}
	}
	if _, known := m.order[token]; known {
		return // what was sent first under a token is what EC2 knows
	}
	m.order[token], m.queue = s, append(m.queue, token)
	if len(m.queue) > sentMax {
		delete(m.order, m.queue[0])
		m.queue = m.queue[1:]
	}
}

// digest is over what the caller asks. What has only to do with how it is
// fulfilled, as the subnets chosen, is left out.
func digest(r Request) (nodeclass.Digest, error) {
	asked := r.Launch
	asked.Class = cloud.Class{}
	d, err := r.Class.Digest(asked, r.Cluster)
	if err != nil {
		return d, fmt.Errorf("launch %s: %w", r.Launch.Token, err)
	}
	return d, nil
}
