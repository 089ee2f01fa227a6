package object

import (
	"crypto/sha1"
	"strconv"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"
)

// uidSpace is the name space of the UIDs that are derived from names.
var uidSpace = uuid.NewSHA1(uuid.NameSpaceDNS, []byte("berth.objects"))

// givenVersion is the version of the UIDs that a ledger gives (RFC 9562: of no
// prescribed content).
const givenVersion = 8

// DerivedUID is the UID that an object gets which came without one: a UUIDv5 of
// kind, namespace and name, so that it is the same on every upload.
func DerivedUID(k Key) types.UID {
	id := nameUID(k, nil)
	return types.UID(id.String())
}

// GivenUID is the UID of an object that a ledger creates in a revision: a UUIDv8.
// It differs from that of an object of the same name which was deleted before, as
// an apiserver's does, and a repeated computation returns the same.
func GivenUID(k Key, revision int64) types.UID {
	id := nameUID(k, strconv.AppendInt([]byte{'@'}, revision, 10))
	id[6] = id[6]&0x0f | givenVersion<<4
	return types.UID(id.String())
}

// nameUID is the UUIDv5 of a key and what follows it, as uuid.NewSHA1 makes it with five
// allocations.
func nameUID(k Key, rest []byte) (id uuid.UUID) {
	text := append(make([]byte, 0, 256), uidSpace[:]...)
	for _, s := range [...]string{k.Kind, "/", k.Namespace, "/", k.Name} {
		text = append(text, s...)
	}
	sum := sha1.Sum(append(text, rest...))
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|5<<4, id[8]&0x3f|0x80
	return id
}

// IsGivenUID reports whether a UID is of the form that GivenUID gives.
func IsGivenUID(uid types.UID) bool {
	id, err := uuid.Parse(string(uid))
	return err == nil && id.Version() == givenVersion
}
