package client

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/daemok/daemok/cloud/aws/pace"
	"github.com/daemok/daemok/internal/pause"
)

// quick is a transport that hears the answer after it sent the last byte and before it
// checked for the body's end. It keeps what it was to check.
type quick struct {
	sent []string
	rest []io.ReadCloser
}

func (q *quick) Do(r *http.Request) (*http.Response, error) {
	text := new(bytes.Buffer)
	if _, err := io.CopyN(text, r.Body, r.ContentLength); err != nil {
		return nil, err
	}
	q.sent, q.rest = append(q.sent, text.String()), append(q.rest, r.Body)
	status, answer := http.StatusServiceUnavailable, "<Response><Errors><Error><Code>RequestLimitExceeded</Code></Error></Errors></Response>"
	if len(q.sent) > 1 {
		status, answer = http.StatusOK, "<DescribeVpcsResponse/>"
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

// A transport that meets an error at a body's end breaks the connection under
// the answer. Repeats send the same body again.
func TestABodyHasComeToItsEndWhenTheAnswerIsThere(t *testing.T) {
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true"} {
		t.Setenv(name, value)
	}
	found, err := New(t.Context(), "us-east-1", "", nil, nil, pace.New(time.Now, pause.For), Role{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*ec2.Client{
		"clients of the environment": found.EC2,
		"clients of a place":         ec2.NewFromConfig(At("http://127.0.0.1", "us-east-1", Key{"key", "secret"})),
	} {
		t.Run(name, func(t *testing.T) { bodiesEnd(t, c) })
	}
}

func bodiesEnd(t *testing.T, c *ec2.Client) {
	t.Helper()
	q := &quick{}
	_, err := c.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{VpcIds: []string{"vpc-1"}}, func(o *ec2.Options) {
		o.HTTPClient = q
		o.Retryer = retry.NewStandard(func(r *retry.StandardOptions) {
			r.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(q.sent) != 2 || q.sent[0] != q.sent[1] || !strings.Contains(q.sent[0], "VpcId.1=vpc-1") {
		t.Errorf("sent %q, want the same request twice", q.sent)
	}
	for i, body := range q.rest {
		if n, err := io.Copy(io.Discard, body); n != 0 || err != nil {
			t.Errorf("exchange %d: %d more bytes, error %v; want the end", i+1, n, err)
		}
	}
}
