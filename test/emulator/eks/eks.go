package eks

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// eksCluster is the account's one EKS cluster.
type eksCluster struct {
	Endpoint string
	CA       string // PEM
	At       time.Time
	RoleARN  string
	Updates  []clusterUpdate // of its version, in order
}

func newCluster(a world.Account, now time.Time) eksCluster {
	return eksCluster{
		Endpoint: a.Endpoint, CA: a.CA, At: now,
		RoleARN: fmt.Sprintf("arn:aws:iam::%s:role/eksctl-%s-cluster-ServiceRole", a.ID, a.ClusterName),
	}
}

// ofCluster fails where the path names another cluster than the account's.
func (c *call) ofCluster() error {
	if name := c.Names["cluster"]; name != c.server.Settings.ClusterName {
		return wire.Errorf("ResourceNotFoundException", "No cluster found for name: %s.", name).WithStatus(http.StatusNotFound)
	}
	return nil
}

func describeCluster(c *call) (any, error) {
	st := c.server
	a := st.Settings
	if err := c.ofCluster(); err != nil {
		return nil, err
	}
	vpc, group, subnets := st.network.ClusterNetwork()
	return map[string]any{"cluster": map[string]any{
		"name": a.ClusterName, "arn": a.ARN("eks", a.Region, "cluster/"+a.ClusterName), "createdAt": world.Seconds(st.Cluster.At),
		"version": st.kubernetes(c.At), "platformVersion": "eks.9", "status": st.clusterStatus(c.At), "roleArn": st.Cluster.RoleARN,
		"endpoint":             st.Cluster.Endpoint,
		"certificateAuthority": map[string]string{"data": base64.StdEncoding.EncodeToString([]byte(st.Cluster.CA))},
		"kubernetesNetworkConfig": map[string]any{
			"serviceIpv4Cidr": a.ServiceCIDR, "ipFamily": "ipv4", "elasticLoadBalancing": map[string]bool{"enabled": false},
		},
		"resourcesVpcConfig": map[string]any{
			"subnetIds": subnets, "securityGroupIds": []string{}, "clusterSecurityGroupId": group, "vpcId": vpc,
			"endpointPublicAccess": true, "endpointPrivateAccess": true, "publicAccessCidrs": []string{"0.0.0.0/0"},
		},
		"identity":      map[string]any{"oidc": map[string]string{"issuer": a.Issuer}},
		"accessConfig":  map[string]string{"authenticationMode": "API_AND_CONFIG_MAP"},
		"upgradePolicy": map[string]string{"supportType": "EXTENDED"},
		"health":        map[string]any{"issues": []any{}},
		"tags":          a.DiscoveryTags().AsMap(),
		"logging":       map[string]any{"clusterLogging": []any{}},
	}}, nil
}

func listClusters(c *call) (any, error) {
	return map[string]any{"clusters": []string{c.server.Settings.ClusterName}}, nil
}

// SetClusterEndpoint changes what EKS answers for the cluster's API server and
// its certificate authority (PEM).
func (s *EKS) SetClusterEndpoint(url, ca string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Cluster.Endpoint, s.Cluster.CA = url, ca
}
