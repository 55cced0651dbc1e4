// Package quantity does exact arithmetic with units: CPU, memory, pods, extended resources, money per
// hour. Every amount is an integer in one fixed unit, so two hosts that compute the same plan compute
// the same bytes.
//
// kube/translate parses Kubernetes quantities ("1500m", "2Gi") once, and no other code sees them; the
// text forms here serve stories and reports.
package quantity

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// MilliCPU is CPU time in thousandths of a core: one core is 1000.
type MilliCPU int64

// Bytes is an amount of memory or storage.
type Bytes int64

// Units of Bytes.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
	TiB Bytes = 1 << 40
	PiB Bytes = 1 << 50
	EiB Bytes = 1 << 60
)

// MicroUSDPerHour is a price in millionths of a US dollar per hour:
// $0.096 per hour is 96000.
type MicroUSDPerHour int64

// String prints whole cores plainly and the rest in thousandths: "2", "1500m".
func (c MilliCPU) String() string {
	if c%1000 == 0 {
		return strconv.FormatInt(int64(c/1000), 10)
	}
	return strconv.FormatInt(int64(c), 10) + "m"
}

// String prints the largest binary unit that divides the amount: "2Gi", "300Mi", "7".
func (b Bytes) String() string {
	if b == Most {
		return "8Ei" // which is one more, and read as Most
	}
	for _, unit := range []struct {
		size   Bytes
		suffix string
	}{{EiB, "Ei"}, {PiB, "Pi"}, {TiB, "Ti"}, {GiB, "Gi"}, {MiB, "Mi"}, {KiB, "Ki"}} {
		if b != 0 && b%unit.size == 0 {
			return strconv.FormatInt(int64(b/unit.size), 10) + unit.suffix
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// String prints dollars per hour with six decimals: "$0.096000/h".
func (p MicroUSDPerHour) String() string {
	sign := ""
	if p < 0 {
		sign, p = "-", -p
	}
	return fmt.Sprintf("%s$%d.%06d/h", sign, p/1e6, p%1e6)
}

// Dollars returns the price in US dollars per hour, for output alone: sums of such
// numbers depend on their order.
func (p MicroUSDPerHour) Dollars() float64 { return float64(p) / 1e6 }

// priceMax is more than any instance costs, and so little that sums of thousands of prices can be
// counted.
const priceMax = MicroUSDPerHour(1e15)

// USDPerHour converts a price in dollars per hour, rounding to the nearest
// millionth, halves away from zero. More than a billion dollars count as that.
func USDPerHour(dollars float64) MicroUSDPerHour {
	switch {
	case dollars < 0:
		return -USDPerHour(-dollars)
	case dollars*1e6 >= float64(priceMax):
		return priceMax
	}
	return MicroUSDPerHour(float64(dollars*1e6) + 0.5)
}

// ParseCPU reads "2", "1500m" or "0.5".
func ParseCPU(text string) (MilliCPU, error) {
	if digits, ok := strings.CutSuffix(text, "m"); ok {
		n, err := parseInt(digits)
		if err != nil {
			return 0, fmt.Errorf("parse cpu %q: want cores such as 2 or thousandths such as 1500m", text)
		}
		return MilliCPU(n), nil
	}
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) > 3 {
		return 0, fmt.Errorf("parse cpu %q: finer than a thousandth of a core", text)
	}
	n, err := parseInt(whole + fraction + strings.Repeat("0", 3-len(fraction)))
	if err != nil {
		return 0, fmt.Errorf("parse cpu %q: want cores such as 2 or thousandths such as 1500m", text)
	}
	return MilliCPU(n), nil
}

// ParseBytes reads a whole number with an optional suffix, Ki to Ei or k to E.
func ParseBytes(text string) (Bytes, error) {
	unit, digits := Bytes(1), text
	for _, u := range []struct {
		suffix string
		size   Bytes
	}{
		{"Ki", KiB}, {"Mi", MiB}, {"Gi", GiB}, {"Ti", TiB}, {"Pi", PiB}, {"Ei", EiB},
		{"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18},
	} {
		if rest, ok := strings.CutSuffix(text, u.suffix); ok {
			unit, digits = u.size, rest
			break
		}
	}
	n, err := parseInt(digits)
	if err != nil {
		return 0, fmt.Errorf("parse bytes %q: want a whole number with a suffix such as Mi or Gi", text)
	}
	return Bytes(Product(n, int64(unit))), nil
}

// parseInt reads a whole number; one that is too large to be counted is the
// nearest that is not.
func parseInt(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return n, nil
	}
	return n, err
}
