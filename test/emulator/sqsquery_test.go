package emulator_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// SQS answers in the protocol that SDKs spoke before the end of 2023, too: forms, and XML
// as its older API reference prints it.
func TestSQSByItsOlderProtocol(t *testing.T) {
	a := open(t)
	ask := func(method, form string) (int, string) {
		path, body := "/", form
		if method == http.MethodGet {
			path, body = "/123456789012/lab?"+form, ""
		}
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AK/20261121/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=0")
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		}
		w := httptest.NewRecorder()
		a.server.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const queue = "&QueueUrl=http://sqs/123456789012/jobs"
	receipt := ""
	for _, step := range []struct {
		method, form string
		status       int
		want         []string // parts of the answer, in their order
	}{
		{"POST", "Action=CreateQueue&QueueName=jobs&Attribute.1.Name=MessageRetentionPeriod&Attribute.1.Value=300&Tag.1.Key=team&Tag.1.Value=web", 200,
			[]string{`<CreateQueueResponse xmlns="http://queue.amazonaws.com/doc/2012-11-05/"><CreateQueueResult><QueueUrl>http://`, `/jobs</QueueUrl></CreateQueueResult><ResponseMetadata><RequestId>`}},
		{"GET", "Action=GetQueueUrl&QueueName=jobs", 200, []string{"<GetQueueUrlResult><QueueUrl>http://", "/jobs</QueueUrl>"}},
		{"POST", "Action=ListQueues&QueueNamePrefix=jo", 200, []string{"<ListQueuesResult><QueueUrl>http://", "/jobs</QueueUrl></ListQueuesResult>"}},
		{"POST", "Action=ListQueueTags" + queue, 200, []string{"<ListQueueTagsResult><Tag><Key>team</Key><Value>web</Value></Tag>"}},
		{"POST", "Action=GetQueueAttributes&AttributeName.1=MessageRetentionPeriod" + queue, 200,
			[]string{"<GetQueueAttributesResult><Attribute><Name>MessageRetentionPeriod</Name><Value>300</Value></Attribute></GetQueueAttributesResult>"}},
		{"POST", "Action=SendMessage&MessageBody=%7B%22a%22%3A%22%3Cb%3E%22%7D" + queue, 200, []string{"<SendMessageResult><MD5OfMessageBody>", "<MessageId>"}},
		{"POST", "Action=ReceiveMessage&MaxNumberOfMessages=10&VisibilityTimeout=20&AttributeName.1=ApproximateReceiveCount" + queue, 200,
			[]string{"<ReceiveMessageResult><Message><Attribute><Name>ApproximateReceiveCount</Name><Value>1</Value></Attribute><Body>{&#34;a&#34;:&#34;&lt;b&gt;&#34;}</Body>", "<MD5OfBody>", "<ReceiptHandle>"}},
		{"POST", "Action=DeleteMessageBatch&DeleteMessageBatchRequestEntry.1.Id=one&DeleteMessageBatchRequestEntry.1.ReceiptHandle=RECEIPT" +
			"&DeleteMessageBatchRequestEntry.2.Id=two&DeleteMessageBatchRequestEntry.2.ReceiptHandle=none" + queue, 200,
			[]string{"<BatchResultErrorEntry><Code>ReceiptHandleIsInvalid</Code><Id>two</Id>", "<SenderFault>true</SenderFault>", "<DeleteMessageBatchResultEntry><Id>one</Id></DeleteMessageBatchResultEntry>"}},
		{"POST", "Action=ReceiveMessage" + queue, 200, []string{"<ReceiveMessageResult></ReceiveMessageResult>"}},
		{"POST", "Action=ReceiveMessage&MaxNumberOfMessages=many" + queue, 400, []string{"<ErrorResponse", "<Code>InvalidParameterValue</Code>", "MaxNumberOfMessages"}},
		{"POST", "Action=PurgeQueue" + queue, 200, []string{"<PurgeQueueResponse", "<ResponseMetadata>"}},
		{"POST", "Action=ReceiveMessage&QueueUrl=http://sqs/123456789012/nobodys", 400,
			[]string{`<ErrorResponse xmlns="http://queue.amazonaws.com/doc/2012-11-05/"><Error><Type>Sender</Type><Code>AWS.SimpleQueueService.NonExistentQueue</Code>`}},
		{"POST", "Action=AddPermission" + queue, 400, []string{"<Code>InvalidAction</Code>", "sqs service has no action AddPermission: it has ChangeMessageVisibility"}},
	} {
		status, answer := ask(step.method, strings.ReplaceAll(step.form, "RECEIPT", receipt))
		if found := regexp.MustCompile("<ReceiptHandle>(.*)</ReceiptHandle>").FindStringSubmatch(answer); found != nil {
			receipt = strings.ReplaceAll(found[1], "#", "%23")
		}
		rest := answer
		for _, part := range step.want {
			_, after, found := strings.Cut(rest, part)
			if status != step.status || !found {
				t.Fatalf("%s %s: %d %s\nwant %d and, in this order, %q", step.method, step.form, status, answer, step.status, step.want)
			}
			rest = after
		}
	}
}
