package client

import (
	"context"
	"errors"
	"fmt"
	"strings"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
)

// ErrReadOnly says that a call was not sent, since it could change something.
var ErrReadOnly = errors.New("calls that may change something are refused")

// ReadOnly is an SDK option that refuses every call whose name does not say that it reads. Nothing of such a call
// leaves the process. To assume the role of the program is allowed: it changes nothing.
func ReadOnly(s *stack) error {
	return s.Initialize.Add(middleware.InitializeMiddlewareFunc("DaemokReadOnly",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
			middleware.InitializeOutput, middleware.Metadata, error) {
			name := awsmiddleware.GetOperationName(ctx)
			if !reads(name) {
				return middleware.InitializeOutput{}, middleware.Metadata{}, fmt.Errorf("%w: %s:%s", ErrReadOnly, awsmiddleware.GetServiceID(ctx), name)
			}
			return next.HandleInitialize(ctx, in)
		}), middleware.After)
}

// reads reports whether AWS names an operation as one that reads.
func reads(operation string) bool {
	for _, verb := range []string{"Describe", "Get", "List", "AssumeRole"} {
		if strings.HasPrefix(operation, verb) {
			return true
		}
	}
	return false
}
