package machine

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// consoleLinesMax is how much of a console is kept: the first boot and the
// latest words.
const consoleLinesMax = 200

// console is what an instance printed. The zero value is empty.
type console struct {
	mu   sync.Mutex // guards text
	text []string
}

func (c *console) printf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, time.Now().UTC().Format(time.RFC3339)+" "+fmt.Sprintf(format, args...))
	if len(c.text) > consoleLinesMax {
		c.text = slices.Delete(c.text, consoleLinesMax/2, consoleLinesMax/2+1)
	}
}

func (c *console) lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.text)
}
