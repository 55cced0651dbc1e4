package compact

import "sync"

// commonMax is how many different parts are known at once. With one more they are all forgotten, and objects that come
// later share again: so parts of objects that are gone do not stay.
const commonMax = 10_000

// Common is what many objects have in common, each part of it once. The zero value is ready; it is safe for
// concurrent use.
type Common struct {
	mu    sync.Mutex
	parts map[string]any // by how they are encoded
}

// Part is something that is equal where it is encoded alike.
type Part interface {
	comparable
	Marshal() ([]byte, error)
}

// Share returns the part that came first of those that are equal. kind distinguishes types.
func Share[P Part](c *Common, kind string, p P) P {
	text, err := p.Marshal()
	if err != nil {
		return p
	}
	key := kind + string(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if first, known := c.parts[key]; known {
		return first.(P)
	}
	if c.parts == nil || len(c.parts) == commonMax {
		c.parts = map[string]any{}
	}
	c.parts[key] = p
	return p
}
