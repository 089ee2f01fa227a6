package object

import (
	"crypto/sha256"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
)

// owner is the controller of a pod that is made from a workload.
type owner struct {
	apiVersion, kind, namespace, name string
	uid                               types.UID
}

func ownerOf(o typed, apiVersion, kind string) owner {
	return owner{apiVersion, kind, o.GetNamespace(), o.GetName(), o.GetUID()}
}

// reference is what the controller writes into its pods (apimachinery
// pkg/apis/meta/v1, NewControllerRef). An owner that was not created yet has no
// UID: it gets one that follows from its name.
func (o owner) reference() metav1.OwnerReference {
	yes, uid := true, o.uid
	if uid == "" {
		sum := sha256.Sum256([]byte(o.kind + "/" + o.namespace + "/" + o.name))
		uid = types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
	}
	return metav1.OwnerReference{APIVersion: o.apiVersion, Kind: o.kind, Name: o.name, UID: uid, Controller: &yes, BlockOwnerDeletion: &yes}
}

const (
	// suffixAlphabet are the letters of generated names (apimachinery
	// pkg/util/rand: no vowels, and no digits that look like letters).
	suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789"
	suffixLength   = 5
	maxNameLength  = 63
)

// GenerateName returns a name that begins with a prefix, as an apiserver makes it of a generateName
// (apiserver pkg/storage/names/generate.go GenerateName).
func GenerateName(prefix string) string {
	return prefix[:min(len(prefix), maxNameLength-suffixLength)] + rand.String(suffixLength)
}

// generatedName returns a name as an apiserver generates one (apiserver
// pkg/storage/names, SimpleNameGenerator), with a suffix that follows from a seed.
func generatedName(prefix, seed string) string {
	prefix = prefix[:min(len(prefix), maxNameLength-suffixLength)]
	sum := sha256.Sum256([]byte(seed))
	suffix := make([]byte, suffixLength)
	for i := range suffix {
		suffix[i] = suffixAlphabet[int(sum[i])%len(suffixAlphabet)]
	}
	return prefix + string(suffix)
}
