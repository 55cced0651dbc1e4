package client

import (
	"context"
	"fmt"
	"io"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// PlainBody is an SDK option that sends requests with bodies that can be read and nothing
// else. New and At set it; code that makes clients another way should.
//
// The SDK closes a request's body as soon as the answer's head is there. The transport may
// not yet have checked whether the body has come to its end: it has sent all of it, but was
// not given the processor since. It then finds a closed body, which says io.EOF when read,
// as it should, but also when asked to write itself out (io.WriterTo), where io.EOF is a
// failure. For that the transport breaks the connection while the answer is being read:
// "use of closed network connection". Hence no io.WriterTo.
func PlainBody(s *stack) error {
	return s.Build.Add(middleware.BuildMiddlewareFunc("DaemokPlainBody",
		func(ctx context.Context, in middleware.BuildInput, next middleware.BuildHandler) (
			middleware.BuildOutput, middleware.Metadata, error) {
			request, ok := in.Request.(*smithyhttp.Request)
			if !ok {
				return next.HandleBuild(ctx, in)
			}
			body, ok := request.GetStream().(io.ReadSeeker)
			if !ok {
				return next.HandleBuild(ctx, in)
			}
			plain, err := request.SetStream(struct{ io.ReadSeeker }{body})
			if err != nil {
				return middleware.BuildOutput{}, middleware.Metadata{}, fmt.Errorf("take the request's body: %w", err)
			}
			in.Request = plain
			return next.HandleBuild(ctx, in)
		}), middleware.Before)
}
