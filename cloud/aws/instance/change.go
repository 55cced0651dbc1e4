package instance

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/gather"
)

// callsMax is how many calls one round of terminations makes where EC2 refuses all
// instances for the sake of some. Finding one among idsMax takes 17.
const callsMax = 20

// given is what became of an instance that was to be terminated: whether it is gone, or why
// it cannot be terminated.
type given = gather.Answer[bool]

// Terminate terminates instances. Those that are unknown, not of this cluster or terminated
// are reported in gone, sorted; nothing is asked of those that have begun to shut down. An
// instance that EC2 refuses to terminate keeps no other, nor does one that is not visible
// yet.
//
// Callers of the same moment share two calls, DescribeInstances and TerminateInstances, for
// up to idsMax instances. When 1,000 nodes go at once, with 100 of them handled at a time,
// that is 10 of each in about two seconds, and none of TerminateInstances after.
func (s *Store) Terminate(ctx context.Context, ids ...string) (gone []string, err error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	answers, err := s.gives.Ask(ctx, ids...)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, id := range ids {
		switch a := answers[id]; {
		case a.Err != nil && !slices.Contains(errs, a.Err):
			errs = append(errs, a.Err)
		case a.Value:
			gone = append(gone, id)
		}
	}
	return gone, errors.Join(errs...)
}

// giveBack ends instances and says what became of each.
func (s *Store) giveBack(ctx context.Context, ids []string) map[string]given {
	answers := map[string]given{}
	for some := range slices.Chunk(ids, idsMax) {
		found, err := s.describe(ctx, nil, some)
		if err != nil {
			blame(answers, some, err)
			continue
		}
		live, gone := s.divide(some, found)
		for _, id := range gone {
			answers[id] = given{Value: true}
		}
		live, doubtful := s.whereItWorks(live, found)
		s.terminate(ctx, live, answers)
		s.tryToTerminate(ctx, doubtful, answers)
	}
	return answers
}

// whereItWorks parts instances from those in zones that work is shifted away from.
func (s *Store) whereItWorks(ids []string, found []types.Instance) (live, doubtful []string) {
	shifted := map[string]bool{}
	for _, i := range found {
		if s.Shifted != nil && i.Placement != nil && s.Shifted(aws.ToString(i.Placement.AvailabilityZoneId)) {
			shifted[aws.ToString(i.InstanceId)] = true
		}
	}
	for _, id := range ids {
		if shifted[id] {
			doubtful = append(doubtful, id)
		} else {
			live = append(live, id)
		}
	}
	return live, doubtful
}

// tryToTerminate terminates instances in a call of their own, whose failure is no trouble:
// EC2 may not be well where they are, and the caller that terminates them asks again.
func (s *Store) tryToTerminate(ctx context.Context, ids []string, answers map[string]given) {
	if len(ids) == 0 {
		return
	}
	tried := map[string]given{}
	s.terminate(ctx, ids, tried)
	for id, a := range tried {
		if a.Value || cloud.IsNotVisible(a.Err) {
			answers[id] = a
		}
	}
}

func blame(answers map[string]given, ids []string, err error) {
	for _, id := range ids {
		answers[id] = given{Err: err}
	}
}

// divide says which of the ids are to be terminated and which are gone; those that shut
// down are neither.
func (s *Store) divide(ids []string, found []types.Instance) (live, gone []string) {
	byID := map[string]types.Instance{}
	for _, i := range found {
		byID[aws.ToString(i.InstanceId)] = i
	}
	for _, id := range ids {
		switch i, known := byID[id]; {
		case !known && s.isYoung(id):
			live = append(live, id)
		case !known, !s.ours(i) && !s.isYoung(id), inState(i, types.InstanceStateNameTerminated):
			gone = append(gone, id)
		case inState(i, types.InstanceStateNameShuttingDown):
		default:
			live = append(live, id)
		}
	}
	return live, gone
}

func inState(i types.Instance, state types.InstanceStateName) bool {
	return i.State != nil && i.State.Name == state
}

// terminate terminates instances in one call. Where EC2 refuses all for the sake of some,
// it answers those that EC2 names and repeats for the others; where EC2 names none, it
// halves them. What is left after callsMax calls has the error.
func (s *Store) terminate(ctx context.Context, ids []string, answers map[string]given) {
	groups := [][]string{ids}
	for calls := 1; len(groups) > 0; calls++ {
		some := groups[0]
		groups = groups[1:]
		if len(some) == 0 {
			continue
		}
		_, err := s.api.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: some})
		if err == nil {
			continue
		}
		blamed, rest := culprits(some, err)
		for _, id := range blamed {
			answers[id] = s.verdict(id, err)
		}
		switch {
		case !fault.OfSome(err) || calls >= callsMax:
			blame(answers, rest, fault.Wrap("ec2:TerminateInstances", err))
		case len(blamed) > 0:
			groups = append(groups, rest)
		default:
			groups = append(groups, some[:len(some)/2], some[len(some)/2:])
		}
	}
}

// culprits parts the ids for whose sake a call about all was refused, as far as its error
// says, from the rest.
func culprits(ids []string, err error) (blamed, rest []string) {
	if !fault.OfSome(err) {
		return nil, ids
	}
	if len(ids) == 1 {
		return ids, nil
	}
	words := strings.FieldsFunc(fault.Message(err), func(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, id := range ids {
		if slices.Contains(words, id) {
			blamed = append(blamed, id)
		} else {
			rest = append(rest, id)
		}
	}
	return blamed, rest
}

// verdict is what a refusal for the sake of an instance says of it.
func (s *Store) verdict(id string, err error) given {
	switch {
	case !fault.NotFound(err):
		return given{Err: fault.Wrap("ec2:TerminateInstances", err)}
	case s.isYoung(id):
		return given{Err: &cloud.NotVisibleError{InstanceID: id}}
	}
	return given{Value: true}
}

// Tag adds tags to an instance that was shown. It is a *cloud.NotFoundError for one that
// EC2 does not know, or not yet, and for one whose tags are not this cluster's.
//
// It is one CreateTags for each instance, and asks for nothing first: what was shown says
// whose an instance is, and no ID is ever given to another.
func (s *Store) Tag(ctx context.Context, m cloud.Instance, tags map[string]string) error {
	if !s.owns(m.Tags) {
		return &cloud.NotFoundError{InstanceID: m.ID}
	}
	return s.createTags(ctx, m.ID, tags)
}
