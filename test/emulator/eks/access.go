package eks

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// accessEntry lets a role into the cluster.
type accessEntry struct {
	ARN, Type, User string
	Groups          []string
	Tags            map[string]string
	CreatedAt       time.Time
}

// nodeUsers are what instances are called that come in by an entry of a type for instances.
var nodeUsers = map[string]string{
	"EC2_LINUX": "system:node:{{EC2PrivateDNSName}}", "EC2_WINDOWS": "system:node:{{EC2PrivateDNSName}}", "EC2": "system:node:{{EC2PrivateDNSName}}",
}

// newEntries is the entry that the guides make: of the role of instances.
func newEntries(a world.Account, now time.Time) map[string]*accessEntry {
	arn := fmt.Sprintf("arn:aws:iam::%s:role/KarpenterNodeRole-%s", a.ID, a.ClusterName)
	return map[string]*accessEntry{arn: {ARN: arn, Type: "EC2_LINUX", User: nodeUsers["EC2_LINUX"], Groups: []string{"system:nodes"}, CreatedAt: now}}
}

// MayJoin reports whether instances of a role may join the cluster. Roles that never had an access
// entry may: they are taken to stand in the aws-auth ConfigMap. One whose entry was deleted may not.
func (s *EKS) MayJoin(role string) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return !s.ShutOut[role]
}

func (c *call) entryAnswer(e *accessEntry) map[string]any {
	a := c.server.Settings
	return map[string]any{"accessEntry": map[string]any{
		"clusterName": a.ClusterName, "principalArn": e.ARN, "type": e.Type, "username": e.User, "kubernetesGroups": append([]string{}, e.Groups...),
		"accessEntryArn": a.ARN("eks", a.Region, "access-entry/"+a.ClusterName+"/role/"+a.ID+"/"+world.RoleOf(e.ARN)), "tags": e.Tags,
		"createdAt": world.Seconds(e.CreatedAt), "modifiedAt": world.Seconds(e.CreatedAt),
	}}
}

func (c *call) entry() (*accessEntry, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	e := c.server.Entries[c.Names["principal"]]
	if e == nil {
		return nil, wire.Errorf("ResourceNotFoundException", "The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'.").
			WithStatus(http.StatusNotFound)
	}
	return e, nil
}

func createAccessEntry(c *call) (any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	var in struct {
		PrincipalARN string            `json:"principalArn"`
		Type         string            `json:"type"`
		User         string            `json:"username"`
		Groups       []string          `json:"kubernetesGroups"`
		Tags         map[string]string `json:"tags"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	st := c.server
	e := &accessEntry{ARN: in.PrincipalARN, Type: cmp.Or(in.Type, "STANDARD"), User: in.User, Groups: in.Groups, Tags: in.Tags, CreatedAt: c.At}
	switch user := nodeUsers[e.Type]; {
	case st.Entries[e.ARN] != nil:
		return nil, wire.Errorf("ResourceInUseException", "The specified access entry resource is already in use on this cluster.").WithStatus(http.StatusConflict)
	case user != "" && len(e.Groups) > 0:
		return nil, wire.Errorf("InvalidParameterException", "The kubernetesGroups cannot be specified for access entries of type %s", e.Type)
	case user != "":
		e.User, e.Groups = user, []string{"system:nodes"}
		delete(st.ShutOut, world.RoleOf(e.ARN))
	case e.Type != "STANDARD":
		return nil, wire.Errorf("InvalidParameterException", "The emulator has access entries of type STANDARD, EC2, EC2_LINUX and EC2_WINDOWS, not %s", e.Type)
	}
	st.Entries[e.ARN] = e
	return c.entryAnswer(e), nil
}

func describeAccessEntry(c *call) (any, error) {
	e, err := c.entry()
	if err != nil {
		return nil, err
	}
	return c.entryAnswer(e), nil
}

// updateAccessEntry changes the user and the groups of an entry that is of no instances.
func updateAccessEntry(c *call) (any, error) {
	e, err := c.entry()
	if err != nil {
		return nil, err
	}
	var in struct {
		User   *string   `json:"username"`
		Groups *[]string `json:"kubernetesGroups"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if nodeUsers[e.Type] != "" && in.Groups != nil {
		return nil, wire.Errorf("InvalidParameterException", "The kubernetesGroups cannot be specified for access entries of type %s", e.Type)
	}
	if in.User != nil {
		e.User = *in.User
	}
	if in.Groups != nil {
		e.Groups = *in.Groups
	}
	return c.entryAnswer(e), nil
}

// deleteAccessEntry shuts instances of the role out from their next registration on.
func deleteAccessEntry(c *call) (any, error) {
	e, err := c.entry()
	if err != nil {
		return nil, err
	}
	delete(c.server.Entries, e.ARN)
	if nodeUsers[e.Type] != "" {
		c.server.ShutOut[world.RoleOf(e.ARN)] = true
	}
	return nil, nil
}

func listAccessEntries(c *call) (any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	return map[string]any{"accessEntries": append([]string{}, slices.Sorted(maps.Keys(c.server.Entries))...)}, nil
}
