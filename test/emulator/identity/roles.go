package identity

import (
	"fmt"
	"strings"
	"time"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// Role is one IAM role.
type Role struct {
	ID, Name, Path, Description string
	Trust                       string            // policy document
	SessionSeconds              int               // how long it may be assumed for; 0: an hour
	Policies                    []string          // attached: names of AWS's own, ARNs of the account's
	Inline                      map[string]string // documents by name
	CreatedAt                   time.Time
	Tags                        world.Tags
}

// Profile is one instance profile. EC2 does not know a new profile, or a new
// role in it, before UsableAt.
type Profile struct {
	ID, Name, Path string
	Role           string
	CreatedAt      time.Time
	UsableAt       time.Time
	Tags           world.Tags
}

// SpotRole is the role with which EC2 launches spot instances.
const SpotRole = "AWSServiceRoleForEC2Spot"

// EC2Trust lets instances have a role.
const EC2Trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`

// NewRoles makes the roles and the instance profile of the guides.
func NewRoles(a world.Account, now time.Time) (map[string]*Role, map[string]*Profile) {
	node := "KarpenterNodeRole-" + a.ClusterName
	roles := map[string]*Role{}
	for _, r := range []Role{
		{Name: node, Path: "/", Trust: EC2Trust, Policies: []string{
			"AmazonEKS_CNI_Policy", "AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore",
		}},
		{Name: a.ControllerRole(), Path: "/", Description: "rights of the autoscaler's controller", Trust: controllerTrust(a)},
		{Name: SpotRole, Path: "/aws-service-role/spot.amazonaws.com/",
			Trust: strings.ReplaceAll(EC2Trust, "ec2.amazonaws.com", "spot.amazonaws.com")},
	} {
		r.ID, r.CreatedAt = a.UniqueID("AROA", r.Name), now
		roles[r.Name] = &r
	}
	name := "KarpenterNodeInstanceProfile-" + a.ClusterName
	return roles, map[string]*Profile{name: {
		ID: a.UniqueID("AIPA", name), Name: name, Path: "/", Role: node, CreatedAt: now, UsableAt: now,
	}}
}

// RoleARN names a role of the account.
func (s *Identity) RoleARN(r *Role) string {
	return fmt.Sprintf("arn:aws:iam::%s:role%s%s", s.Settings.ID, r.Path, r.Name)
}

// ProfileARN names an instance profile of the account.
func (s *Identity) ProfileARN(p *Profile) string {
	return fmt.Sprintf("arn:aws:iam::%s:instance-profile%s%s", s.Settings.ID, p.Path, p.Name)
}

// Passing is the right to give instances a role.
func (s *Identity) Passing(r *Role) iampolicy.Call {
	n := Need("iam:PassRole", s.RoleARN(r))
	n.Context.Set("iam:PassedToService", "ec2.amazonaws.com")
	return n
}

// Limits of STS on how long credentials of a role hold.
const (
	SessionLeast   = 15 * time.Minute
	SessionMost    = 12 * time.Hour
	SessionDefault = time.Hour // and the most that a role allows of itself, and for whom has a role already
)

// SessionMost is how long credentials of the role hold at most.
func (r *Role) SessionMost() time.Duration {
	if r.SessionSeconds == 0 {
		return SessionDefault
	}
	return time.Duration(r.SessionSeconds) * time.Second
}

// PodsService is who assumes roles for pods, as their trust policies name it.
const PodsService = "pods.eks.amazonaws.com"

// controllerTrust lets the controller's service account have its role by EKS Pod Identity and by IRSA.
func controllerTrust(a world.Account) string {
	issuer := ProviderName(a.Issuer)
	return strings.TrimSpace(iampolicy.Document{Statements: []iampolicy.Statement{
		{Effect: iampolicy.Allow, Principal: map[string][]string{iampolicy.PrincipalService: {PodsService}}, Actions: []string{"sts:AssumeRole", "sts:TagSession"}},
		{Effect: iampolicy.Allow, Principal: map[string][]string{iampolicy.PrincipalFederated: {a.ProviderARN(issuer)}}, Actions: []string{"sts:AssumeRoleWithWebIdentity"},
			Conditions: []iampolicy.Condition{
				{Operator: "StringEquals", Key: issuer + ":aud", Values: []string{stsAudience}},
				{Operator: "StringEquals", Key: issuer + ":sub", Values: []string{"system:serviceaccount:kube-system:karpenter"}},
			}},
	}}.JSON())
}

// CheckTrust refuses, as IAM does, what is no trust policy, and what cannot be decided on here.
func CheckTrust(document string) error {
	if err := CheckDocument(document); err != nil {
		return err
	}
	if _, err := iampolicy.ReadTrust("the trust policy", []byte(document)); err != nil {
		return wire.Errorf("MalformedPolicyDocument", "%s", err.Error())
	}
	return nil
}

// Trusts says what a role's trust policy makes of all these actions of a caller: the least that it says of one.
func (s *Identity) Trusts(r *Role, who iampolicy.Caller, context iampolicy.Context, actions ...string) (iampolicy.Decision, error) {
	d, err := iampolicy.ReadTrust("the trust policy", []byte(r.Trust))
	if err != nil {
		return "", fmt.Errorf("the emulator cannot decide who may assume role %s: %w", r.Name, err)
	}
	context.Set("aws:SecureTransport", "true")
	decision := iampolicy.Allowed
	for _, action := range actions {
		one, _, err := d.Trusts(who, iampolicy.Call{Action: action, Resource: s.RoleARN(r), Context: context})
		if err != nil {
			return "", err
		}
		if one != iampolicy.Allowed && decision != iampolicy.ExplicitDeny {
			decision = one
		}
	}
	return decision, nil
}

// RoleByARN finds a role of the account; nil where there is none.
func (s *Identity) RoleByARN(arn string) *Role {
	if r := s.Roles[world.RoleOf(arn)]; r != nil && s.RoleARN(r) == arn {
		return r
	}
	return nil
}
