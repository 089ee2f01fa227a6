package lists

import (
	"encoding/hex"
	"strings"

	"github.com/google/uuid"
)

// Digests and UIDs are most of a small record as text. The columns hold them as
// bytes: a digest in its usual form as the 32 bytes that it stands for, a UUID
// as its 16. Any other text stays what it is, and gets one more byte 1 at its
// end where it could be taken for the short form.

const (
	digestPrefix = "sha256:"
	digestBytes  = 32
	uuidBytes    = 16
	uuidText     = 36
	longer       = 1
)

// PackDigest returns a digest as its column holds it.
func PackDigest(text string) []byte {
	if len(text) == len(digestPrefix)+2*digestBytes && strings.HasPrefix(text, digestPrefix) && lowerHex(text[len(digestPrefix):]) {
		if b, err := hex.DecodeString(text[len(digestPrefix):]); err == nil {
			return b
		}
	}
	return packText(text, digestBytes)
}

// UnpackDigest undoes PackDigest.
func UnpackDigest(column []byte) string {
	if len(column) == digestBytes {
		var text [len(digestPrefix) + 2*digestBytes]byte
		hex.Encode(text[copy(text[:], digestPrefix):], column)
		return string(text[:])
	}
	return unpackText(column, digestBytes)
}

// PackUID returns a pod's UID as its column holds it.
func PackUID(text string) []byte {
	if len(text) == uuidText {
		if id, err := uuid.Parse(text); err == nil && id.String() == text {
			return id[:]
		}
	}
	return packText(text, uuidBytes)
}

// UnpackUID undoes PackUID.
func UnpackUID(column []byte) string {
	if len(column) == uuidBytes {
		return uuid.UUID(column).String()
	}
	return unpackText(column, uuidBytes)
}

func lowerHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func packText(text string, short int) []byte {
	b := make([]byte, 0, len(text)+1)
	b = append(b, text...)
	if ambiguous(b, short) {
		b = append(b, longer)
	}
	return b
}

func unpackText(column []byte, short int) string {
	if len(column) > short && ambiguous(column, short) {
		column = column[:len(column)-1]
	}
	return string(column)
}

// ambiguous reports whether b is as long as the short form, but for bytes 1 at its end.
func ambiguous(b []byte, short int) bool {
	if len(b) < short {
		return false
	}
	for _, c := range b[short:] {
		if c != longer {
			return false
		}
	}
	return true
}
