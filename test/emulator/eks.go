package emulator

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
)

// eksCluster is the account's one EKS cluster.
type eksCluster struct {
	Endpoint string
	CA       string // PEM
	At       time.Time
	RoleARN  string
	Updates  []clusterUpdate // of its version, in order
}

func newCluster(s *state) eksCluster {
	a := s.Account
	return eksCluster{
		Endpoint: a.Endpoint, CA: a.CA, At: s.CreatedAt,
		RoleARN: fmt.Sprintf("arn:aws:iam::%s:role/eksctl-%s-cluster-ServiceRole", a.ID, a.ClusterName),
	}
}

// ofCluster fails where the path names another cluster than the account's.
func (c *call) ofCluster() error {
	if name := c.names["cluster"]; name != c.state().Account.ClusterName {
		return wire.Errorf("ResourceNotFoundException", "No cluster found for name: %s.", name).WithStatus(http.StatusNotFound)
	}
	return nil
}

func describeCluster(c *call) (any, error) {
	st := c.state()
	a := st.Account
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	subnets := []string{}
	for _, s := range st.Subnets {
		subnets = append(subnets, s.ID)
	}
	return map[string]any{"cluster": map[string]any{
		"name": a.ClusterName, "arn": a.arn("eks", a.Region, "cluster/"+a.ClusterName), "createdAt": seconds(st.Cluster.At),
		"version": st.kubernetes(c.now), "platformVersion": "eks.9", "status": st.clusterStatus(c.now), "roleArn": st.Cluster.RoleARN,
		"endpoint":             st.Cluster.Endpoint,
		"certificateAuthority": map[string]string{"data": base64.StdEncoding.EncodeToString([]byte(st.Cluster.CA))},
		"kubernetesNetworkConfig": map[string]any{
			"serviceIpv4Cidr": a.ServiceCIDR, "ipFamily": "ipv4", "elasticLoadBalancing": map[string]bool{"enabled": false},
		},
		"resourcesVpcConfig": map[string]any{
			"subnetIds": subnets, "securityGroupIds": []string{}, "clusterSecurityGroupId": st.clusterGroup().ID, "vpcId": st.clusterVPC().ID,
			"endpointPublicAccess": true, "endpointPrivateAccess": true, "publicAccessCidrs": []string{"0.0.0.0/0"},
		},
		"identity":      map[string]any{"oidc": map[string]string{"issuer": a.Issuer}},
		"accessConfig":  map[string]string{"authenticationMode": "API_AND_CONFIG_MAP"},
		"upgradePolicy": map[string]string{"supportType": "EXTENDED"},
		"health":        map[string]any{"issues": []any{}},
		"tags":          a.discoveryTags().asMap(),
		"logging":       map[string]any{"clusterLogging": []any{}},
	}}, nil
}

func listClusters(c *call) (any, error) {
	return map[string]any{"clusters": []string{c.state().Account.ClusterName}}, nil
}
