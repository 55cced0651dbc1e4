package price

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
)

// A stream of three entries, of which the middle one is not as we know them.
func TestAnEntryThatCannotBeReadHidesNoOther(t *testing.T) {
	sku := `{"product":{"sku":"ABC123","attributes":{"instanceType":"m5.large"}},"terms":`
	tests := map[string]struct{ bad, sku, cause string }{
		"text that breaks off":        {`{"product":{"sku": "ABC123","attr`, "ABC123", "unexpected end"},
		"no JSON at all":              {`<html>`, "unknown", "invalid character"},
		"a number in place of a text": {sku + `{"OnDemand":{"X":{"priceDimensions":{"Y":{"pricePerUnit":{"USD":0.096}}}}}}}`, "ABC123", "cannot unmarshal"},
		"a price that is none":        {sku + `{"OnDemand":{"X":{"priceDimensions":{"Y":{"pricePerUnit":{"USD":"n/a"}}}}}}}`, "ABC123", `"n/a"`},
		"a price without end":         {sku + `{"OnDemand":{"X":{"priceDimensions":{"Y":{"pricePerUnit":{"USD":"Inf"}}}}}}}`, "ABC123", `"Inf"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := New(table{"m5.large": 0.5})
			unread, err := b.RefreshOnDemand(t.Context(), shared(
				[]string{entry("c5.large", "USD", "0.085"), tt.bad}, []string{entry("r5.large", "USD", "0.126")}), "us-east-1")
			if err != nil {
				t.Fatalf("RefreshOnDemand = %v, want the other entries taken over", err)
			}
			wantOnDemand(t, b, "c5.large", 85000)
			wantOnDemand(t, b, "r5.large", 126000) // of the page after
			wantOnDemand(t, b, "m5.large", 500000) // still the table's
			if unread.Entries != 1 || unread.SKU != tt.sku || !strings.Contains(unread.Err().Error(), tt.cause) {
				t.Errorf("unread = %+v; want one entry, SKU %s, because of %q", unread, tt.sku, tt.cause)
			}
		})
	}
}

func TestAStreamThatCannotBeReadAtAllIsAFault(t *testing.T) {
	b := New(table{"m5.large": 0.5})
	unread, err := b.RefreshOnDemand(t.Context(), shared([]string{"{", `{"sku":"ABC123"`}), "us-east-1")
	if err == nil || !strings.Contains(err.Error(), "2 entries") || unread.Entries != 2 {
		t.Errorf("RefreshOnDemand = %+v, %v; want an error that counts both", unread, err)
	}
	wantOnDemand(t, b, "m5.large", 500000)
}

func TestAnEmptyListIsNoAnswer(t *testing.T) {
	b := New(table{"m5.large": 0.5})
	if _, err := b.RefreshOnDemand(t.Context(), shared([]string{}), "us-east-1"); err == nil || !strings.Contains(err.Error(), "no instance of shared tenancy") {
		t.Errorf("RefreshOnDemand = %v, want an error", err)
	}
	wantOnDemand(t, b, "m5.large", 500000)
	wantOnDemand(t, b, "m5.metal", 4608000) // the other stream counts
}

func TestAListThatCanBeReadIsNotComplainedOf(t *testing.T) {
	unread, err := New(nil).RefreshOnDemand(t.Context(), shared([]string{entry("c5.large", "USD", "0.085"), entry("x.large", "CNY", "none")}), "us-east-1")
	if err != nil || unread.Err() != nil {
		t.Errorf("RefreshOnDemand = %v, %v; want nothing unread", unread.Err(), err)
	}
}

// shared answers with these pages of shared instances, and one of bare metal.
func shared(pages ...[]string) products {
	return func(f map[string]string, page string) (*pricing.GetProductsOutput, error) {
		if f["tenancy"] != "Shared" {
			return &pricing.GetProductsOutput{PriceList: []string{entry("m5.metal", "USD", "4.608")}}, nil
		}
		out := &pricing.GetProductsOutput{PriceList: pages[len(page)]} // the token of page n has n letters
		if len(page)+1 < len(pages) {
			out.NextToken = aws.String(page + "x")
		}
		return out, nil
	}
}
