package aws

import (
	"sync"
	"time"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// staysFor is how long a new version of the control plane must be all that is seen of
// it before images are chosen for it. While EKS replaces API servers, one of the new
// version may answer and the next be old again, and a node with a newer kubelet than an
// API server is not supported.
const staysFor = 5 * time.Minute

// steady is the version of Kubernetes that images are chosen for. The zero value has
// seen none.
type steady struct {
	mu    sync.Mutex
	held  string
	began time.Time // when one was seen first; what older ones there were before is not known
	next  string    // newer than held; empty: none is seen
	from  time.Time // when next was seen first, without a held one since
}

// see takes in the version that the control plane has now, and returns the one for
// images: an older one at once, a newer one once it has stayed. had is the version of
// those that are in use; empty where that is not known. An earlier process may have chosen
// them while it waited.
func (s *steady) see(now time.Time, version, had string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == "" {
		s.began = now
	}
	switch {
	case s.held == "" || !newer(version, s.held):
		s.held, s.next = version, ""
	case s.next != version:
		s.next, s.from = version, now
	case now.Sub(s.from) >= staysFor:
		s.held, s.next = version, ""
	}
	if newer(s.held, had) && now.Sub(s.began) < staysFor {
		return had
	}
	return s.held
}

func newer(a, b string) bool {
	x, known := nodeclass.Minor(a)
	y, alsoKnown := nodeclass.Minor(b)
	return known && alsoKnown && x > y
}
