package world

import (
	"strings"
	"time"
)

// ImageTime is how EC2 writes the dates of images.
func ImageTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// UnlessEmpty is the value, and nothing where it is empty.
func UnlessEmpty(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// Seconds is how JSON services write moments.
func Seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// ResourceName is the last part of a URL or a path.
func ResourceName(text string) string { return text[strings.LastIndex(text, "/")+1:] }
