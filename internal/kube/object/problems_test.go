package object

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

func TestFewProblems(t *testing.T) {
	if err := FewProblems(nil); err != nil {
		t.Error(err)
	}
	var list []error
	for i := range maxProblems {
		list = append(list, fmt.Errorf("problem %d", i))
	}
	all := utilerrors.NewAggregate(list)
	if got := FewProblems(all); got.Error() != all.Error() {
		t.Error(got)
	}
	if one := errors.New("alone"); FewProblems(one) != one { //nolint:errorlint // the very same
		t.Error("another error")
	}
	many := utilerrors.NewAggregate(append(list[:maxProblems:maxProblems], errors.New("x"), errors.New("y")))
	want := strings.TrimSuffix(all.Error(), "]") + ", and 2 more]"
	if got := FewProblems(many).Error(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if n := len(many.Errors()); n != maxProblems+2 {
		t.Errorf("%d problems are left in the list", n)
	}
}
