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

// packDigest appends a digest as its column holds it.
func packDigest(b []byte, text string) []byte {
	if len(text) == len(digestPrefix)+2*digestBytes && strings.HasPrefix(text, digestPrefix) {
		var sum [digestBytes]byte
		if fromHex(sum[:], text[len(digestPrefix):]) {
			return append(b, sum[:]...)
		}
	}
	return packText(b, text, digestBytes)
}

// unpackDigest undoes packDigest.
func unpackDigest(column []byte) string {
	if len(column) == digestBytes {
		var text [len(digestPrefix) + 2*digestBytes]byte
		hex.Encode(text[copy(text[:], digestPrefix):], column)
		return string(text[:])
	}
	return unpackText(column, digestBytes)
}

// packUID appends a pod's UID as its column holds it.
func packUID(b []byte, text string) []byte {
	if len(text) == uuidText {
		if id, err := uuid.Parse(text); err == nil && id.String() == text {
			return append(b, id[:]...)
		}
	}
	return packText(b, text, uuidBytes)
}

// UnpackUID undoes packUID.
func UnpackUID(column []byte) string {
	if len(column) == uuidBytes {
		return uuid.UUID(column).String()
	}
	return unpackText(column, uuidBytes)
}

// digits has the value of each digit of a number in base 16, in lower case, and 255 elsewhere.
var digits = func() (of [256]byte) {
	for i := range of {
		of[i] = 255
	}
	for i, c := range []byte("0123456789abcdef") {
		of[c] = byte(i)
	}
	return of
}()

// fromHex writes the bytes that a text of twice their number stands for, unless it stands for none.
func fromHex(into []byte, text string) bool {
	bad := byte(0)
	for i := range into {
		high, low := digits[text[2*i]], digits[text[2*i+1]]
		into[i] = high<<4 | low
		bad |= high | low
	}
	return bad < 16
}

func packText(b []byte, text string, short int) []byte {
	at := len(b)
	b = append(b, text...)
	if ambiguous(b[at:], short) {
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
