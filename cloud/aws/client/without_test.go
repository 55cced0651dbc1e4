package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

const answer = `<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><reservationSet><item><groupSet/><instancesSet>
<item><instanceId>i-1</instanceId><networkInterfaceSet><item><groupSet><item><groupId>sg-of-interface</groupId></item></groupSet></item></networkInterfaceSet><groupSet><item><groupId>sg-1</groupId></item></groupSet><monitoring><state>disabled</state></monitoring></item>
<item><instanceId>i-2</instanceId><networkInterfaceSet/><groupSet/><tagSet><item><key>note</key><value>&lt;networkInterfaceSet&gt; stays</value></item></tagSet></item>
</instancesSet></item></reservationSet></DescribeInstancesResponse>`

// What is not asked for is taken out of an answer, and everything else stays.
func TestAnswersAreReadWithoutWhatIsNotAsked(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
	defer web.Close()
	api := ec2.NewFromConfig(At(web.URL, "us-east-1", Key{ID: "key", Secret: "secret"}))
	out, err := api.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{}, func(o *ec2.Options) {
		o.APIOptions = append(o.APIOptions, Without("networkInterfaceSet", "monitoring"))
	})
	if err != nil {
		t.Fatal(err)
	}
	list := out.Reservations[0].Instances
	if len(list) != 2 || aws.ToString(list[0].InstanceId) != "i-1" || len(list[0].NetworkInterfaces) != 0 || list[0].Monitoring != nil ||
		len(list[0].SecurityGroups) != 1 || aws.ToString(list[0].SecurityGroups[0].GroupId) != "sg-1" || aws.ToString(list[1].Tags[0].Value) != "<networkInterfaceSet> stays" {
		t.Errorf("read are %+v", list)
	}
}

func TestElementsAreCut(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"<b>1</b>":                    "<b>1</b>",
		"<a>1</a>":                    "",
		"<b><a><c/></a>2<a></a>3</b>": "<b>23</b>",
		"<a/><ab>1</ab><a>2</a>":      "<a/><ab>1</ab>",
		"<b><a>the end is missing":    "<b><a>the end is missing",
	} {
		if got := string(cut([]byte(text), "a")); got != want {
			t.Errorf("%q without a is %q, want %q", text, got, want)
		}
	}
}
