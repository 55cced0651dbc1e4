package stories_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
)

// A profile loses its role, so that EC2 offers nothing that is to have it, and before that
// is put right the pods go: the launches made for them are withdrawn, and no instance is
// launched without a pod. The next pod gets its instance.
func TestUnneededLaunchesAreNotMade(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	profile := s.profile()
	s.class(s.namespace, "instanceProfile: "+s.namespace)
	s.poolOf(s.namespace, s.namespace, "")
	s.awaitCondition(classes, s.namespace, "Ready", "True")
	profile.loseRole()
	s.workload("pods", s.namespace, "1", 2)
	s.awaitEvent(eventsOfCluster, "NodeClaim", s.namespace, "no associated IAM Roles")
	s.workload("pods", s.namespace, "1", 0)
	s.awaitEvent(eventsOfCluster, "NodeClaim", s.namespace, "Withdrawn", "no pod waits for it any more")
	s.await("no claim", claims, ofPool(s.namespace, 0))
	profile.getRole()
	s.workload("pods", s.namespace, "1", 1)
	s.await("the pod to run", "v1/Pod", of("pods", running(1)))
	if launched := s.stableInstances(); len(launched) != 1 {
		t.Errorf("bought %v, want one machine for the one pod there is", describeInstances(launched))
	}
}

// profile is an instance profile of a story's own.
type profile struct {
	t          *testing.T
	account    *iam.Client
	name, role *string
}

// profile makes an instance profile that has the story's name and the role of
// the lab's nodes; it goes with the story.
func (s *story) profile() profile {
	s.Helper()
	c, env := awsOf(s.T, s.dir)
	p := profile{s.T, iam.NewFromConfig(c), aws.String(s.namespace), aws.String("KarpenterNodeRole-" + env["CLUSTER_NAME"])}
	if _, err := p.account.CreateInstanceProfile(s.Context(), &iam.CreateInstanceProfileInput{InstanceProfileName: p.name}); err != nil {
		s.Fatal(err)
	}
	p.getRole()
	s.Cleanup(func() {
		ctx := context.Background()
		_, _ = p.account.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: p.name, RoleName: p.role})
		if _, err := p.account.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: p.name}); err != nil {
			s.Errorf("delete instance profile of story: %v", err)
		}
	})
	return p
}

func (p profile) getRole() {
	p.t.Helper()
	_, err := p.account.AddRoleToInstanceProfile(p.t.Context(), &iam.AddRoleToInstanceProfileInput{InstanceProfileName: p.name, RoleName: p.role})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p profile) loseRole() {
	p.t.Helper()
	_, err := p.account.RemoveRoleFromInstanceProfile(p.t.Context(), &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: p.name, RoleName: p.role})
	if err != nil {
		p.t.Fatal(err)
	}
}
