package client

import (
	"context"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"

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

// paced has every try of a call of EC2 wait for its turn. Other services are
// called too seldom.
func paced(p *pace.Pace) func(*stack) error {
	return func(s *stack) error {
		return s.Finalize.Insert(middleware.FinalizeMiddlewareFunc("DaemokPace",
			func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
				middleware.FinalizeOutput, middleware.Metadata, error) {
				action := awsmiddleware.GetOperationName(ctx)
				if err := p.Wait(ctx, action); err != nil {
					return middleware.FinalizeOutput{}, middleware.Metadata{}, err
				}
				out, metadata, err := next.HandleFinalize(ctx, in)
				p.Answered(action, fault.Throttled(err))
				return out, metadata, err
			}), "Retry", middleware.After)
	}
}
