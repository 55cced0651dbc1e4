// Package audit asks AWS who the caller is, and which of the permissions that the controller needs a
// role has.
//
// It promises to change nothing: it only reads, simulates policies, and makes calls with the dry-run
// flag. It does not know Kubernetes.
package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/pace"
	"github.com/daemok/daemok/internal/pause"
)

// Auditor asks one account in one region. Open makes one.
type Auditor struct {
	clients client.Clients
}

// Open connects to AWS as the SDK is configured. An empty region is the one that the SDK finds. It
// makes no calls but for that.
func Open(ctx context.Context, region, agent string) (*Auditor, error) {
	clients, err := client.New(ctx, region, agent, nil, nil, pace.New(time.Now, pause.For), client.Role{})
	if err != nil {
		return nil, err
	}
	return &Auditor{clients}, nil
}

// Region is where the auditor asks.
func (a *Auditor) Region() string { return a.clients.Region }

// Caller is who calls AWS.
type Caller struct {
	Account   string // 12 digits
	Partition string
	ARN       string // of a user, a role's session or the account itself
}

// Role is the name of the role that the caller has taken; empty where it is no role.
func (c Caller) Role() string {
	_, rest, is := strings.Cut(c.ARN, ":assumed-role/")
	if !is {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// Caller asks AWS who is calling, which needs no right.
func (a *Auditor) Caller(ctx context.Context) (Caller, error) {
	out, err := a.clients.STS.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return Caller{}, fmt.Errorf("ask AWS whose credentials these are: %w", asked("sts:GetCallerIdentity", err))
	}
	c := Caller{Account: aws.ToString(out.Account), ARN: aws.ToString(out.Arn), Partition: "aws"}
	if parts := strings.Split(c.ARN, ":"); len(parts) > 1 {
		c.Partition = parts[1]
	}
	return c, nil
}

// ErrDenied says that the caller lacks a right.
var ErrDenied = errors.New("you lack the right")

// asked names the call that failed. A right that is missing is the caller's, not the controller's, to which the advice of
// package fault is addressed.
func asked(call string, err error) error {
	if fault.Denied(err) {
		return fmt.Errorf("%w %s: %s", ErrDenied, call, words(err))
	}
	return fault.Wrap(call, err)
}

// RolesOfProfile are the ARNs of the roles in an instance profile: one, or none.
func (a *Auditor) RolesOfProfile(ctx context.Context, name string) ([]string, error) {
	out, err := a.clients.IAM.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &name})
	if err != nil {
		return nil, asked("iam:GetInstanceProfile", err)
	}
	var all []string
	for _, r := range out.InstanceProfile.Roles {
		all = append(all, aws.ToString(r.Arn))
	}
	return all, nil
}
