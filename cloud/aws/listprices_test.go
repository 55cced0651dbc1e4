package aws_test

import (
	"testing"

	"github.com/daemok/daemok/cloud/aws"
)

func TestListPricesAreThoseOfTheZone(t *testing.T) {
	list := aws.ListPrices{Region: "us-east-1"}
	here, ok := list.Price("m5.large", "us-east-1a", "on-demand")
	if !ok || here <= 0 {
		t.Fatalf("m5.large in us-east-1a: %v, %v", here, ok)
	}
	for _, like := range []struct{ zone, option string }{{"us-east-1-bos-1a", "on-demand"}, {"", "on-demand"}, {"us-east-1a", "reserved"}, {"us-east-1a", ""}} {
		if got, ok := list.Price("m5.large", like.zone, like.option); !ok || got != here {
			t.Errorf("m5.large, %q in %q: %v, %v; want %v", like.option, like.zone, got, ok, here)
		}
	}
	if spot, ok := list.Price("m5.large", "us-east-1a", "spot"); !ok || spot >= here {
		t.Errorf("spot costs %v, %v, on demand %v", spot, ok, here)
	}
	for _, unknown := range []struct{ kind, zone string }{{"m5.huge", "us-east-1a"}, {"m5.large", "xx-north-9a"}} {
		if got, ok := list.Price(unknown.kind, unknown.zone, "on-demand"); ok {
			t.Errorf("%s in %s: %v, although there is no such price", unknown.kind, unknown.zone, got)
		}
	}
}
