package bm25

import (
	"strconv"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/document"
	index "github.com/blevesearch/bleve_index_api"

	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
)

// The fields of a passage in the index.
const (
	fieldText  = "text" // title and text, searched, not stored
	fieldID    = "id"   // the passage's own id, stored
	fieldTitle = "title"
	fieldBody  = "body"
)

// newDocument makes the document of the passage at a position. The position is the document's id: passages may share theirs.
func newDocument(at int, p corpus.Passage, a analysis.Analyzer, store bool) *document.Document {
	d := document.NewDocument(strconv.Itoa(at))
	d.AddField(document.NewTextFieldCustom(fieldText, nil, []byte(p.Title+"\n"+p.Text), index.IndexField, a))
	if store {
		for name, value := range map[string]string{fieldID: p.ID, fieldTitle: p.Title, fieldBody: p.Text} {
			d.AddField(document.NewTextFieldWithIndexingOptions(name, nil, []byte(value), index.StoreField))
		}
	}
	return d
}
