package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Without is an SDK option for calls whose answers say more than is asked: it takes XML elements of these names, with all
// that they hold, out of the answer before it is decoded. Most of an answer of DescribeInstances is about interfaces, volumes and
// settings of each instance, and to decode it takes longer than everything else that is done about instances.
//
// An element holds none of its own name. Answers are read as a whole; what is no answer of XML stays as it is.
func Without(elements ...string) func(*stack) error {
	return func(s *stack) error {
		return s.Deserialize.Add(middleware.DeserializeMiddlewareFunc("DaemokWithout",
			func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
				middleware.DeserializeOutput, middleware.Metadata, error) {
				out, metadata, err := next.HandleDeserialize(ctx, in)
				answer, ok := out.RawResponse.(*smithyhttp.Response)
				if err != nil || !ok || answer.Body == nil {
					return out, metadata, err
				}
				var all bytes.Buffer
				all.Grow(int(max(answer.ContentLength, 0)) + bytes.MinRead)
				_, err = all.ReadFrom(answer.Body)
				if err = errors.Join(err, answer.Body.Close()); err != nil {
					return out, metadata, fmt.Errorf("read the answer: %w", err)
				}
				text := all.Bytes()
				for _, name := range elements {
					text = cut(text, name)
				}
				answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
				return out, metadata, nil
			}), middleware.After)
	}
}

// cut takes all elements of the name out of the text, which is written over.
func cut(text []byte, name string) []byte {
	begin, end := []byte("<"+name+">"), []byte("</"+name+">")
	out, rest := text[:0], text
	for {
		from := bytes.Index(rest, begin)
		if from < 0 {
			break
		}
		length := bytes.Index(rest[from:], end)
		if length < 0 {
			break // cut off: its decoder reports it
		}
		out = append(out, rest[:from]...)
		rest = rest[from+length+len(end):]
	}
	return append(out, rest...)
}
