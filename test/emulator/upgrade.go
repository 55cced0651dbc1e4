package emulator

import (
	"net/http"
	"slices"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
)

// clusterUpdate is one update of the cluster's version. Until it has ended the cluster
// has the version before.
type clusterUpdate struct {
	ID, Version string
	Token       string // of the request; empty: none
	At, EndsAt  time.Time
}

// updateTakes is how long EKS takes to update a control plane at time scale 1: a pick,
// where EKS says that it should be a few minutes.
const updateTakes = 8 * time.Minute

// kubernetes is the version that the cluster has at a moment, such as 1.36.
func (s *state) kubernetes(now time.Time) string {
	version := s.Account.EKSVersion
	for _, u := range s.Cluster.Updates {
		if !u.EndsAt.After(now) {
			version = u.Version
		}
	}
	return version
}

// updating is the update that has not ended, nil where there is none.
func (s *state) updating(now time.Time) *clusterUpdate {
	if n := len(s.Cluster.Updates); n > 0 && s.Cluster.Updates[n-1].EndsAt.After(now) {
		return &s.Cluster.Updates[n-1]
	}
	return nil
}

func (s *state) clusterStatus(now time.Time) string {
	if s.updating(now) != nil {
		return "UPDATING"
	}
	return "ACTIVE"
}

// UpdateCluster begins to update the cluster's version, as UpdateClusterVersion does, and
// returns when that ends.
func (s *Server) UpdateCluster(version string) (ends time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := s.updateCluster(version, "", s.now())
	return u.EndsAt, err
}

// updateCluster begins an update, one minor version up; the lock is held.
func (s *Server) updateCluster(version, token string, now time.Time) (clusterUpdate, error) {
	st := s.st
	if at := slices.IndexFunc(st.Cluster.Updates, func(u clusterUpdate) bool { return token != "" && u.Token == token }); at >= 0 {
		return st.Cluster.Updates[at], nil
	}
	have := st.kubernetes(now)
	from, _ := minorOf(have)
	to, known := minorOf(version)
	switch u := st.updating(now); {
	case u != nil:
		return clusterUpdate{}, wire.Errorf("ResourceInUseException", "Cluster %s currently has update %s in progress", st.Account.ClusterName, u.ID).WithStatus(http.StatusConflict)
	case !known || !slices.Contains(publishedMinors(st.Account.EKSVersion), to):
		return clusterUpdate{}, wire.Errorf("InvalidParameterException", "unsupported Kubernetes version %s", version)
	case to != from+1:
		return clusterUpdate{}, wire.Errorf("InvalidParameterException", "Unsupported Kubernetes minor version update from %s to %s", have, version)
	}
	u := clusterUpdate{ID: st.messageID(), Version: version, Token: token, At: now, EndsAt: now.Add(s.updateFor)}
	st.Cluster.Updates = append(st.Cluster.Updates, u)
	return u, nil
}

func updateClusterVersion(c *call) (any, error) {
	var in struct{ Version, ClientRequestToken string }
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	u, err := c.server.updateCluster(in.Version, in.ClientRequestToken, c.now)
	if err != nil {
		return nil, err
	}
	return u.answer(c.now), nil
}

func (u clusterUpdate) answer(now time.Time) map[string]any {
	status := "InProgress"
	if !u.EndsAt.After(now) {
		status = "Successful"
	}
	return map[string]any{"update": map[string]any{
		"id": u.ID, "status": status, "type": "VersionUpdate", "createdAt": seconds(u.At), "errors": []any{},
		"params": []map[string]string{{"type": "Version", "value": u.Version}, {"type": "PlatformVersion", "value": "eks.9"}},
	}}
}

func describeUpdate(c *call) (any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	all := c.state().Cluster.Updates
	at := slices.IndexFunc(all, func(u clusterUpdate) bool { return u.ID == c.names["update"] })
	if at < 0 {
		return nil, wire.Errorf("ResourceNotFoundException", "No update found for ID: %s", c.names["update"]).WithStatus(http.StatusNotFound)
	}
	return all[at].answer(c.now), nil
}

func listUpdates(c *call) (any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	ids := []string{}
	for _, u := range c.state().Cluster.Updates {
		ids = append(ids, u.ID)
	}
	return map[string]any{"updateIds": ids}, nil
}
