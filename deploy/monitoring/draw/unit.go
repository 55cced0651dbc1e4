package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// scale is larger units of the same amount: each is so many times the one before.
type scale struct {
	times float64
	name  string
}

// Units of amounts; the first counts in the unit that values have.
var (
	short  = []scale{{1, ""}, {1e3, " K"}, {1e3, " Mil"}, {1e3, " Bil"}}
	binary = []scale{{1, " B"}, {1024, " KiB"}, {1024, " MiB"}, {1024, " GiB"}, {1024, " TiB"}}
	spans  = []scale{{1, " µs"}, {1e3, " ms"}, {1e3, " s"}, {60, " min"}, {60, " h"}, {24, " d"}}
)

// format is a value as Grafana shows it in a unit, such as "1.5 min". What it does not know is a bare number.
func format(unit string, v float64) string {
	switch unit {
	case "currencyUSD":
		return strings.Replace("$"+scaled(v, short), "$-", "-$", 1)
	case "percentunit":
		return digits(100*v) + "%"
	case "percent":
		return digits(v) + "%"
	case "bytes":
		return scaled(v, binary)
	case "s":
		if v == 0 {
			return "0 s"
		}
		return scaled(1e6*v, spans)
	case "ops":
		return scaled(v, short) + " ops/s"
	case "bool_yes_no":
		if v == 0 {
			return "No"
		}
		return "Yes"
	}
	return scaled(v, short)
}

// scaled is a value in the largest unit of which there is one at least.
func scaled(v float64, scales []scale) string {
	i := 0
	for i+1 < len(scales) && math.Abs(v) >= scales[i+1].times {
		i++
		v /= scales[i].times
	}
	return digits(v) + scales[i].name
}

// digits is a number with three digits that count, without noughts at the end.
func digits(v float64) string {
	if v == 0 || math.IsInf(v, 0) {
		return fmt.Sprint(v)
	}
	places := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	text := strconv.FormatFloat(v, 'f', min(places, 6), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
