package eks

import (
	"maps"
	"net/http"
	"slices"

	"github.com/daemok/daemok/test/emulator/wire"
)

// createNodegroup puts a node group on record, with the Auto Scaling group that EKS makes
// for it.
func createNodegroup(c *call) (any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	st, asked := c.server, map[string]any{}
	if err := c.Decode(&asked); err != nil {
		return nil, err
	}
	name, _ := asked["nodegroupName"].(string)
	switch {
	case name == "" || asked["nodeRole"] == nil || asked["subnets"] == nil:
		return nil, wire.Errorf("InvalidParameterException", "nodegroupName, nodeRole and subnets must be given")
	case st.Nodegroups[name] != nil:
		return nil, wire.Errorf("ResourceInUseException", "NodeGroup already exists with name %s and cluster name %s", name, st.Settings.ClusterName).WithStatus(http.StatusConflict)
	}
	group := c.groupOf(name)
	sizes, _ := asked["scalingConfig"].(map[string]any)
	size := func(of string) int {
		n, _ := sizes[of].(float64)
		return int(n)
	}
	var subnets []string
	listed, _ := asked["subnets"].([]any)
	for _, s := range listed {
		id, _ := s.(string)
		subnets = append(subnets, id)
	}
	cluster := st.Settings.ClusterName
	st.groups.AddForNodegroup(group, name, size("minSize"), size("maxSize"), size("desiredSize"), subnets)
	if asked["launchTemplate"] == nil && asked["diskSize"] == nil {
		asked["diskSize"] = 20
	}
	for field, usual := range map[string]any{"amiType": "AL2023_x86_64_STANDARD", "capacityType": "ON_DEMAND"} {
		if asked[field] == nil {
			asked[field] = usual
		}
	}
	delete(asked, "clientRequestToken")
	asked["status"], asked["clusterName"] = "ACTIVE", cluster
	asked["resources"] = map[string]any{"autoScalingGroups": []any{map[string]string{"name": group}}}
	st.Nodegroups[name] = asked
	return map[string]any{"nodegroup": asked}, nil
}

func (c *call) nodegroup() (map[string]any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	g := c.server.Nodegroups[c.Names["nodegroup"]]
	if g == nil {
		return nil, wire.Errorf("ResourceNotFoundException", "No node group found for name: %s.", c.Names["nodegroup"]).WithStatus(http.StatusNotFound)
	}
	return g, nil
}

func describeNodegroup(c *call) (any, error) {
	g, err := c.nodegroup()
	if err != nil {
		return nil, err
	}
	return map[string]any{"nodegroup": g}, nil
}

func listNodegroups(c *call) (any, error) {
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	return map[string]any{"nodegroups": append([]string{}, slices.Sorted(maps.Keys(c.server.Nodegroups))...)}, nil
}

// deleteNodegroup takes a node group off the record, and its Auto Scaling group with it.
func deleteNodegroup(c *call) (any, error) {
	g, err := c.nodegroup()
	if err != nil {
		return nil, err
	}
	name := c.Names["nodegroup"]
	delete(c.server.Nodegroups, name)
	c.server.groups.Forget(c.groupOf(name))
	shown := maps.Clone(g)
	shown["status"] = "DELETING"
	return map[string]any{"nodegroup": shown}, nil
}

// groupOf is the name of the Auto Scaling group that EKS makes for a node group.
func (c *call) groupOf(nodegroup string) string {
	return "eks-" + nodegroup + "-" + c.server.Settings.UniqueID("", nodegroup)
}
