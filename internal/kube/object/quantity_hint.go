package object

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// units are the suffixes of quantities by what people write in their place, in
// lower case (apimachinery pkg/api/resource: m, k, M, Mi and so on, no B for bytes).
var units = map[string]string{
	"": "", "b": "", "byte": "", "bytes": "", "core": "", "cores": "", "cpu": "", "cpus": "",
	"k": "k or %Ki", "kb": "k or %Ki", "kib": "Ki", "ki": "Ki",
	"mb": "M or %Mi", "mib": "Mi", "mi": "Mi",
	"g": "G or %Gi", "gb": "G or %Gi", "gib": "Gi", "gi": "Gi",
	"t": "T or %Ti", "tb": "T or %Ti", "tib": "Ti", "ti": "Ti",
	"p": "P or %Pi", "pb": "P or %Pi", "pib": "Pi", "pi": "Pi",
	"millicpu": "m", "millicore": "m", "millicores": "m",
}

// quantityHint returns what a text that is no quantity most likely stands for, such as
// "did you mean 4G or 4Gi?" for 4GB; empty where nothing is near.
func quantityHint(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxQuantityBytes {
		return ""
	}
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	unit, known := units[strings.ToLower(strings.TrimSpace(text[len(number):]))]
	number = strings.Replace(strings.TrimSpace(number), ",", ".", 1)
	if _, err := resource.ParseQuantity(number); err != nil || !known || !strings.ContainsAny(number, "0123456789") {
		return ""
	}
	return "did you mean " + number + strings.ReplaceAll(unit, "%", number) + "?"
}
