package sqs

import (
	"fmt"
	"slices"
	"time"

	"github.com/daemok/daemok/test/emulator/world"
)

// queue is one SQS queue. Messages are delivered at least once: one that is
// not deleted comes back when its visibility time is over.
type queue struct {
	Name      string
	ARN       string
	CreatedAt time.Time
	Retention time.Duration
	Messages  []*message
	Drawn     uint64 // receipts handed out
	Tags      map[string]string
	Set       map[string]string `json:",omitempty"` // attributes that somebody set, but for the retention
}

// message is one message of a queue.
type message struct {
	ID        string
	Body      string
	SentAt    time.Time
	VisibleAt time.Time
	Receipt   string // the newest one; only this deletes the message
	FirstAt   time.Time
	Received  int
}

// guidesRetention is what the guides' queue keeps messages for.
const guidesRetention = 300 * time.Second

// guidesPolicy lets the services that send events send them, and none talk to the queue in the clear; %s is its ARN.
const guidesPolicy = `{"Id":"EC2InterruptionPolicy","Version":"2008-10-17","Statement":[` +
	`{"Effect":"Allow","Principal":{"Service":["events.amazonaws.com","sqs.amazonaws.com"]},"Action":"sqs:SendMessage","Resource":"%[1]s"},` +
	`{"Sid":"DenyHTTP","Effect":"Deny","Principal":"*","Action":"sqs:*","Resource":"%[1]s","Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}`

// guidesQueue is the cluster's interruption queue as the guides make it.
func guidesQueue(a world.Account, now time.Time) *queue {
	q := newQueue(a, a.ClusterName, guidesRetention, now)
	q.Set = map[string]string{"Policy": fmt.Sprintf(guidesPolicy, q.ARN)}
	return q
}

func newQueue(a world.Account, name string, retention time.Duration, now time.Time) *queue {
	return &queue{Name: name, ARN: a.ARN("sqs", a.Region, name), CreatedAt: now, Retention: retention}
}

// send adds a message that becomes visible after a delay.
func (q *queue) send(id, body string, now time.Time, delay time.Duration) *message {
	m := &message{ID: id, Body: body, SentAt: now, VisibleAt: now.Add(delay)}
	q.Messages = append(q.Messages, m)
	return m
}

// expire forgets messages older than the retention.
func (q *queue) expire(now time.Time) {
	q.Messages = slices.DeleteFunc(q.Messages, func(m *message) bool { return now.Sub(m.SentAt) >= q.Retention })
}

// receive hands out up to most visible messages and hides them for a while.
func (q *queue) receive(now time.Time, most int, hidden time.Duration) []*message {
	q.expire(now)
	var out []*message
	for _, m := range q.Messages {
		if len(out) == most {
			break
		}
		if m.VisibleAt.After(now) {
			continue
		}
		q.Drawn++
		m.Receipt = fmt.Sprintf("%s#%d", m.ID, q.Drawn)
		m.VisibleAt = now.Add(hidden)
		m.Received++
		if m.FirstAt.IsZero() {
			m.FirstAt = now
		}
		out = append(out, m)
	}
	return out
}

// nextVisible tells when the next message can be received; false when none is
// in the queue.
func (q *queue) nextVisible() (time.Time, bool) {
	if len(q.Messages) == 0 {
		return time.Time{}, false
	}
	first := slices.MinFunc(q.Messages, func(a, b *message) int { return a.VisibleAt.Compare(b.VisibleAt) })
	return first.VisibleAt, true
}

func (q *queue) byReceipt(receipt string) *message {
	for _, m := range q.Messages {
		if m.Receipt == receipt && receipt != "" {
			return m
		}
	}
	return nil
}

// remove deletes the message of a receipt. An older receipt, or one of a
// message that is gone, deletes nothing and is no error, as with SQS.
func (q *queue) remove(receipt string) {
	q.Messages = slices.DeleteFunc(q.Messages, func(m *message) bool { return m.Receipt == receipt })
}

// counts are what GetQueueAttributes reports: visible, in flight, delayed.
func (q *queue) counts(now time.Time) (visible, inFlight, delayed int) {
	q.expire(now)
	for _, m := range q.Messages {
		switch {
		case !m.VisibleAt.After(now):
			visible++
		case m.Received > 0:
			inFlight++
		default:
			delayed++
		}
	}
	return visible, inFlight, delayed
}
