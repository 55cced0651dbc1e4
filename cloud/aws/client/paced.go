package client

import (
	"context"
	"errors"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/pace"
)

// attemptsMax is how often one call is tried: with jitter between the tries, and
// EC2's at the pace that it answers, so that two more than the SDK's three spare
// most calls a failure.
const attemptsMax = 5

func retryer() *retry.Standard {
	return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = attemptsMax })
}

// slowed is where the tries of one call note whether EC2's throttling keeps the call from being answered.
type slowed struct{}

// paced has every try of a call of EC2 wait for its turn. Other services are
// called too seldom. A call whose time ends while it waits, or between tries that were throttled, fails as throttled.
func paced(p *pace.Pace) func(*stack) error {
	return func(s *stack) error {
		if err := s.Finalize.Insert(middleware.FinalizeMiddlewareFunc("DaemokThrottled", sayThrottled), "Retry", middleware.Before); err != nil {
			return err
		}
		return s.Finalize.Insert(middleware.FinalizeMiddlewareFunc("DaemokPace",
			func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
				middleware.FinalizeOutput, middleware.Metadata, error) {
				action := awsmiddleware.GetOperationName(ctx)
				is, _ := middleware.GetStackValue(ctx, slowed{}).(*bool)
				*is = true
				if err := p.Wait(ctx, action); err != nil {
					return middleware.FinalizeOutput{}, middleware.Metadata{}, err
				}
				out, metadata, err := next.HandleFinalize(ctx, in)
				*is = fault.Throttled(err)
				p.Answered(action, *is)
				return out, metadata, err
			}), "Retry", middleware.After)
	}
}

// sayThrottled says of a call that ran out of time whether throttling was why.
func sayThrottled(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
	is := false
	out, metadata, err := next.HandleFinalize(middleware.WithStackValue(ctx, slowed{}, &is), in)
	if is && errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(&cloud.ThrottledError{Call: "ec2:" + awsmiddleware.GetOperationName(ctx)}, err)
	}
	return out, metadata, err
}
