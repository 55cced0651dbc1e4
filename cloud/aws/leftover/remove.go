package leftover

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/daemok/daemok/cloud/aws/fault"
)

// terminatedAtOnce is how many instances one call ends: of more, EC2 asks to make several
// calls.
const terminatedAtOnce = 100

// Remove removes things that Find has found, and reports each that is gone or, for
// instances, going; an error comes with its call. What cannot be removed does not keep the
// rest, and repeating does no harm. It returns how many could not be removed. It checks
// again whether the cluster is gone, and refuses what is Unclear.
func (s *Sweeper) Remove(ctx context.Context, things []Thing, reported func(Thing, error)) (failed int, err error) {
	if err := s.gone(ctx); err != nil {
		return 0, err
	}
	if err := s.Unclear(things); err != nil {
		return 0, err
	}
	report := func(t Thing, err error) {
		if err != nil {
			failed++
		}
		reported(t, err)
	}
	for some := range slices.Chunk(of(things, Instance), terminatedAtOnce) {
		s.terminate(ctx, some, report)
	}
	s.removeDetached(ctx, things, report)
	for _, t := range of(things, Template) {
		_, err := s.clients.EC2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: aws.String(t.Name)})
		report(t, unlessGone("ec2:DeleteLaunchTemplate", err))
	}
	return failed, s.removeProfiles(ctx, of(things, Profile), report)
}

// terminate ends instances in one call and, where that is refused for the sake of one, each
// by itself.
func (s *Sweeper) terminate(ctx context.Context, instances []Thing, report func(Thing, error)) {
	ids := make([]string, len(instances))
	for i, m := range instances {
		ids[i] = m.Name
	}
	_, err := s.clients.EC2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids})
	if len(instances) > 1 && fault.OfSome(err) {
		for i := range instances {
			s.terminate(ctx, instances[i:i+1], report)
		}
		return
	}
	for _, m := range instances {
		report(m, unlessGone("ec2:TerminateInstances", err))
	}
}

func (s *Sweeper) removeProfiles(ctx context.Context, things []Thing, report func(Thing, error)) error {
	if len(things) == 0 {
		return nil
	}
	made, err := s.profiles.Made(ctx)
	if err != nil {
		return fmt.Errorf("list instance profiles again: %w", err)
	}
	for _, p := range made {
		i := slices.IndexFunc(things, func(t Thing) bool { return t.Name == aws.ToString(p.InstanceProfileName) })
		if i >= 0 {
			report(things[i], s.profiles.Remove(ctx, p))
		}
	}
	return nil
}

func unlessGone(call string, err error) error {
	if fault.NotFound(err) {
		return nil
	}
	return fault.Wrap(call, err)
}

func of(things []Thing, kind Kind) (out []Thing) {
	for _, t := range things {
		if t.Kind == kind {
			out = append(out, t)
		}
	}
	return out
}
