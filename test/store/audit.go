package store

import "sigs.k8s.io/controller-runtime/pkg/client"

// Audit is one write that took effect, as an API server's audit log has it.
type Audit struct {
	User          string // of the connection
	Call          Call
	Before, After client.Object // nil: there was none, there is none left. Shared: not to be written
}

// AuditTo has every write reported to log, in their order and before anything else sees
// it. log must not call the server. Set it before the first write.
func (s *Server) AuditTo(log func(Audit)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.audit = log
}
