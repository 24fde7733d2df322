package local

// ShippedTemplate is the Jinja text of the chat template that the model ships; empty where it ships none, or several.
func (b *Bundle) ShippedTemplate() string {
	f := folder{files: b.files}
	jinja, err := f.shippedTemplate()
	if err != nil { // it was opened by a template's name all the same
		return ""
	}
	return jinja
}
