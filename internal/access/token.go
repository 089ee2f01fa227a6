package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
)

// tokenPrefix begins each API token, so that scanners for secrets find it.
const tokenPrefix = "berth_"

// A token is its prefix, 200 random bits and a CRC-32 of both, in base32: 40 and 7 characters.
const (
	secretBytes   = 25
	secretChars   = 40
	checksumChars = 7
	tokenLength   = len(tokenPrefix) + secretChars + checksumChars
)

var tokenText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewToken returns a new token.
func NewToken() string {
	var secret [secretBytes]byte
	_, _ = rand.Read(secret[:]) // never fails: the process ends where there is no randomness
	text := tokenPrefix + tokenText.EncodeToString(secret[:])
	return text + checksum(text)
}

func checksum(text string) string {
	return tokenText.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(text))))
}

// errToken is about a token that is none, whatever is stored.
var errToken = errors.New("it is no API token: want berth_ and 47 characters, of which the last 7 are a checksum")

// isToken reports whether a bearer token claims to be an API token.
func isToken(text string) bool { return strings.HasPrefix(text, tokenPrefix) }

// hashToken returns the hash of a token; an error is about a text that is mistyped or cut.
func hashToken(text string) ([]byte, error) {
	if len(text) != tokenLength || !isToken(text) {
		return nil, errToken
	}
	body := text[:len(text)-checksumChars]
	if text[len(body):] != checksum(body) {
		return nil, errToken
	}
	if _, err := tokenText.DecodeString(body[len(tokenPrefix):]); err != nil {
		return nil, errToken
	}
	sum := sha256.Sum256([]byte(text))
	return sum[:], nil
}
