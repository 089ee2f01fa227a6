// Package advice says what a decision means for people: the rejected nodes
// grouped by one verdict, and the smallest single changes after which the pod
// would fit, each tried by the engine. It is pure, and nothing of it is part of
// an answer's digest.
package advice
