package interruption

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/fault"
)

// Checks are EC2's status checks and what it has scheduled.
type Checks struct {
	API ec2.DescribeInstanceStatusAPIClient
}

var _ cloud.Checks = Checks{}

// questions are what to ask for: EC2 joins the filters of one call by "and".
func questions() []types.Filter {
	impaired := []string{string(types.SummaryStatusImpaired)}
	var codes []string
	for _, c := range types.EventCode("").Values() {
		codes = append(codes, string(c))
	}
	return []types.Filter{
		{Name: aws.String("instance-status.status"), Values: impaired},
		{Name: aws.String("system-status.status"), Values: impaired},
		{Name: aws.String("event.code"), Values: codes},
	}
}

// Troubles implements cloud.Checks. It makes three calls of DescribeInstanceStatus, and one
// more for every thousand instances that something is wrong with, however many there are.
// The check of attached volumes does not count: pods move no volume.
func (c Checks) Troubles(ctx context.Context) ([]cloud.Trouble, error) {
	found := map[cloud.Trouble]bool{}
	for _, question := range questions() {
		pages := ec2.NewDescribeInstanceStatusPaginator(c.API, &ec2.DescribeInstanceStatusInput{Filters: []types.Filter{question}, MaxResults: aws.Int32(1000)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, failedToCheck(err)
			}
			for i := range page.InstanceStatuses {
				for _, t := range troublesOf(&page.InstanceStatuses[i]) {
					found[t] = true
				}
			}
		}
	}
	out := make([]cloud.Trouble, 0, len(found))
	for t := range found {
		out = append(out, t)
	}
	slices.SortFunc(out, cloud.Trouble.Compare)
	return out, nil
}

func failedToCheck(err error) error {
	if fault.Denied(err) {
		return &cloud.RefusedError{Reason: cloud.ChecksDenied, Cause: "the controller's role may not call ec2:DescribeInstanceStatus: allow it (" + fault.Message(err) + ")"}
	}
	return fmt.Errorf("ask for status checks: %w", fault.Wrap("ec2:DescribeInstanceStatus", err))
}

func troublesOf(s *types.InstanceStatus) (out []cloud.Trouble) {
	id := aws.ToString(s.InstanceId)
	for _, check := range []struct {
		kind    cloud.TroubleKind
		summary *types.InstanceStatusSummary
	}{{cloud.InstanceFails, s.InstanceStatus}, {cloud.SystemFails, s.SystemStatus}} {
		if check.summary == nil || check.summary.Status != types.SummaryStatusImpaired {
			continue
		}
		t := cloud.Trouble{InstanceID: id, Kind: check.kind}
		for _, d := range check.summary.Details {
			if d.Status != types.StatusTypeFailed {
				continue
			}
			t.What = strings.TrimPrefix(t.What+", "+string(d.Name), ", ")
			if d.ImpairedSince != nil && (t.Since.IsZero() || d.ImpairedSince.Before(t.Since)) {
				t.Since = d.ImpairedSince.UTC()
			}
		}
		out = append(out, t)
	}
	for _, e := range s.Events {
		if isOver(aws.ToString(e.Description)) {
			continue
		}
		out = append(out, cloud.Trouble{InstanceID: id, Kind: cloud.Scheduled, What: string(e.Code), StartsAt: momentOf(e.NotBefore)})
	}
	return out
}

// isOver reports whether EC2 says of an event that nothing more comes of it: it shows
// such events for up to a week.
func isOver(description string) bool {
	return strings.HasPrefix(description, "[Completed]") || strings.HasPrefix(description, "[Canceled]")
}

func momentOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
