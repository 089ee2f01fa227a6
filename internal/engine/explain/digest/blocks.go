package digest

import "crypto/sha256"

// blockSize is how many bytes of an encoding are hashed together. A hash costs as much as some 300
// bytes beside its bytes, and binds go to nodes all over a cluster: smaller blocks would cost more
// where pods of many kinds come in turn.
const blockSize = 2048

// hashBlocks puts the hashes of its blocks in place of an encoding, which starts at an index, where
// it is longer than one block.
func hashBlocks(b []byte, from int) []byte {
	if len(b)-from <= blockSize {
		return b
	}
	to := from // never behind the next block
	for from < len(b) {
		block := b[from:min(from+blockSize, len(b))]
		from += len(block)
		sum := sha256.Sum256(block)
		to += copy(b[to:], sum[:])
	}
	return b[:to]
}
