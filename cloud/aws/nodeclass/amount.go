package nodeclass

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

var amountForm = regexp.MustCompile(`^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?[0-9]{1,2})?$`)

var percentForm = regexp.MustCompile(`^(?:[0-9]+\.?[0-9]*|\.[0-9]+)$`)

// ParseAmount reads a Kubernetes quantity such as 500m, 1.5Gi or 2e3 exactly.
func ParseAmount(text string) (*big.Rat, error) {
	parts := amountForm.FindStringSubmatch(text)
	if parts == nil {
		return nil, fmt.Errorf("%q is not an amount such as 100m, 2 or 512Mi", text)
	}
	number, ok := new(big.Rat).SetString(strings.TrimSuffix(parts[1], "."))
	if !ok {
		return nil, fmt.Errorf("%q is not an amount such as 100m, 2 or 512Mi", text)
	}
	return number.Mul(number, unit(parts[2])), nil
}

// ParseThreshold reads an eviction threshold: an amount, or a percentage of
// the given total. It rounds up. A threshold of 100 % is the kubelet's way to
// say that there is none: it is 0.
func ParseThreshold(text string, total int64) (int64, error) {
	digits, percent := strings.CutSuffix(text, "%")
	if !percent {
		amount, err := ParseAmount(text)
		if err != nil {
			return 0, err
		}
		return Ceil(amount), nil
	}
	share, ok := new(big.Rat), percentForm.MatchString(digits)
	if ok {
		share, ok = share.SetString(strings.TrimSuffix(digits, "."))
	}
	hundred := big.NewRat(100, 1)
	if !ok || share.Cmp(hundred) > 0 {
		return 0, fmt.Errorf("%q is not a percentage between 0%% and 100%%", text)
	}
	if share.Cmp(hundred) == 0 {
		return 0, nil
	}
	return Ceil(share.Mul(share, big.NewRat(total, 100))), nil
}

// Ceil rounds up to a whole number; what does not fit is the largest one.
func Ceil(r *big.Rat) int64 {
	whole, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	if !whole.IsInt64() {
		return 1<<63 - 1
	}
	return whole.Int64()
}

func unit(suffix string) *big.Rat {
	decimal := map[string]int64{"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
	binary := map[string]int64{"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
	if power, ok := binary[suffix]; ok {
		return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(2), big.NewInt(power), nil))
	}
	power, ok := decimal[suffix]
	if !ok { // the form allows only an exponent here
		power, _ = strconv.ParseInt(suffix[1:], 10, 64)
	}
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(power, -power)), nil)
	if power < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), ten)
	}
	return new(big.Rat).SetInt(ten)
}
