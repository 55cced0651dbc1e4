package changes

import (
	"fmt"
	"math"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/ui/text"
)

// hoursOfMonth is as AWS counts them.
const hoursOfMonth = 730

// dollars prints a price per hour with three decimals: "$0.096".
func dollars(p quantity.MicroUSDPerHour) string {
	if p < 0 {
		return "-" + dollars(-p)
	}
	if p > 0 && p < 500 {
		return "<$0.001"
	}
	return fmt.Sprintf("$%.3f", float64(p)/1e6)
}

func hourly(p quantity.MicroUSDPerHour) string { return dollars(p) + "/h" }

// change prints a difference per hour with its sign: "+$0.096".
func change(p quantity.MicroUSDPerHour) string {
	if p > 0 {
		return "+" + dollars(p)
	}
	return dollars(p)
}

// monthly prints what a price per hour comes to in a month: "$1,204", and below ten dollars "$4.38".
func monthly(p quantity.MicroUSDPerHour) string {
	month := float64(p) / 1e6 * hoursOfMonth
	switch {
	case p < 0:
		return "-" + monthly(-p)
	case month < 9.995:
		return fmt.Sprintf("$%.2f", month)
	}
	return "$" + thousands(int64(math.Round(month)))
}

func monthlyChange(p quantity.MicroUSDPerHour) string {
	if p > 0 {
		return "+" + monthly(p)
	}
	return monthly(p)
}

// thousands prints a number with commas.
func thousands(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// toneOf is what a change of cost means.
func toneOf(p quantity.MicroUSDPerHour) text.Tone {
	switch {
	case p < 0:
		return text.Good
	case p > 0:
		return text.Warn
	}
	return text.Plain
}
