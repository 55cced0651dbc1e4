package interruption

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/daemok/daemok/cloud/aws/client"
	awsnotice "github.com/daemok/daemok/cloud/aws/interruption"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
)

// BenchmarkAThousandInterruptions is the whole way of 1,000 spot warnings about as many
// instances: over AWS's wire, and until every claim has its end noted and is deleted, and
// every message too. The API server is in memory.
func BenchmarkAThousandInterruptions(b *testing.B) {
	const n = 1000
	server := emulator.New(world.Options{Account: world.Account{ClusterName: "prod"}, Seed: 1, Now: time.Now})
	web := httptest.NewServer(server)
	b.Cleanup(func() { server.Close(); web.Close() })
	account := sqs.NewFromConfig(client.At(web.URL, "us-east-1", client.Key{ID: "key", Secret: "secret"}))
	for b.Loop() {
		b.StopTimer()
		d := newEvaluator(b)
		d.InterruptionMessages, d.Now = awsnotice.New(account, "prod", "prod", time.Now, pause.For), time.Now
		for i := range n {
			d.claim(fmt.Sprintf("c-%04d", i), fmt.Sprintf("i-%017x", i))
		}
		for i := range n {
			body := fmt.Sprintf(`{"version":"0","detail-type":"EC2 Spot Instance Interruption Warning","source":"aws.ec2","time":%q,"detail":{"instance-id":"i-%017x","instance-action":"terminate"}}`,
				time.Now().UTC().Format(time.RFC3339), i)
			if _, err := account.SendMessage(context.Background(), &sqs.SendMessageInput{QueueUrl: aws.String(server.QueueURL()), MessageBody: &body}); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		for len(d.gone) < n {
			if _, err := d.Round(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	}
}
