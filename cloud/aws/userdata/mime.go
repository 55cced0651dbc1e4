package userdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"net/textproto"
	"slices"
	"strings"
)

const (
	boundary       = "//"
	typeShell      = `text/x-shellscript; charset="us-ascii"`
	typeNodeConfig = "application/node.eks.aws"
)

// part is one part of a MIME document.
type part struct {
	header textproto.MIMEHeader
	body   []byte
}

func newPart(contentType, body string) part {
	return part{textproto.MIMEHeader{"Content-Type": {contentType}}, []byte(body)}
}

// splitMIME returns the parts of a MIME document; ok is false when the text
// is none.
func splitMIME(text string) (parts []part, ok bool, err error) {
	body, separator, ok := multipartBody(text)
	if !ok {
		return nil, false, nil
	}
	reader := multipart.NewReader(body, separator)
	for {
		p, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return parts, true, nil
		}
		var content []byte
		if err == nil {
			content, err = io.ReadAll(p)
		}
		if err != nil {
			return nil, true, fmt.Errorf("read MIME part %d of spec.userData: %w; check that every part is closed by its boundary %q",
				len(parts)+1, err, separator)
		}
		parts = append(parts, part{p.Header, content})
	}
}

// multipartBody returns what follows the header of a multipart document.
func multipartBody(text string) (body io.Reader, separator string, ok bool) {
	message, err := mail.ReadMessage(strings.NewReader(strings.TrimLeft(text, " \t\r\n")))
	if err != nil {
		return nil, "", false
	}
	kind, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(kind, "multipart/") {
		return nil, "", false
	}
	return message.Body, params["boundary"], true
}

// boundaryFor is the usual boundary, longer by as much as it takes for no part
// to hold it.
func boundaryFor(parts []part) string {
	out := boundary
	for slices.ContainsFunc(parts, func(p part) bool { return bytes.Contains(p.body, []byte("--"+out)) }) {
		out += "/"
	}
	return out
}

// joinMIME writes the parts as one document. Lines end in LF alone, as
// cloud-init likes it.
func joinMIME(parts []part) (string, error) {
	var b bytes.Buffer
	between := boundaryFor(parts)
	b.WriteString("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"" + between + "\"\n\n")
	w := multipart.NewWriter(&b)
	if err := w.SetBoundary(between); err != nil {
		return "", fmt.Errorf("set MIME boundary: %w", err)
	}
	for _, p := range parts {
		out, err := w.CreatePart(p.header)
		if err != nil {
			return "", fmt.Errorf("write MIME part: %w", err)
		}
		if _, err := out.Write(p.body); err != nil {
			return "", fmt.Errorf("write MIME part: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("close MIME document: %w", err)
	}
	return strings.ReplaceAll(b.String(), "\r\n", "\n"), nil
}
