package object

import (
	"fmt"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// maxProblems is how many problems the text of one error lists.
const maxProblems = 100

// FewProblems returns an error that lists problems with the first hundred of them and the number of
// the others; any other error as it is. The text of a list takes time and memory that grow with the
// square of its length (apimachinery pkg/util/errors aggregate.Error), and wrapping an error with
// %w makes its text at once. A selector of a MiB may have as many problems as it has values.
func FewProblems(err error) error {
	list, ok := err.(utilerrors.Aggregate) //nolint:errorlint // one that is wrapped has its text already
	if !ok || len(list.Errors()) <= maxProblems {
		return err
	}
	all := list.Errors()
	return utilerrors.NewAggregate(append(all[:maxProblems:maxProblems], fmt.Errorf("and %d more", len(all)-maxProblems)))
}
