package world

import (
	"strings"
)

// MessageID draws an identifier that looks like a UUID.
func (s *World) MessageID() string {
	_, h, _ := strings.Cut(s.NewID("msg"), "-")
	h += strings.Repeat("0", 32-len(h))
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-8" + h[17:20] + "-" + h[20:32]
}
