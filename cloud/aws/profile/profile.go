// Package profile makes sure that a class has an instance profile, through which its instances get
// their role.
//
// It promises one profile for each class and role, with a name that depends only on cluster, region,
// class and role, and that repeating a call changes nothing. It never changes a profile that the user
// named.
package profile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

type api interface {
	iam.ListInstanceProfilesAPIClient
	iam.GetInstanceProfileAPIClient
	CreateInstanceProfile(context.Context, *iam.CreateInstanceProfileInput, ...func(*iam.Options)) (*iam.CreateInstanceProfileOutput, error)
	DeleteInstanceProfile(context.Context, *iam.DeleteInstanceProfileInput, ...func(*iam.Options)) (*iam.DeleteInstanceProfileOutput, error)
	AddRoleToInstanceProfile(context.Context, *iam.AddRoleToInstanceProfileInput, ...func(*iam.Options)) (*iam.AddRoleToInstanceProfileOutput, error)
	RemoveRoleFromInstanceProfile(context.Context, *iam.RemoveRoleFromInstanceProfileInput, ...func(*iam.Options)) (*iam.RemoveRoleFromInstanceProfileOutput, error)
}

// Profiles makes and removes instance profiles of one cluster in one region.
type Profiles struct {
	API     api
	Cluster string
	Region  string
}

// Ensure returns the name of the class's profile, making it where it is not there. With
// Spec.InstanceProfile it returns that name and makes no calls.
func (k Profiles) Ensure(ctx context.Context, class nodeclass.Class) (string, error) {
	if class.Spec.InstanceProfile != "" {
		return class.Spec.InstanceProfile, nil
	}
	name, role := k.Name(class), roleName(class.Spec.Role)
	have, err := k.API.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &name})
	switch {
	case fault.NotFound(err):
		if err := k.create(ctx, name, class); err != nil {
			return "", err
		}
	case err != nil:
		return "", wrap("iam:GetInstanceProfile", err)
	case slices.ContainsFunc(have.InstanceProfile.Roles, func(r types.Role) bool { return aws.ToString(r.RoleName) == role }):
		return name, nil
	default:
		if err := k.removeRoles(ctx, *have.InstanceProfile); err != nil {
			return "", err
		}
	}
	return name, k.addRole(ctx, name, role)
}

// Delete removes every profile that was made for the class. A profile that is
// already gone is none of its business.
func (k Profiles) Delete(ctx context.Context, uid string) error {
	made, err := k.list(ctx, k.path(uid))
	if err != nil {
		return err
	}
	for _, p := range made {
		if err := k.Remove(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes a profile. That it is gone already is no error.
func (k Profiles) Remove(ctx context.Context, p types.InstanceProfile) error {
	if err := k.removeRoles(ctx, p); err != nil {
		return err
	}
	_, err := k.API.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: p.InstanceProfileName})
	if err != nil && !fault.NotFound(err) {
		return wrap("iam:DeleteInstanceProfile", err)
	}
	return nil
}

// Name is the name of the class's profile: the cluster's, and a hash over
// what the profile belongs to.
func (k Profiles) Name(class nodeclass.Class) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{k.Region, k.Cluster, class.Name, class.UID, class.Spec.Role}, "\x00")))
	return k.Cluster + "_" + hex.EncodeToString(sum[:10])
}

// prefix begins the paths of all profiles of the cluster.
func (k Profiles) prefix() string { return fmt.Sprintf("/karpenter/%s/%s/", k.Region, k.Cluster) }

func (k Profiles) path(uid string) string { return k.prefix() + uid + "/" }

func (k Profiles) create(ctx context.Context, name string, class nodeclass.Class) error {
	_, err := k.API.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{
		InstanceProfileName: &name, Path: aws.String(k.path(class.UID)), Tags: k.tags(class),
	})
	if err != nil && !fault.Exists(err) {
		return wrap("iam:CreateInstanceProfile", err)
	}
	return nil
}

func (k Profiles) tags(class nodeclass.Class) []types.Tag {
	all := map[string]string{}
	maps.Copy(all, class.Spec.Tags)
	maps.Copy(all, map[string]string{
		"kubernetes.io/cluster/" + k.Cluster: "owned",
		"eks:eks-cluster-name":               k.Cluster,
		"karpenter.k8s.aws/ec2nodeclass":     class.Name,
		"topology.kubernetes.io/region":      k.Region,
	})
	out := make([]types.Tag, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, types.Tag{Key: aws.String(key), Value: aws.String(all[key])})
	}
	return out
}

func (k Profiles) addRole(ctx context.Context, name, role string) error {
	_, err := k.API.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: &name, RoleName: &role})
	if fault.NotFound(err) && !strings.Contains(fault.Message(err), "Instance Profile") { // which IAM may not see for a moment after it made it
		return &nodeclass.MissingError{Reason: nodeclass.RoleNotFound, Text: fmt.Sprintf(
			"there is no IAM role %s, which spec.role names: create the role for nodes, or correct spec.role", role)}
	}
	if err != nil && fault.Code(err) != "LimitExceeded" { // someone added it at the same time
		return wrap("iam:AddRoleToInstanceProfile", err)
	}
	return nil
}

func (k Profiles) removeRoles(ctx context.Context, p types.InstanceProfile) error {
	for _, r := range p.Roles {
		_, err := k.API.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{
			InstanceProfileName: p.InstanceProfileName, RoleName: r.RoleName,
		})
		if err != nil && !fault.NotFound(err) {
			return wrap("iam:RemoveRoleFromInstanceProfile", err)
		}
	}
	return nil
}

// roleName is the last part of a role given with its path or ARN.
func roleName(role string) string { return role[strings.LastIndex(role, "/")+1:] }

// wrap names the call, and another way out where rights are missing.
func wrap(call string, err error) error {
	err = fault.Wrap(call, err)
	if refused, ok := errors.AsType[*cloud.RefusedError](err); ok && refused.Reason == "Unauthorized" {
		return &cloud.RefusedError{Reason: refused.Reason,
			Cause: refused.Cause + ", or name a profile in spec.instanceProfile"}
	}
	return err
}
