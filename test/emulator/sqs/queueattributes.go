package sqs

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

const (
	attrDelay     = "DelaySeconds"
	attrSize      = "MaximumMessageSize"
	attrRetention = "MessageRetentionPeriod"
	attrWait      = "ReceiveMessageWaitTimeSeconds"
	attrHidden    = "VisibilityTimeout"
	attrManaged   = "SqsManagedSseEnabled"
	attrKey       = "KmsMasterKeyId"
)

// queueNumbers are the attributes of queues that are numbers, with their bounds and what they are
// where none sets them.
var queueNumbers = map[string]struct{ least, most, usual int }{
	attrDelay:     {0, 900, 0},
	attrSize:      {1 << 10, messageBytesMax, messageBytesMax},
	attrRetention: {60, 14 * 24 * 3600, 4 * 24 * 3600},
	attrWait:      {0, waitMax, 0},
	attrHidden:    {0, visibilityMax, 30},

	"KmsDataKeyReusePeriodSeconds": {60, 24 * 3600, 300},
}

// queueTexts are attributes that are kept and change nothing: none needs a right or a key here.
var queueTexts = []string{attrKey, "Policy", attrManaged}

// number is the value of an attribute that is one.
func (q *queue) number(name string) int {
	if name == attrRetention {
		return int(q.Retention.Seconds())
	}
	if n, err := strconv.Atoi(q.Set[name]); err == nil {
		return n
	}
	return queueNumbers[name].usual
}

func (q *queue) seconds(name string) time.Duration {
	return time.Duration(q.number(name)) * time.Second
}

// settings are the attributes as they are, those that are not set included.
func (q *queue) settings() map[string]string {
	all := map[string]string{attrManaged: world.BoolText(q.Set[attrKey] == "")}
	maps.Copy(all, q.Set)
	for name := range queueNumbers {
		if name != "KmsDataKeyReusePeriodSeconds" || q.Set[attrKey] != "" {
			all[name] = strconv.Itoa(q.number(name))
		}
	}
	return all
}

// checkQueueAttributes refuses what queues have not, and what is out of bounds.
func checkQueueAttributes(asked map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		bounds, number := queueNumbers[name]
		n, err := strconv.Atoi(asked[name])
		switch {
		case number && (err != nil || n < bounds.least || n > bounds.most):
			return wire.Errorf("InvalidAttributeValue", "Invalid value for the parameter %s. It must be %d to %d.", name, bounds.least, bounds.most)
		case !number && !slices.Contains(queueTexts, name):
			return wire.Errorf("InvalidAttributeName", "Unknown Attribute %s. The emulator has %s.", name, world.Listed(maps.Keys(queueNumbers))+", "+world.Listed(slices.Values(queueTexts)))
		}
	}
	return nil
}

// set changes attributes that were checked; an empty text is as if it were not set.
func (q *queue) set(asked map[string]string) {
	next := map[string]string{}
	maps.Copy(next, q.Set)
	maps.Copy(next, asked)
	maps.DeleteFunc(next, func(_, value string) bool { return value == "" })
	if text := next[attrRetention]; text != "" {
		s, _ := strconv.Atoi(text) // checked
		q.Retention = time.Duration(s) * time.Second
		delete(next, attrRetention)
	}
	q.Set = next
}

func setQueueAttributes(c *call) (any, error) {
	var in struct {
		QueueUrl   string //nolint:revive // the name on the wire
		Attributes map[string]string
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	q, err := c.server.queueAt(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if err := checkQueueAttributes(in.Attributes); err != nil {
		return nil, err
	}
	q.set(in.Attributes)
	c.server.WakePollers()
	return nil, nil
}

func untagQueue(c *call) (any, error) {
	var in struct {
		QueueUrl string //nolint:revive // the name on the wire
		TagKeys  []string
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	q, err := c.server.queueAt(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	for _, key := range in.TagKeys {
		delete(q.Tags, key)
	}
	return nil, nil
}
