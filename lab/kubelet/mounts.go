package kubelet

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// mounts remembers which pod uses which volumes and notifies a node when the set of its
// volumes changes.
type mounts struct {
	mu     sync.Mutex                                      // guards byNode
	byNode map[string]map[string][]corev1.UniqueVolumeName // node, UID of pod, volumes
}

func (m *mounts) set(n Node, uid string, volumes []corev1.UniqueVolumeName) {
	changed, all := m.change(n.Name, uid, volumes)
	if changed && n.Mounted != nil {
		n.Mounted(all)
	}
}

func (m *mounts) change(node, uid string, volumes []corev1.UniqueVolumeName) (bool, []corev1.UniqueVolumeName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Equal(m.byNode[node][uid], volumes) {
		return false, nil
	}
	if m.byNode[node] == nil {
		m.byNode[node] = map[string][]corev1.UniqueVolumeName{}
	}
	m.byNode[node][uid] = slices.Clone(volumes)
	if len(volumes) == 0 {
		delete(m.byNode[node], uid)
	}
	all := []corev1.UniqueVolumeName{}
	for _, some := range m.byNode[node] {
		all = append(all, some...)
	}
	slices.Sort(all)
	return true, slices.Compact(all)
}

func (m *mounts) dropNode(node string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byNode, node)
}

// addresses hands out addresses for pods from 10.128.0.0/9, never one that it
// has seen in use. The zero value is ready.
type addresses struct {
	mu   sync.Mutex // guards last
	last uint32
}

var firstAddress = binary.BigEndian.Uint32([]byte{10, 128, 0, 0})

func (a *addresses) next() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = max(a.last, firstAddress) + 1
	if a.last>>24 != 10 {
		a.last = firstAddress + 1
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], a.last)
	return netip.AddrFrom4(b).String()
}

func (a *addresses) observe(ip string) {
	addr, err := netip.ParseAddr(ip)
	if err != nil || !addr.Is4() {
		return
	}
	b := addr.As4()
	n := binary.BigEndian.Uint32(b[:])
	if n < firstAddress || b[0] != 10 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = max(a.last, n)
}
