package profile

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// account is a emulated IAM: profiles with at most one role.
type account struct {
	roles    []string
	profiles map[string]*types.InstanceProfile
	calls    []string
	unseen   bool // profiles are not seen where roles are added
	listsAll bool // whatever path is asked for
}

func newAccount() *account {
	return &account{roles: []string{"node-a", "node-b"}, profiles: map[string]*types.InstanceProfile{}}
}

func (a *account) find(call string, name *string) (*types.InstanceProfile, error) {
	a.calls = append(a.calls, call)
	if p, ok := a.profiles[aws.ToString(name)]; ok {
		return p, nil
	}
	return nil, &types.NoSuchEntityException{}
}

func (a *account) GetInstanceProfile(_ context.Context, in *iam.GetInstanceProfileInput, _ ...func(*iam.Options)) (*iam.GetInstanceProfileOutput, error) {
	p, err := a.find("get", in.InstanceProfileName)
	return &iam.GetInstanceProfileOutput{InstanceProfile: p}, err
}

func (a *account) CreateInstanceProfile(_ context.Context, in *iam.CreateInstanceProfileInput, _ ...func(*iam.Options)) (*iam.CreateInstanceProfileOutput, error) {
	if _, err := a.find("create", in.InstanceProfileName); err == nil {
		return nil, &types.EntityAlreadyExistsException{}
	}
	p := &types.InstanceProfile{InstanceProfileName: in.InstanceProfileName, Path: in.Path, Tags: in.Tags}
	a.profiles[*in.InstanceProfileName] = p
	return &iam.CreateInstanceProfileOutput{InstanceProfile: p}, nil
}

func (a *account) DeleteInstanceProfile(_ context.Context, in *iam.DeleteInstanceProfileInput, _ ...func(*iam.Options)) (*iam.DeleteInstanceProfileOutput, error) {
	p, err := a.find("delete", in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	if len(p.Roles) > 0 {
		return nil, &types.DeleteConflictException{}
	}
	delete(a.profiles, *in.InstanceProfileName)
	return &iam.DeleteInstanceProfileOutput{}, nil
}

func (a *account) AddRoleToInstanceProfile(_ context.Context, in *iam.AddRoleToInstanceProfileInput, _ ...func(*iam.Options)) (*iam.AddRoleToInstanceProfileOutput, error) {
	p, err := a.find("add "+*in.RoleName, in.InstanceProfileName)
	if a.unseen {
		return nil, &types.NoSuchEntityException{Message: aws.String("Instance Profile " + *in.InstanceProfileName + " cannot be found.")}
	}
	if err != nil {
		return nil, err
	}
	if len(p.Roles) > 0 {
		return nil, &types.LimitExceededException{}
	}
	for _, r := range a.roles {
		if r == *in.RoleName {
			p.Roles = []types.Role{{RoleName: in.RoleName}}
			return &iam.AddRoleToInstanceProfileOutput{}, nil
		}
	}
	return nil, &types.NoSuchEntityException{}
}

func (a *account) RemoveRoleFromInstanceProfile(_ context.Context, in *iam.RemoveRoleFromInstanceProfileInput, _ ...func(*iam.Options)) (*iam.RemoveRoleFromInstanceProfileOutput, error) {
	p, err := a.find("remove "+*in.RoleName, in.InstanceProfileName)
	if err == nil {
		p.Roles = nil
	}
	return &iam.RemoveRoleFromInstanceProfileOutput{}, err
}

func (a *account) ListInstanceProfiles(_ context.Context, in *iam.ListInstanceProfilesInput, _ ...func(*iam.Options)) (*iam.ListInstanceProfilesOutput, error) {
	out := &iam.ListInstanceProfilesOutput{}
	for _, p := range a.profiles {
		if a.listsAll || strings.HasPrefix(aws.ToString(p.Path), aws.ToString(in.PathPrefix)) {
			out.InstanceProfiles = append(out.InstanceProfiles, *p)
		}
	}
	return out, nil
}

func class(role string) nodeclass.Class {
	return nodeclass.Class{Name: "default", UID: "uid-1", Spec: nodeclass.Spec{Role: role, Tags: map[string]string{"team": "web"}}}
}

func TestEnsureMakesAProfileOnce(t *testing.T) {
	a := newAccount()
	k := Profiles{API: a, Cluster: "prod", Region: "us-east-1"}
	name, err := k.Ensure(t.Context(), class("arn:aws:iam::123456789012:role/path/node-a"))
	if err != nil {
		t.Fatal(err)
	}
	p := a.profiles[name]
	if p == nil || !strings.HasPrefix(name, "prod_") || aws.ToString(p.Path) != "/karpenter/us-east-1/prod/uid-1/" {
		t.Fatalf("made %q: %+v", name, p)
	}
	if len(p.Roles) != 1 || *p.Roles[0].RoleName != "node-a" {
		t.Errorf("its roles are %+v, want node-a", p.Roles)
	}
	want := map[string]string{"kubernetes.io/cluster/prod": "owned", "eks:eks-cluster-name": "prod", "team": "web",
		"karpenter.k8s.aws/ec2nodeclass": "default", "topology.kubernetes.io/region": "us-east-1"}
	for _, tag := range p.Tags {
		if want[*tag.Key] != *tag.Value {
			t.Errorf("tag %s=%s, want %q", *tag.Key, *tag.Value, want[*tag.Key])
		}
		delete(want, *tag.Key)
	}
	if len(want) > 0 {
		t.Errorf("tags missing: %v", want)
	}
	a.calls = nil
	again, err := k.Ensure(t.Context(), class("arn:aws:iam::123456789012:role/path/node-a"))
	if err != nil || again != name || strings.Join(a.calls, " ") != "get" {
		t.Errorf("again: %q, %v, calls %v; want the same name from one look", again, err, a.calls)
	}
}

func TestEnsureRepairsWhatIsHalfMade(t *testing.T) {
	for what, roles := range map[string][]types.Role{"no role": nil, "another role": {{RoleName: aws.String("node-b")}}} {
		a := newAccount()
		k := Profiles{API: a, Cluster: "prod", Region: "us-east-1"}
		name := k.Name(class("node-a"))
		a.profiles[name] = &types.InstanceProfile{InstanceProfileName: &name, Roles: roles}
		if _, err := k.Ensure(t.Context(), class("node-a")); err != nil {
			t.Fatal(err)
		}
		if r := a.profiles[name].Roles; len(r) != 1 || *r[0].RoleName != "node-a" {
			t.Errorf("a profile with %s has now the roles %+v", what, r)
		}
	}
}

func TestEnsureLeavesTheUsersProfileAlone(t *testing.T) {
	a := newAccount()
	c := nodeclass.Class{Spec: nodeclass.Spec{InstanceProfile: "mine"}}
	name, err := Profiles{API: a}.Ensure(t.Context(), c)
	if err != nil || name != "mine" || len(a.calls) > 0 {
		t.Errorf("Ensure = %q, %v after calls %v", name, err, a.calls)
	}
}

func TestEnsureNamesARoleThatIsNotThere(t *testing.T) {
	_, err := Profiles{API: newAccount(), Cluster: "prod"}.Ensure(t.Context(), class("nobody"))
	missing, ok := errors.AsType[*nodeclass.MissingError](err)
	if !ok || missing.Reason != nodeclass.RoleNotFound || !strings.Contains(missing.Text, "nobody") {
		t.Errorf("Ensure = %v, want an answer naming the role", err)
	}
}

// IAM's reply to a call may not know of the one before it: that is no word on the role.
func TestAProfileThatIAMDoesNotSeeYetSaysNothingOfItsRole(t *testing.T) {
	a := newAccount()
	a.unseen = true
	k := Profiles{API: a, Cluster: "prod"}
	_, err := k.Ensure(t.Context(), class("node-a"))
	if _, missing := errors.AsType[*nodeclass.MissingError](err); err == nil || missing {
		t.Errorf("Ensure = %v, want an error that says nothing of the role", err)
	}
	a.unseen = false
	if _, err := k.Ensure(t.Context(), class("node-a")); err != nil || len(a.profiles) != 1 {
		t.Errorf("Ensure again: %v, with %d profiles; want the one", err, len(a.profiles))
	}
}

func TestDeleteRemovesAllOfOneClass(t *testing.T) {
	a := newAccount()
	k := Profiles{API: a, Cluster: "prod", Region: "us-east-1"}
	other := nodeclass.Class{Name: "other", UID: "uid-2", Spec: nodeclass.Spec{Role: "node-a"}}
	for _, c := range []nodeclass.Class{class("node-a"), class("node-b"), other} {
		if _, err := k.Ensure(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.profiles) != 3 {
		t.Fatalf("made %d profiles, want one a class and role", len(a.profiles))
	}
	for range 2 { // the second time there is nothing left to do
		if err := k.Delete(t.Context(), "uid-1"); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.profiles) != 1 || a.profiles[k.Name(other)] == nil {
		t.Errorf("left: %v, want the other class's alone", a.profiles)
	}
}
