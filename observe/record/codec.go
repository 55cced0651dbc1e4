package record

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// version is that of the written form. Readers pass over fields and lines that
// they do not know, so it grows only where that is not enough.
const version = 1

// part is one piece of a record as it is written: all statements that held, or
// happened, between two moments.
type part struct {
	Version    int         `json:"version"`
	Began      time.Time   `json:"began"`
	Written    time.Time   `json:"written"`
	statements []Statement // each on a line of its own, after the line with the above
}

// encode writes the part as JSON lines, compressed.
func (p *part) encode() ([]byte, error) {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	lines := json.NewEncoder(packed)
	if err := lines.Encode(p); err != nil {
		return nil, fmt.Errorf("write the head of a record: %w", err)
	}
	for i := range p.statements {
		if err := lines.Encode(&p.statements[i]); err != nil {
			return nil, fmt.Errorf("write what is on record about %s: %w", p.statements[i].About, err)
		}
	}
	if err := packed.Close(); err != nil {
		return nil, fmt.Errorf("compress a record: %w", err)
	}
	return out.Bytes(), nil
}

// unpackedMax bounds what is read from one part, whatever was written there.
const unpackedMax = 64 << 20

// decode reads a part. Lines that are no statements, of another version perhaps,
// are left out.
func decode(data []byte) (part, error) {
	packed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return part{}, fmt.Errorf("unpack a record: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(packed, unpackedMax))
	if err != nil {
		return part{}, fmt.Errorf("unpack a record: %w", err)
	}
	var p part
	head, rest, _ := bytes.Cut(text, []byte("\n"))
	if err := json.Unmarshal(head, &p); err != nil || p.Version == 0 {
		return part{}, fmt.Errorf("the head of a record is no JSON with a version: %q", head[:min(len(head), 80)])
	}
	for line := range bytes.Lines(rest) {
		var s Statement
		if json.Unmarshal(line, &s) == nil && s.About.Name != "" && s.Said != "" && !s.From.IsZero() {
			s.shareTexts()
			p.statements = append(p.statements, s)
		}
	}
	return p, nil
}

// merge joins the parts of a record. Of statements that several parts have, the part that was
// written last reports how they ended.
func merge(parts []part) []Statement {
	at := map[id]int{}
	written := map[id]time.Time{}
	var out []Statement
	for _, p := range parts {
		for _, s := range p.statements {
			k := idOf(&s)
			i, known := at[k]
			switch {
			case !known:
				at[k] = len(out)
				out = append(out, s)
			case p.Written.After(written[k]):
				out[i] = s
			default:
				continue
			}
			written[k] = p.Written
		}
	}
	return out
}
