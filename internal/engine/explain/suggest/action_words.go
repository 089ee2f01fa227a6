package suggest

// Words returns who has to do what, for people.
func (a Action) Words() string {
	switch a {
	case Wait:
		return "wait"
	case ChangePod:
		return "change the pod"
	case AskPlatform:
		return "ask the platform team"
	}
	return string(a)
}
