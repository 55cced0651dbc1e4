package sqs

import (
	"context"
	"crypto/md5" // SQS answers with MD5 sums and the SDK checks them
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
)

// Limits and defaults of SQS.
const (
	messagesPerCall = 10
	messageBytesMax = 1 << 20
	visibilityMax   = 43200
	waitMax         = 20
)

// LegacyQueryCode is the code of SQS's older protocol, sent in a header that
// SDKs use to find the error's type.
func LegacyQueryCode(code string) string {
	switch code {
	case "QueueDoesNotExist":
		return "AWS.SimpleQueueService.NonExistentQueue"
	case "QueueNameExists":
		return "QueueAlreadyExists"
	case "EmptyBatchRequest", "BatchRequestTooLong", "TooManyEntriesInBatchRequest", "BatchEntryIdsNotDistinct":
		return "AWS.SimpleQueueService." + code
	}
	return code
}

func noQueue() error {
	return wire.Errorf("QueueDoesNotExist", "The specified queue does not exist.")
}

// queueAt finds a queue by its URL, whatever the host in it.
func (s *SQS) queueAt(url string) (*queue, error) {
	q := s.Queues[url[strings.LastIndex(url, "/")+1:]]
	if q == nil {
		return nil, noQueue()
	}
	return q, nil
}

// queueURL is where a queue is to be found: at the host that was asked, as at AWS. Some SDKs
// send what is for a queue there, whatever endpoint they were given.
func (c *call) queueURL(q *queue) string {
	return "http://" + c.Host + "/" + c.server.Settings.ID + "/" + q.Name
}

func getQueueURL(c *call) (any, error) {
	var in struct{ QueueName string }
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	q := c.server.Queues[in.QueueName]
	if q == nil {
		return nil, noQueue()
	}
	return map[string]string{"QueueUrl": c.queueURL(q)}, nil
}

func listQueues(c *call) (any, error) {
	var in struct{ QueueNamePrefix string }
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	var urls []string
	for _, name := range slices.Sorted(maps.Keys(c.server.Queues)) {
		if strings.HasPrefix(name, in.QueueNamePrefix) {
			urls = append(urls, c.queueURL(c.server.Queues[name]))
		}
	}
	return map[string]any{"QueueUrls": urls}, nil
}

// createQueue makes a queue, or answers with the one of that name where its attributes are those that are asked for.
func createQueue(c *call) (any, error) {
	var in struct {
		QueueName  string
		Attributes map[string]string
		Tags       map[string]string `json:"tags"` // in lower case on the wire, unlike TagQueue's
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if err := checkQueueAttributes(in.Attributes); err != nil {
		return nil, err
	}
	st := c.server
	q := st.Queues[in.QueueName]
	if q == nil {
		q = newQueue(st.Settings, in.QueueName, time.Duration(queueNumbers[attrRetention].usual)*time.Second, c.At)
		q.Tags = in.Tags
		q.set(in.Attributes)
		st.Queues[in.QueueName] = q
	}
	have := q.settings()
	for _, name := range slices.Sorted(maps.Keys(in.Attributes)) {
		if have[name] != in.Attributes[name] {
			return nil, wire.Errorf("QueueNameExists", "A queue already exists with the same name and a different value for attribute %s", name)
		}
	}
	return map[string]string{"QueueUrl": c.queueURL(q)}, nil
}

// deleteQueue ends a queue at once; AWS takes up to a minute.
func deleteQueue(c *call) (any, error) {
	q, err := c.queueOnly()
	if err != nil {
		return nil, err
	}
	delete(c.server.Queues, q.Name)
	c.server.WakePollers()
	return nil, nil
}

// queueOnly reads a request that names a queue and nothing else.
func (c *call) queueOnly() (*queue, error) {
	var in struct {
		QueueUrl string //nolint:revive // the name on the wire
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	return c.server.queueAt(in.QueueUrl)
}

func listQueueTags(c *call) (any, error) {
	q, err := c.queueOnly()
	if err != nil {
		return nil, err
	}
	return map[string]any{"Tags": q.Tags}, nil
}

func tagQueue(c *call) (any, error) {
	var in struct {
		QueueUrl string //nolint:revive // the name on the wire
		Tags     map[string]string
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	q, err := c.server.queueAt(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if q.Tags == nil {
		q.Tags = map[string]string{}
	}
	maps.Copy(q.Tags, in.Tags)
	return nil, nil
}

func getQueueAttributes(c *call) (any, error) {
	var in struct {
		QueueUrl       string //nolint:revive // the name on the wire
		AttributeNames []string
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	q, err := c.server.queueAt(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	visible, inFlight, delayed := q.counts(c.At)
	all := map[string]string{
		"QueueArn":                              q.ARN,
		"ApproximateNumberOfMessages":           strconv.Itoa(visible),
		"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(inFlight),
		"ApproximateNumberOfMessagesDelayed":    strconv.Itoa(delayed),
		"CreatedTimestamp":                      strconv.FormatInt(q.CreatedAt.Unix(), 10),
		"LastModifiedTimestamp":                 strconv.FormatInt(q.CreatedAt.Unix(), 10),
	}
	maps.Copy(all, q.settings())
	if !slices.Contains(in.AttributeNames, "All") {
		for name := range all {
			if !slices.Contains(in.AttributeNames, name) {
				delete(all, name)
			}
		}
	}
	return map[string]any{"Attributes": all}, nil
}

func md5Hex(body string) string {
	sum := md5.Sum([]byte(body)) // the protocol's own checksum
	return hex.EncodeToString(sum[:])
}

func sendMessage(c *call) (any, error) {
	var in struct {
		QueueUrl     string //nolint:revive // the name on the wire
		MessageBody  string
		DelaySeconds *int
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	q, err := c.server.queueAt(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	sent, refused := c.put(q, in.MessageBody, in.DelaySeconds)
	if refused != nil {
		return nil, refused
	}
	return sent, nil
}

// put adds a message to a queue and returns what SQS says of it.
func (c *call) put(q *queue, body string, delaySeconds *int) (map[string]string, *wire.Error) {
	if most := q.number(attrSize); body == "" || len(body) > most {
		return nil, wire.Errorf("InvalidParameterValue", "Message body must be between 1 and %d bytes long.", most)
	}
	delay := q.seconds(attrDelay)
	if delaySeconds != nil {
		delay = time.Duration(*delaySeconds) * time.Second
	}
	m := q.send(c.server.MessageID(), body, c.At, delay)
	c.server.WakePollers()
	return map[string]string{"MessageId": m.ID, "MD5OfMessageBody": md5Hex(m.Body)}, nil
}

// sendMessageBatch takes up to ten messages, of together no more than one may have.
func sendMessageBatch(c *call) (any, error) {
	return eachEntry(c, func(q *queue, e batchEntry) (map[string]string, *wire.Error) {
		return c.put(q, e.MessageBody, e.DelaySeconds)
	})
}

type receiveInput struct {
	QueueUrl                    string //nolint:revive // the name on the wire
	MaxNumberOfMessages         *int
	VisibilityTimeout           *int
	WaitTimeSeconds             *int
	AttributeNames              []string
	MessageSystemAttributeNames []string
}

func (in receiveInput) check() error {
	if n := in.MaxNumberOfMessages; n != nil && (*n < 1 || *n > messagesPerCall) {
		return wire.Errorf("InvalidParameterValue", "Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and %d, if provided.", *n, messagesPerCall)
	}
	if w := in.WaitTimeSeconds; w != nil && (*w < 0 || *w > waitMax) {
		return wire.Errorf("InvalidParameterValue", "Value %d for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= %d, if provided.", *w, waitMax)
	}
	if v := in.VisibilityTimeout; v != nil && (*v < 0 || *v > visibilityMax) {
		return wire.Errorf("InvalidParameterValue", "Value %d for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and %d.", *v, visibilityMax)
	}
	return nil
}

type messageJSON struct {
	MessageId     string //nolint:revive // the name on the wire
	ReceiptHandle string
	MD5OfBody     string
	Body          string
	Attributes    map[string]string `json:",omitempty"`
}

// receiveMessage polls: it holds the state only while it looks, and waits in
// between for a message, for the end of the wait, for the client to leave or
// for the server to close. The wait is real time.
func receiveMessage(c *call) (any, error) {
	var in receiveInput
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	wait := c.server.pollFor(in)
	end := time.NewTimer(wait)
	defer end.Stop()
	for {
		woken := c.server.PollSignal()
		messages, nextAt, err := c.server.receiveNow(in)
		if err != nil || len(messages) > 0 || wait == 0 {
			return map[string]any{"Messages": messages}, err
		}
		if !c.server.waitForMessage(c.Ctx, end.C, woken, nextAt) {
			return map[string]any{"Messages": []messageJSON{}}, nil
		}
	}
}

// pollFor is how long a poll waits: as long as it says, or else as the queue does.
func (s *SQS) pollFor(in receiveInput) time.Duration {
	if in.WaitTimeSeconds != nil {
		return time.Duration(*in.WaitTimeSeconds) * time.Second
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	q, err := s.queueAt(in.QueueUrl)
	if err != nil {
		return 0 // which the poll tells
	}
	return q.seconds(attrWait)
}

// receiveNow takes what is visible, and tells in how long more will be; zero
// means that nothing is on its way.
func (s *SQS) receiveNow(in receiveInput) ([]messageJSON, time.Duration, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	q, err := s.queueAt(in.QueueUrl)
	if err != nil {
		return nil, 0, err
	}
	now, most, hidden := s.Now(), 1, q.seconds(attrHidden)
	if in.MaxNumberOfMessages != nil {
		most = *in.MaxNumberOfMessages
	}
	if in.VisibilityTimeout != nil {
		hidden = time.Duration(*in.VisibilityTimeout) * time.Second
	}
	messages := []messageJSON{}
	for _, m := range q.receive(now, most, hidden) {
		messages = append(messages, messageAnswer(m, slices.Concat(in.AttributeNames, in.MessageSystemAttributeNames), s.Settings.ID))
	}
	at, any := q.nextVisible()
	if !any {
		return messages, 0, nil
	}
	return messages, max(at.Sub(now), time.Millisecond), nil
}

func messageAnswer(m *message, attributes []string, account string) messageJSON {
	all := map[string]string{
		"SenderId":                         account,
		"SentTimestamp":                    strconv.FormatInt(m.SentAt.UnixMilli(), 10),
		"ApproximateReceiveCount":          strconv.Itoa(m.Received),
		"ApproximateFirstReceiveTimestamp": strconv.FormatInt(m.FirstAt.UnixMilli(), 10),
	}
	asked := map[string]string{}
	for name, value := range all {
		if slices.Contains(attributes, name) || slices.Contains(attributes, "All") {
			asked[name] = value
		}
	}
	return messageJSON{MessageId: m.ID, ReceiptHandle: m.Receipt, MD5OfBody: md5Hex(m.Body), Body: m.Body, Attributes: asked}
}

func deleteMessage(c *call) (any, error) {
	var in struct {
		QueueUrl      string //nolint:revive // the name on the wire
		ReceiptHandle string
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	q, err := c.server.queueAt(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(in.ReceiptHandle, "#") {
		return nil, badReceipt(in.ReceiptHandle)
	}
	q.remove(in.ReceiptHandle)
	return nil, nil
}

func badReceipt(receipt string) *wire.Error {
	return wire.Errorf("ReceiptHandleIsInvalid", "The input receipt handle \"%s\" is not a valid receipt handle.", receipt)
}

type batchEntry struct {
	Id                string //nolint:revive // the name on the wire
	ReceiptHandle     string
	VisibilityTimeout int
	MessageBody       string
	DelaySeconds      *int
}

type batchFailure struct {
	Id          string //nolint:revive // the name on the wire
	SenderFault bool
	Code        string
	Message     string
}

func deleteMessageBatch(c *call) (any, error) {
	return eachEntry(c, func(q *queue, e batchEntry) (map[string]string, *wire.Error) {
		if !strings.Contains(e.ReceiptHandle, "#") {
			return nil, badReceipt(e.ReceiptHandle)
		}
		q.remove(e.ReceiptHandle)
		return map[string]string{}, nil
	})
}

func changeMessageVisibilityBatch(c *call) (any, error) {
	return eachEntry(c, func(q *queue, e batchEntry) (map[string]string, *wire.Error) {
		return map[string]string{}, c.hide(q, e.ReceiptHandle, e.VisibilityTimeout)
	})
}

// eachEntry does one thing to every entry of a batch and reports per entry.
func eachEntry(c *call, do func(*queue, batchEntry) (map[string]string, *wire.Error)) (any, error) {
	var in struct {
		QueueUrl string //nolint:revive // the name on the wire
		Entries  []batchEntry
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	q, err := c.server.queueAt(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if err := checkBatch(in.Entries); err != nil {
		return nil, err
	}
	done, failed := []map[string]string{}, []batchFailure{}
	for _, e := range in.Entries {
		said, refused := do(q, e)
		if refused != nil {
			failed = append(failed, batchFailure{e.Id, true, refused.Code, refused.Message})
			continue
		}
		said["Id"] = e.Id
		done = append(done, said)
	}
	return map[string]any{"Successful": done, "Failed": failed}, nil
}

func checkBatch(entries []batchEntry) error {
	if len(entries) == 0 {
		return wire.Errorf("EmptyBatchRequest", "There should be at least one entry in the request.")
	}
	if len(entries) > messagesPerCall {
		return wire.Errorf("TooManyEntriesInBatchRequest", "Maximum number of entries per request are %d. You have sent %d.", messagesPerCall, len(entries))
	}
	seen, bytes := map[string]bool{}, 0
	for _, e := range entries {
		if bytes += len(e.MessageBody); bytes > messageBytesMax {
			return wire.Errorf("BatchRequestTooLong", "Batch requests cannot be longer than %d bytes.", messageBytesMax)
		}
		if seen[e.Id] {
			return wire.Errorf("BatchEntryIdsNotDistinct", "Id %s repeated.", e.Id)
		}
		seen[e.Id] = true
	}
	return nil
}

func changeMessageVisibility(c *call) (any, error) {
	var in struct {
		QueueUrl          string //nolint:revive // the name on the wire
		ReceiptHandle     string
		VisibilityTimeout int
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	q, err := c.server.queueAt(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if refused := c.hide(q, in.ReceiptHandle, in.VisibilityTimeout); refused != nil {
		return nil, refused
	}
	return nil, nil
}

func (c *call) hide(q *queue, receipt string, timeoutSeconds int) *wire.Error {
	if timeoutSeconds < 0 || timeoutSeconds > visibilityMax {
		return wire.Errorf("InvalidParameterValue", "Value %d for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and %d.", timeoutSeconds, visibilityMax)
	}
	m := q.byReceipt(receipt)
	if m == nil {
		return badReceipt(receipt)
	}
	if !m.VisibleAt.After(c.At) {
		return wire.Errorf("MessageNotInflight", "The specified message isn't in flight.")
	}
	m.VisibleAt = c.At.Add(time.Duration(timeoutSeconds) * time.Second)
	c.server.WakePollers()
	return nil
}

func purgeQueue(c *call) (any, error) {
	q, err := c.queueOnly()
	if err != nil {
		return nil, err
	}
	q.Messages = nil
	return nil, nil
}

// QueueURL is the URL of the cluster's interruption queue, as AWS has it.
func (s *SQS) QueueURL() string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	a := s.Settings
	return fmt.Sprintf("https://sqs.%s.amazonaws.com/%s/%s", a.Region, a.ID, a.ClusterName)
}

// waitForMessage waits until a poll should look again; false ends the poll.
func (s *SQS) waitForMessage(ctx context.Context, end <-chan time.Time, woken <-chan struct{}, next time.Duration) bool {
	var soon <-chan time.Time
	if next > 0 {
		timer := time.NewTimer(next)
		defer timer.Stop()
		soon = timer.C
	}
	select {
	case <-woken:
		return true
	case <-soon:
		return true
	case <-end:
	case <-ctx.Done():
	case <-s.Closing:
	}
	return false
}

// Deliver puts an event into the queue of an ARN, after a drawn delay. Where there is none, the event is lost, as at AWS. The lock is held.
func (s *SQS) Deliver(arn, text string, at time.Time) {
	q := s.Queues[arn[strings.LastIndex(arn, ":")+1:]]
	if q == nil || q.ARN != arn {
		return
	}
	q.send(s.MessageID(), text, at, s.EventLag())
	if s.ComesTwice() { // "at least once": the copy is a message of its own
		q.send(s.MessageID(), text, at, s.EventLag())
	}
}
