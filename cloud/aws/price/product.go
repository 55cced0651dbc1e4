package price

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// product is the part of a price list entry that matters.
type product struct {
	Product struct {
		Attributes struct {
			InstanceType string `json:"instanceType"`
		} `json:"attributes"`
	} `json:"product"`
	Terms struct {
		OnDemand map[string]struct {
			PriceDimensions map[string]struct {
				PricePerUnit map[string]string `json:"pricePerUnit"`
			} `json:"priceDimensions"`
		} `json:"OnDemand"`
	} `json:"terms"`
}

// parseProduct reads one entry. Of several prices the highest counts, since
// discounts are for those who know of them. An amount that is no number makes
// the entry unreadable: it might be the highest.
func parseProduct(text, currency string) (kind string, amount float64, err error) {
	var p product
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return "", 0, err
	}
	for _, term := range p.Terms.OnDemand {
		for _, dimension := range term.PriceDimensions {
			price, given := dimension.PricePerUnit[currency]
			if !given {
				continue
			}
			value, err := strconv.ParseFloat(price, 64)
			if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
				return "", 0, fmt.Errorf("the price %q is not an amount of %s", price, currency)
			}
			amount = max(amount, value)
		}
	}
	return p.Product.Attributes.InstanceType, amount, nil
}

// Unread says which entries of the price list could not be read. The zero value says that
// all could.
type Unread struct {
	Entries int    // how many
	SKU     string // of the first one; "unknown" where even that cannot be read
	Cause   error  // why the first one could not
}

// Err is all of it in one error; nil when every entry could be read.
func (u Unread) Err() error {
	if u.Entries == 0 {
		return nil
	}
	return fmt.Errorf("%d entries of the price list cannot be read, the first is SKU %s: %w", u.Entries, u.SKU, u.Cause)
}

// skuIn finds the SKU of an entry that does not parse.
var skuIn = regexp.MustCompile(`"sku"\s*:\s*"([^"]{1,64})"`)

func (u *Unread) add(text string, cause error) {
	first := Unread{Entries: 1, SKU: "unknown", Cause: cause}
	if found := skuIn.FindStringSubmatch(text); found != nil {
		first.SKU = found[1]
	}
	u.merge(first)
}

// merge adds what a later part of the list had.
func (u *Unread) merge(later Unread) {
	u.Entries += later.Entries
	u.SKU = cmp.Or(u.SKU, later.SKU)
	if u.Cause == nil {
		u.Cause = later.Cause
	}
}
