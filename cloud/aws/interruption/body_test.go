package interruption

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
)

const (
	spotWarning = `{"version":"0","id":"12345678-1234-1234-1234-123456789012","detail-type":"EC2 Spot Instance Interruption Warning","source":"aws.ec2","account":"123456789012","time":"2026-11-21T02:00:00Z","region":"us-east-2","resources":["arn:aws:ec2:us-east-2a:instance/i-1234567890abcdef0"],"detail":{"instance-id":"i-1234567890abcdef0","instance-action":"terminate"}}`
	stateChange = `{"id":"7bf73129-1428-4cd3-a780-95db273d1602","detail-type":"EC2 Instance State-change Notification","source":"aws.ec2","account":"123456789012","time":"2026-11-21T02:00:00Z","region":"us-east-1","resources":["arn:aws:ec2:us-east-1:123456789012:instance/i-1234567890abcdef0"],"detail":{"instance-id":"i-1234567890abcdef0","state":"STATE"}}`
	health      = `{"version":"0","id":"7bf73129","detail-type":"AWS Health Event","source":"aws.health","account":"123456789012","time":"2026-01-27T01:43:21Z","region":"us-east-1",RESOURCES"detail":{"eventArn":"arn:aws:health:us-east-1::event/AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED_1","service":"EC2","eventTypeCode":"AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED","eventTypeCategory":"scheduledChange","startTime":"Thu, 27 Aug 2026 13:19:03 GMT","statusCode":"open","affectedEntities":[ENTITIES],"page":"1","totalPages":"1","backupEvent":"false"}}`
	block       = `{"version":"0","id":"1","detail-type":"EC2 Capacity Reservation Instance Interruption Warning","source":"aws.ec2","account":"123456789012","time":"2026-11-21T02:00:00Z","region":"us-east-1","resources":["arn:aws:ec2:us-east-1:123456789012:instance/i-1234567890abcdef0"],"detail":{"instance-id":"i-1234567890abcdef0","instance-action":"terminate","instance-termination-time":"2026-11-21T02:10:00Z","availability-zone-id":"use1-az1","instance-lifecycle":"capacity-block"}}`
	reclaimed   = `{"version":"0","id":"1","detail-type":"EC2 Capacity Reservation Instance Interruption Warning","source":"aws.ec2","account":"123456789012","time":"2026-11-21T02:00:00Z","region":"us-east-1","resources":"arn:aws:ec2:us-east-1:123456789012:instance/i-1234567890abcdef0","detail":{"instance-id":"i-1234567890abcdef0","instance-action":"terminate","instance-termination-time":"2026-11-21T02:02:00Z","azId":"use1-az1"}}`
)

const instance = "i-1234567890abcdef0"

var sent = time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)

// Every shape that AWS documents is understood. SC-494: a state that is no end says nothing.
func TestEveryDocumentedBodyIsUnderstood(t *testing.T) {
	state := func(s string) string { return strings.Replace(stateChange, "STATE", s, 1) }
	about := func(resources string, entities ...string) string {
		return strings.NewReplacer("RESOURCES", resources, "ENTITIES", strings.Join(entities, ",")).Replace(health)
	}
	now, later := time.Date(2026, 1, 27, 1, 43, 21, 0, time.UTC), time.Date(2026, 8, 27, 13, 19, 3, 0, time.UTC)
	planned := said{cloud.Maintenance, instance, now, later}
	bare, arn := `{"entityValue":"`+instance+`"}`, `{"entityValue":"arn:aws:ec2:us-east-1:123456789012:instance/`+instance+`","status":"PENDING"}`
	nothing := []said{{kind: cloud.NoOp, at: sent}}
	tests := map[string]struct {
		body string
		want []said
	}{
		"a spot warning": {spotWarning, []said{{cloud.Interrupted, instance, sent, sent.Add(2 * time.Minute)}}},
		"a spot warning of a machine that is stopped":    {strings.Replace(spotWarning, `"terminate"`, `"stop"`, 1), []said{{cloud.Interrupted, instance, sent, sent.Add(2 * time.Minute)}}},
		"a spot warning of a machine that hibernates":    {strings.Replace(spotWarning, `"terminate"`, `"hibernate"`, 1), []said{{cloud.Interrupted, instance, sent, sent}}},
		"a rebalance recommendation":                     {strings.Replace(spotWarning, typeInterruption, typeRebalance, 1), []said{{cloud.Rebalance, instance, sent, time.Time{}}}},
		"a machine that stops, without a version":        {state("stopping"), []said{{cloud.HasStopped, instance, sent, time.Time{}}}},
		"a machine that has stopped":                     {state("stopped"), []said{{cloud.HasStopped, instance, sent, time.Time{}}}},
		"a machine that shuts down":                      {state("shutting-down"), []said{{cloud.Terminated, instance, sent, time.Time{}}}},
		"a machine that has ended":                       {state("terminated"), []said{{cloud.Terminated, instance, sent, time.Time{}}}},
		"a machine that starts":                          {state("pending"), nothing},
		"a machine that runs":                            {state("running"), nothing},
		"a capacity block that ends":                     {block, []said{{cloud.ReservationInterrupted, instance, sent, sent.Add(10 * time.Minute)}}},
		"a reservation reclaimed, resources as one text": {reclaimed, []said{{cloud.ReservationInterrupted, instance, sent, sent.Add(2 * time.Minute)}}},
		"a scheduled change, its entity as an ARN":       {about(`"resources":[],`, arn), []said{planned}},
		"a scheduled change, its entity as an id":        {about(`"resources":["`+instance+`"],`, bare), []said{planned}},
		"a scheduled change without resources":           {about("", bare), []said{planned}},
		"a scheduled change without entities":            {about(`"resources":["` + instance + `"],`), []said{planned}},
		"a scheduled change of several":                  {about("", arn, `{"entityValue":"i-0aa"}`), []said{planned, {cloud.Maintenance, "i-0aa", now, later}}},
		"a scheduled change of a volume":                 {about("", `{"entityValue":"vol-0aa"}`), []said{{kind: cloud.NoOp, at: now}}},
		"a scheduled change that was resolved":           {about("", `{"entityValue":"i-0aa","status":"RESOLVED"}`), []said{{kind: cloud.NoOp, at: now}}},
		"a scheduled change that is over":                {strings.Replace(about("", bare), `"open"`, `"closed"`, 1), []said{{kind: cloud.NoOp, at: now}}},
		"a later page, told by the backup region":        {strings.NewReplacer(`"page":"1"`, `"page":"2"`, `"backupEvent":"false"`, `"backupEvent":"true"`).Replace(about("", bare)), []said{planned}},
		"a change of another service":                    {strings.Replace(about("", bare), `"EC2"`, `"RDS"`, 1), []said{{kind: cloud.NoOp, at: now}}},
		"an issue, not a change":                         {strings.Replace(about("", bare), "scheduledChange", "issue", 1), []said{{kind: cloud.NoOp, at: now}}},
		"a capacity block that ends, as AWS prints it":   {strings.Replace(block, `"detail-type"`, `"detail_type"`, 1), []said{{cloud.ReservationInterrupted, instance, sent, sent.Add(10 * time.Minute)}}},
		"a scheduled change on a day of one digit":       {strings.Replace(about("", bare), "Thu, 27 Aug", "Fri, 7 Aug", 1), []said{{cloud.Maintenance, instance, now, later.AddDate(0, 0, -20)}}},
		"an event of no concern":                         {strings.Replace(block, typeReservation, "Capacity Block Reservation Delivered", 1), nothing},
		"the id in resources alone":                      {strings.Replace(spotWarning, `"instance-id":"`+instance+`",`, "", 1), []said{{cloud.Interrupted, instance, sent, sent.Add(2 * time.Minute)}}},
		"a warning without a time":                       {strings.Replace(spotWarning, `"time":"2026-11-21T02:00:00Z",`, "", 1), []said{{kind: cloud.Interrupted, instance: instance}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := read(tt.body)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("read = %+v, %v; want %+v\n%s", got, err, tt.want, tt.body)
			}
		})
	}
}

func TestABodyThatIsNotUnderstoodSaysWhy(t *testing.T) {
	for body, want := range map[string]string{
		"":                                       "no EventBridge event",
		"hello":                                  "no EventBridge event",
		"[]":                                     "no EventBridge event",
		`{"Records":[{"eventSource":"aws:s3"}]}`: "source or detail-type is missing",
		strings.Replace(spotWarning, instance, "web-1", 2):                    "detail.instance-id is \"web-1\"",
		strings.Replace(spotWarning, `{"instance-id"`, `["instance-id"`, 1):   "no EventBridge event",
		`{"source":"aws.ec2","detail-type":"` + typeState + `","detail":"x"}`: "its detail cannot be read",
		`{"source":"aws.health","detail-type":"AWS Health Event"}`:            "its detail cannot be read",
		`{"source":"aws.ec2","detail-type":"x","resources":7}`:                "neither a text nor a list",
	} {
		if got, err := read(body); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("read(%s) = %+v, %v; want an error with %q", body, got, err, want)
		}
	}
}

// Whatever lies in the queue is understood or refused, and names an instance
// where something follows from it.
func FuzzBody(f *testing.F) {
	for _, body := range []string{spotWarning, stateChange, health, block, reclaimed, "", "{}", `{"resources":null}`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got, err := read(body)
		if (err == nil) != (len(got) > 0) {
			t.Fatalf("read = %+v, %v", got, err)
		}
		for _, s := range got {
			if (s.instance == "") != (s.kind == cloud.NoOp) || s.instance != "" && !instanceID.MatchString(s.instance) {
				t.Errorf("read = %+v", s)
			}
		}
	})
}
