package eks

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// podIdentity gives pods of a service account a role.
type podIdentity struct {
	ID, Namespace, Account, RoleARN string
	Tags                            map[string]string
	CreatedAt                       time.Time
}

func (c *call) identityARN(p *podIdentity) string {
	a := c.server.Settings
	return a.ARN("eks", a.Region, "podidentityassociation/"+a.ClusterName+"/"+p.ID)
}

func (c *call) identityAnswer(p *podIdentity) map[string]any {
	return map[string]any{"association": map[string]any{
		"clusterName": c.server.Settings.ClusterName, "namespace": p.Namespace, "serviceAccount": p.Account, "roleArn": p.RoleARN,
		"associationArn": c.identityARN(p), "associationId": p.ID, "tags": p.Tags, "createdAt": world.Seconds(p.CreatedAt), "modifiedAt": world.Seconds(p.CreatedAt),
	}}
}

// createPodIdentity lets a service account, of which nothing need be there, have one role.
func createPodIdentity(c *call) (any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	var in struct {
		Namespace string            `json:"namespace"`
		Account   string            `json:"serviceAccount"`
		RoleARN   string            `json:"roleArn"`
		Tags      map[string]string `json:"tags"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	st := c.server
	for _, p := range st.Identities {
		if p.Namespace == in.Namespace && p.Account == in.Account {
			return nil, wire.Errorf("ResourceInUseException", "Association already exists: %s", p.ID).WithStatus(http.StatusConflict)
		}
	}
	if err := c.roleThere(in.RoleARN); err != nil {
		return nil, err
	}
	p := &podIdentity{ID: st.Settings.StableID("a", in.Namespace+"/"+in.Account), Namespace: in.Namespace, Account: in.Account,
		RoleARN: in.RoleARN, Tags: in.Tags, CreatedAt: c.At}
	st.Identities[p.ID] = p
	return c.identityAnswer(p), nil
}

// roleThere refuses a role that does not exist.
func (c *call) roleThere(arn string) error {
	if c.server.Roles[world.RoleOf(arn)] == nil {
		return wire.Errorf("InvalidParameterException", "Role provided in the request does not exist.")
	}
	return nil
}

func (c *call) identity() (*podIdentity, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	p := c.server.Identities[c.Names["association"]]
	if p == nil {
		return nil, wire.Errorf("NotFoundException", "No association found: %s", c.Names["association"]).WithStatus(http.StatusNotFound)
	}
	return p, nil
}

func describePodIdentity(c *call) (any, error) {
	p, err := c.identity()
	if err != nil {
		return nil, err
	}
	return c.identityAnswer(p), nil
}

// updatePodIdentity gives the service account another role: new sessions have it.
func updatePodIdentity(c *call) (any, error) {
	p, err := c.identity()
	if err != nil {
		return nil, err
	}
	var in struct {
		RoleARN string `json:"roleArn"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if in.RoleARN != "" {
		if err := c.roleThere(in.RoleARN); err != nil {
			return nil, err
		}
		p.RoleARN = in.RoleARN
	}
	return c.identityAnswer(p), nil
}

func deletePodIdentity(c *call) (any, error) {
	p, err := c.identity()
	if err != nil {
		return nil, err
	}
	delete(c.server.Identities, p.ID)
	return c.identityAnswer(p), nil
}

// listPodIdentities lists those of a namespace and service account, where these are named.
func listPodIdentities(c *call) (any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	namespace, account := c.Query.Get("namespace"), c.Query.Get("serviceAccount")
	out := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(c.server.Identities)) {
		p := c.server.Identities[id]
		if namespace != "" && p.Namespace != namespace || account != "" && p.Account != account {
			continue
		}
		out = append(out, map[string]any{
			"clusterName": c.server.Settings.ClusterName, "namespace": p.Namespace, "serviceAccount": p.Account, "associationArn": c.identityARN(p), "associationId": p.ID,
		})
	}
	return map[string]any{"associations": out}, nil
}
