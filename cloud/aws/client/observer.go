package client

import (
	"context"
	"errors"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"github.com/daemok/daemok/cloud/aws/fault"
)

type stack = middleware.Stack

// Call is what became of one call, its retries included.
type Call struct {
	Service, Operation string // "EC2", "CreateFleet"
	Code               string // AWS's error code; empty for success, "Error" for errors without a code
	Attempts           int    // HTTP exchanges
	Throttled          int    // exchanges that AWS answered by asking for timeout
	Took               time.Duration
	Tries              []Try // the exchanges, in order
}

// Try is one exchange of a call. It took so long without waiting for its turn.
type Try struct {
	Code string // as that of a call
	Took time.Duration
}

// Observer receives every call. It is called from many goroutines.
type Observer interface{ Called(Call) }

// observe returns the SDK options that report every call to the observer.
func observe(o Observer) []func(*stack) error {
	if o == nil {
		return nil
	}
	return []func(*stack) error{observeTries, func(s *stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("DaemokObserver",
			func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
				middleware.InitializeOutput, middleware.Metadata, error) {
				start, tries := time.Now(), []Try{}
				out, metadata, err := next.HandleInitialize(middleware.WithStackValue(ctx, triesKey{}, &tries), in)
				call := Call{Service: awsmiddleware.GetServiceID(ctx), Operation: awsmiddleware.GetOperationName(ctx),
					Code: code(err), Took: time.Since(start), Tries: tries}
				if results, ok := retry.GetAttemptResults(metadata); ok {
					call.Attempts = len(results.Results)
					call.Throttled = throttled(results.Results)
				}
				o.Called(call)
				return out, metadata, err
			}), middleware.After)
	}}
}

// triesKey is under which the tries of a call are noted, one after another.
type triesKey struct{}

// observeTries notes each try of a call. It stands behind the pace of calls, so that to
// wait for a turn is no part of a try.
func observeTries(s *stack) error {
	return s.Finalize.Insert(middleware.FinalizeMiddlewareFunc("DaemokTries",
		func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
			middleware.FinalizeOutput, middleware.Metadata, error) {
			start := time.Now()
			out, metadata, err := next.HandleFinalize(ctx, in)
			if tries, ok := middleware.GetStackValue(ctx, triesKey{}).(*[]Try); ok {
				*tries = append(*tries, Try{code(err), time.Since(start)})
			}
			return out, metadata, err
		}), "Retry", middleware.After)
}

func code(err error) string {
	var api smithy.APIError // of the call, or of the one that was to get its credentials
	switch {
	case err == nil:
		return ""
	case errors.As(err, &api) && api.ErrorCode() != "":
		return api.ErrorCode()
	}
	return "Error"
}

func throttled(results []retry.AttemptResult) int {
	n := 0
	for _, r := range results {
		if r.Err != nil && fault.Throttled(r.Err) {
			n++
		}
	}
	return n
}
