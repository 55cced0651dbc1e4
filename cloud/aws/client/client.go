// Package client makes the SDK's clients for the services that the adapter calls, configured as the
// SDK itself would be: environment, shared files, instance metadata.
//
// New promises that AWS_ENDPOINT_URL, AWS_REGION and credentials are enough to redirect every call,
// and that every call is reported to the observer. It calls only the metadata service, for the region.
// At is for callers that know the endpoint, the region and the key, and want nothing else read.
package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/savingsplans"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/daemok/daemok/cloud/aws/pace"
	"github.com/daemok/daemok/cloud/aws/price"
)

// callTimeout is how long one HTTP exchange may take.
const callTimeout = 4 * time.Minute

// Clients holds a client for each service. Pricing is nil where the region's
// prices cannot be asked for, and Plans where Savings Plans cannot.
type Clients struct {
	Region  string
	EC2     *ec2.Client
	IAM     *iam.Client
	SSM     *ssm.Client
	EKS     *eks.Client
	SQS     *sqs.Client
	Quotas  *servicequotas.Client
	Pricing *pricing.Client
	Plans   *savingsplans.Client
	ARC     *arczonalshift.Client
	Scaling *autoscaling.Client
	STS     *sts.Client
	Events  *eventbridge.Client
}

// ErrNoRegion says that no region is configured and none could be found.
var ErrNoRegion = errors.New("no AWS region is known: set AWS_REGION to the cluster's region")

// Doer carries HTTP requests out.
type Doer = aws.HTTPClient

// Role is one to assume for all calls. Without an ARN there is none.
type Role struct {
	ARN string
	For time.Duration // how long credentials of it are asked for
}

// New reads the configuration, and assumes the role where there is one. Agent names the program to AWS, as
// "name/version". Where do is nil the SDK's own client carries requests out.
// Calls of EC2 go at the pace of p. The observer may be nil.
// Further options are of every client.
func New(ctx context.Context, region, agent string, do Doer, observer Observer, p *pace.Pace, role Role, further ...func(*stack) error) (Clients, error) {
	if do == nil {
		do = http.NewBuildableClient().WithTimeout(callTimeout)
	}
	options := []func(*config.LoadOptions) error{
		config.WithHTTPClient(do),
		config.WithAPIOptions(append(append(observe(observer), PlainBody), further...)),
	}
	if region != "" {
		options = append(options, config.WithRegion(region))
	} else {
		options = append(options, config.WithEC2IMDSRegion())
	}
	if name, version, _ := strings.Cut(agent, "/"); name != "" {
		options = append(options, config.WithAPIOptions([]func(*stack) error{middleware.AddUserAgentKeyValue(name, version)}))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return Clients{}, fmt.Errorf("load AWS configuration: %w; set AWS_REGION to the cluster's region: EKS sets it in pods whose ServiceAccount had a role, by Pod Identity or IRSA, when they were created; daemok doctor, check credentials, says what is missing", err)
	}
	if cfg.Region == "" {
		return Clients{}, ErrNoRegion
	}
	if role.ARN != "" {
		cfg.Credentials = aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), role.ARN, func(o *stscreds.AssumeRoleOptions) {
			o.Duration, o.RoleSessionName = role.For, "daemok"
		}))
	}
	return From(cfg, p), nil
}

// From makes the clients of a configuration. Calls of EC2 go at the pace of p.
func From(cfg aws.Config, p *pace.Pace) Clients {
	cfg.Retryer = func() aws.Retryer { return retryer() }
	c := Clients{Region: cfg.Region, EC2: ec2.NewFromConfig(cfg, ec2.WithAPIOptions(paced(p))), IAM: iam.NewFromConfig(cfg),
		SSM: ssm.NewFromConfig(cfg), EKS: eks.NewFromConfig(cfg), SQS: sqs.NewFromConfig(cfg), Quotas: servicequotas.NewFromConfig(cfg),
		ARC: arczonalshift.NewFromConfig(cfg), Scaling: autoscaling.NewFromConfig(cfg), STS: sts.NewFromConfig(cfg),
		Events: eventbridge.NewFromConfig(cfg)}
	if region := price.EndpointRegion(cfg.Region); region != "" {
		c.Pricing = pricing.NewFromConfig(cfg, func(o *pricing.Options) { o.Region = region })
	}
	if region := price.PlansRegion(cfg.Region); region != "" {
		c.Plans = savingsplans.NewFromConfig(cfg, func(o *savingsplans.Options) { o.Region = region })
	}
	return c
}
