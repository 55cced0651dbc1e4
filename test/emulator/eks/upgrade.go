package eks

import (
	"net/http"
	"slices"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
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
func (s *EKS) kubernetes(now time.Time) string {
	version := s.Settings.EKSVersion
	for _, u := range s.Cluster.Updates {
		if !u.EndsAt.After(now) {
			version = u.Version
		}
	}
	return version
}

// updating is the update that has not ended, nil where there is none.
func (s *EKS) updating(now time.Time) *clusterUpdate {
	if n := len(s.Cluster.Updates); n > 0 && s.Cluster.Updates[n-1].EndsAt.After(now) {
		return &s.Cluster.Updates[n-1]
	}
	return nil
}

func (s *EKS) clusterStatus(now time.Time) string {
	if s.updating(now) != nil {
		return "UPDATING"
	}
	return "ACTIVE"
}

// UpdateCluster begins to update the cluster's version, as UpdateClusterVersion does, and
// returns when that ends.
func (s *EKS) UpdateCluster(version string) (ends time.Time, err error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	u, err := s.updateCluster(version, "", s.Now())
	return u.EndsAt, err
}

// updateCluster begins an update, one minor version up; the lock is held.
func (s *EKS) updateCluster(version, token string, now time.Time) (clusterUpdate, error) {
	if at := slices.IndexFunc(s.Cluster.Updates, func(u clusterUpdate) bool { return token != "" && u.Token == token }); at >= 0 {
		return s.Cluster.Updates[at], nil
	}
	have := s.kubernetes(now)
	from, _ := world.MinorOf(have)
	to, known := world.MinorOf(version)
	switch u := s.updating(now); {
	case u != nil:
		return clusterUpdate{}, wire.Errorf("ResourceInUseException", "Cluster %s currently has update %s in progress", s.Settings.ClusterName, u.ID).WithStatus(http.StatusConflict)
	case !known || !slices.Contains(world.PublishedMinors(s.Settings.EKSVersion), to):
		return clusterUpdate{}, wire.Errorf("InvalidParameterException", "unsupported Kubernetes version %s", version)
	case to != from+1:
		return clusterUpdate{}, wire.Errorf("InvalidParameterException", "Unsupported Kubernetes minor version update from %s to %s", have, version)
	}
	u := clusterUpdate{ID: s.MessageID(), Version: version, Token: token, At: now, EndsAt: now.Add(s.updateFor)}
	s.Cluster.Updates = append(s.Cluster.Updates, u)
	return u, nil
}

func updateClusterVersion(c *call) (any, error) {
	var in struct{ Version, ClientRequestToken string }
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	u, err := c.server.updateCluster(in.Version, in.ClientRequestToken, c.At)
	if err != nil {
		return nil, err
	}
	return u.answer(c.At), nil
}

func (u clusterUpdate) answer(now time.Time) map[string]any {
	status := "InProgress"
	if !u.EndsAt.After(now) {
		status = "Successful"
	}
	return map[string]any{"update": map[string]any{
		"id": u.ID, "status": status, "type": "VersionUpdate", "createdAt": world.Seconds(u.At), "errors": []any{},
		"params": []map[string]string{{"type": "Version", "value": u.Version}, {"type": "PlatformVersion", "value": "eks.9"}},
	}}
}

func describeUpdate(c *call) (any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	all := c.server.Cluster.Updates
	at := slices.IndexFunc(all, func(u clusterUpdate) bool { return u.ID == c.Names["update"] })
	if at < 0 {
		return nil, wire.Errorf("ResourceNotFoundException", "No update found for ID: %s", c.Names["update"]).WithStatus(http.StatusNotFound)
	}
	return all[at].answer(c.At), nil
}

func listUpdates(c *call) (any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	ids := []string{}
	for _, u := range c.server.Cluster.Updates {
		ids = append(ids, u.ID)
	}
	return map[string]any{"updateIds": ids}, nil
}
