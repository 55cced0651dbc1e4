package boot

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"strings"
)

const (
	typeShell      = "text/x-shellscript"
	typeNodeConfig = "application/node.eks.aws"
)

// part is one document of user data in the order written.
type part struct {
	contentType string
	body        []byte
}

// inflate unpacks gzip, which cloud-init and nodeadm both do.
func inflate(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack gzip: %w", err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("unpack gzip: %w", err)
	}
	return out, nil
}

// parts splits multipart user data. Data that is not multipart is one part:
// a script when it starts like one, otherwise of no type.
func parts(data []byte) ([]part, error) {
	boundary, body, ok := multipartOf(data)
	if !ok {
		if bytes.HasPrefix(bytes.TrimSpace(data), []byte("#!")) {
			return []part{{typeShell, data}}, nil
		}
		return []part{{"", data}}, nil
	}
	var out []part
	reader := multipart.NewReader(body, boundary)
	for {
		p, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read MIME part %d: %w", len(out)+1, err)
		}
		one, err := readPart(p)
		if err != nil {
			return nil, fmt.Errorf("read MIME part %d: %w", len(out)+1, err)
		}
		out = append(out, one)
	}
}

func multipartOf(data []byte) (boundary string, body io.Reader, ok bool) {
	msg, err := mail.ReadMessage(bytes.NewReader(bytes.TrimLeft(data, " \t\r\n")))
	if err != nil {
		return "", nil, false
	}
	kind, params, err := mime.ParseMediaType(msg.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(kind, "multipart/") || params["boundary"] == "" {
		return "", nil, false
	}
	return params["boundary"], msg.Body, true
}

func readPart(p *multipart.Part) (part, error) {
	body, err := io.ReadAll(p)
	if err != nil {
		return part{}, err
	}
	if strings.EqualFold(p.Header.Get("Content-Transfer-Encoding"), "base64") {
		body, err = decodeBase64(string(body))
		if err != nil {
			return part{}, err
		}
	}
	kind, _, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
	if err != nil {
		kind = p.Header.Get("Content-Type")
	}
	body, err = inflate(body)
	return part{kind, body}, err
}

// decodeBase64 decodes text that may be folded over lines.
func decodeBase64(text string) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
}
