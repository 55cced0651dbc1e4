package aws

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/userdata"
)

// versionKeptFor is how long EKS's word on the version is believed.
const versionKeptFor = 5 * time.Minute

// version is what EKS said last.
type version struct {
	text string
	at   time.Time
}

// Check reports whether AWS can be used as configured, and learns what it can about the
// cluster from EKS. Its error is one line that names the setting that is wrong and the way
// out.
func (p *Provider) Check(ctx context.Context) error {
	_, err := p.clients.EC2.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{DryRun: sdk.Bool(true)})
	if err != nil && fault.Code(err) != "DryRunOperation" {
		return p.advise("ec2:DescribeInstanceTypes", err)
	}
	c := p.clusterFacts()
	if c.Endpoint != "" && c.CA != "" && c.CIDR != "" {
		return nil
	}
	found, err := p.describeCluster(ctx)
	switch {
	case err == nil:
		p.learn(found)
		return nil
	case fault.Code(err) == "ResourceNotFoundException":
		return fmt.Errorf("EKS has no cluster %q in region %s: set CLUSTER_NAME (settings.clusterName) and AWS_REGION to the cluster's",
			p.options.Cluster, p.clients.Region)
	case c.Endpoint != "" && c.CA != "" && fault.Reason(fault.Code(err), "") == "Unauthorized":
		return nil // only AL2023 needs the rest, and says so when it does
	}
	return p.advise("eks:DescribeCluster", err)
}

// advise says in one line what to do about an error of a first call.
func (p *Provider) advise(call string, err error) error {
	code := fault.Code(err)
	name, isNameError := errors.AsType[*net.DNSError](err)
	switch unknown := fault.Identity(err, p.options.Now()); {
	case unknown != "":
		return fmt.Errorf("AWS does not know the controller, so %s cannot be called: %s (%s)", call, unknown, oneLine(fault.Message(err)))
	case fault.Reason(code, "") == "Unauthorized":
		return fmt.Errorf("AWS does not allow %s (%s: %s): attach the controller's IAM policies to its role, and check its credentials",
			call, code, oneLine(fault.Message(err)))
	case fault.Throttled(err):
		return fmt.Errorf("AWS throttles %s: another program in this account calls it too often", call)
	case code != "":
		return fmt.Errorf("AWS answers %s with %s: %s", call, code, oneLine(fault.Message(err)))
	case isNameError:
		return fmt.Errorf("DNS does not know %s, which %s is sent to (%s): if CoreDNS has no pods yet, set dnsPolicy to Default, by which the controller asks the node's own DNS; else check AWS_REGION, AWS_ENDPOINT_URL and the VPC's DNS",
			name.Name, call, oneLine(name.Error()))
	case fault.RoleCall(err) != "":
		call = fault.RoleCall(err) // STS cannot be reached, which says nothing about credentials
	case strings.Contains(err.Error(), "credentials"):
		return fmt.Errorf("no AWS credentials (%s): give the controller's service account a role, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
			oneLine(root(err).Error()))
	}
	return fmt.Errorf("AWS cannot be reached in region %s (%s: %s): check AWS_REGION, AWS_ENDPOINT_URL and the way out of this network, which is a VPC endpoint of the service where there is no internet",
		p.clients.Region, call, oneLine(root(err).Error()))
}

func (p *Provider) describeCluster(ctx context.Context) (*types.Cluster, error) {
	out, err := p.clients.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: sdk.String(p.options.Cluster)})
	if err != nil {
		return nil, err
	}
	if out.Cluster == nil {
		return nil, errors.New("EKS answered without a cluster")
	}
	return out.Cluster, nil
}

// learn takes over what is not configured.
func (p *Provider) learn(found *types.Cluster) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fill(&p.cluster, found)
	p.version = version{sdk.ToString(found.Version), p.options.Now()}
}

func fill(c *userdata.Cluster, found *types.Cluster) {
	if c.Endpoint == "" {
		c.Endpoint = sdk.ToString(found.Endpoint)
	}
	if c.CA == "" && found.CertificateAuthority != nil {
		c.CA = sdk.ToString(found.CertificateAuthority.Data)
	}
	if n := found.KubernetesNetworkConfig; c.CIDR == "" && n != nil {
		c.CIDR = sdk.ToString(n.ServiceIpv4Cidr)
		if n.IpFamily == types.IpFamilyIpv6 {
			c.CIDR = sdk.ToString(n.ServiceIpv6Cidr)
		}
	}
}

// learnCIDR asks EKS for the cluster's service network where instances of the class need it
// and it is not known: the right that was missing at the start may be granted by now.
func (p *Provider) learnCIDR(ctx context.Context, class nodeclass.Class) {
	if class.Spec.EffectiveFamily() != nodeclass.AL2023 || p.clusterFacts().CIDR != "" {
		return
	}
	if found, err := p.describeCluster(ctx); err == nil { // else user data cannot be written, which says why
		p.learn(found)
	}
}

// KubernetesVersion is the version that images are for: that of the options, else EKS's.
func (p *Provider) KubernetesVersion(ctx context.Context) (string, error) {
	if p.options.KubernetesVersion != nil {
		return p.options.KubernetesVersion(ctx)
	}
	p.mu.Lock()
	known := p.version
	p.mu.Unlock()
	if known.text != "" && p.options.Now().Sub(known.at) < versionKeptFor {
		return known.text, nil
	}
	found, err := p.describeCluster(ctx)
	if err != nil {
		return "", fault.Wrap("eks:DescribeCluster", err)
	}
	p.learn(found)
	return sdk.ToString(found.Version), nil
}

// root is the innermost cause of an error.
func root(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
