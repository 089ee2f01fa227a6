package wire

import "berth/internal/jsonscan"

// BindingArgs is the request of /bind, ExtenderBindingArgs in extender/v1. It shares no memory with
// the body.
type BindingArgs struct {
	PodName, PodNamespace, PodUID, Node string
}

// ParseBindingArgs reads the body of /bind. All four fields have to be there and not empty, as
// kube-scheduler has them: a binding without the UID could hit another pod of the same name. The
// error is a *SyntaxError, *TypeError, *LimitError or *MissingError; the last comes with the fields
// that could be read.
func ParseBindingArgs(body []byte, lim Limits) (BindingArgs, error) {
	var args BindingArgs
	var s scanner
	if err := s.init(body, lim); err != nil {
		return BindingArgs{}, err
	}
	err := s.members("body", "an object", func(key []byte) error {
		switch {
		case is(key, "PodName"):
			return s.str("PodName", &args.PodName)
		case is(key, "PodNamespace"):
			return s.str("PodNamespace", &args.PodNamespace)
		case is(key, "PodUID"):
			return s.str("PodUID", &args.PodUID)
		case is(key, "Node"):
			return s.str("Node", &args.Node)
		}
		return s.Skip()
	})
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return BindingArgs{}, err
	}
	for _, f := range []struct{ name, value string }{
		{"PodName", args.PodName}, {"PodNamespace", args.PodNamespace}, {"PodUID", args.PodUID}, {"Node", args.Node},
	} {
		if f.value == "" {
			return args, &MissingError{Field: f.name}
		}
	}
	return args, nil
}

// AppendBindingResult appends the ExtenderBindingResult; an empty message reports that the pod is
// bound.
func AppendBindingResult(dst []byte, message string) []byte {
	return append(jsonscan.AppendString(append(dst, `{"Error":`...), message), '}')
}
