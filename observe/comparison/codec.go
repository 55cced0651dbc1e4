package comparison

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
)

// version of the form in which histories are written.
const version = 1

// textMax bounds what is read of a history, in bytes.
const textMax = 16 << 20

// Encode writes a history as compressed JSON.
func (h History) Encode() ([]byte, error) {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if err := json.NewEncoder(zip).Encode(h); err != nil {
		return nil, fmt.Errorf("encode the history: %w", err)
	}
	if err := zip.Close(); err != nil {
		return nil, fmt.Errorf("compress the history: %w", err)
	}
	return out.Bytes(), nil
}

// Decode reads a history, compressed or not. One that a later release wrote in another form is an error.
func Decode(data []byte) (History, error) {
	var h History
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		zip, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = io.ReadAll(io.LimitReader(zip, textMax))
		}
		if err != nil {
			return h, broken(err)
		}
	}
	if err := json.Unmarshal(data, &h); err != nil {
		return h, broken(err)
	}
	if h.Version != version {
		return History{}, fmt.Errorf("the history is of version %d, and this build reads version %d: "+
			"use the release that wrote it, or move it away to begin again", h.Version, version)
	}
	return h, nil
}

// broken says that a history cannot be read.
func broken(err error) error {
	return fmt.Errorf("read the history: it is damaged (%w): move it away to begin again", err)
}
