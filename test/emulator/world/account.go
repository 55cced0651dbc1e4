package world

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// RoleOf is the name at the end of a role's ARN.
func RoleOf(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// Account says what the emulated AWS account holds at the start. Zero fields
// take the defaults written beside them.
type Account struct {
	ID          string            // "123456789012"
	Region      string            // "us-east-1"
	ClusterName string            // "lab"
	EKSVersion  string            // Kubernetes version that EKS answers and images are published for: "1.36"
	Endpoint    string            // API server of the cluster; SetClusterEndpoint changes it later
	CA          string            // certificate authority, PEM
	ServiceCIDR string            // "10.100.0.0/16"
	Issuer      string            // OIDC issuer of the cluster's tokens: "https://oidc.eks.<region>.amazonaws.com/id/<ID of the cluster>"
	Tags        map[string]string // put on subnets and the cluster's group beside the usual ones
}

func (a Account) withDefaults() Account {
	a.ID = cmp.Or(a.ID, "123456789012")
	a.Region = cmp.Or(a.Region, "us-east-1")
	a.ClusterName = cmp.Or(a.ClusterName, "lab")
	a.EKSVersion = cmp.Or(a.EKSVersion, "1.36")
	a.Endpoint = cmp.Or(a.Endpoint, "https://127.0.0.1:6443")
	a.ServiceCIDR = cmp.Or(a.ServiceCIDR, "10.100.0.0/16")
	a.Issuer = cmp.Or(a.Issuer, "https://oidc.eks."+a.Region+".amazonaws.com/id/"+a.UniqueID("", a.ClusterName))
	return a
}

// DiscoveryTags are what the getting-started guides put on everything that a
// node class selects.
func (a Account) DiscoveryTags() Tags {
	return TagsFrom(a.Tags).With(Tag{Key: "karpenter.sh/discovery", Value: a.ClusterName})
}

// ARN names a resource of the account.
func (a Account) ARN(service, region, resource string) string {
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", service, region, a.ID, resource)
}

// EC2ARN names something of EC2 in the account.
func (a Account) EC2ARN(kind, id string) string { return a.ARN("ec2", a.Region, kind+"/"+id) }

// StableID is an AWS-like identifier that depends on its names alone, so that
// two accounts with the same settings are equal.
func (a Account) StableID(prefix string, names ...string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q", append([]string{a.ID, a.Region, a.ClusterName, prefix}, names...))
	return prefix + "-" + hex.EncodeToString(h.Sum(nil))[:17]
}

// NewID draws the next identifier of a kind, such as lt-0a1b….
func (s *World) NewID(prefix string) string {
	s.NextID++
	return s.Settings.StableID(prefix, "drawn", fmt.Sprint(s.NextID))
}

// Zone is one availability zone.
type Zone struct{ Name, ID string }

// UniqueID is an identifier as IAM makes them: AIPA and AROA with capitals.
func (a Account) UniqueID(prefix, name string) string {
	_, hex, _ := strings.Cut(a.StableID(prefix, name), "-")
	return prefix + strings.ToUpper(hex)
}

// ProviderARN names an OIDC provider of the account.
func (a Account) ProviderARN(name string) string { return a.ARN("iam", "", "oidc-provider/"+name) }

// ControllerRole is the name of the role that the guides make for the controller.
func (a Account) ControllerRole() string { return a.ClusterName + "-karpenter" }
