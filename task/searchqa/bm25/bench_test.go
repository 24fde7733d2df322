package bm25

import (
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
	"github.com/seed-095d5d2b/whale/task/searchqa/world"
)

// A search of the default world: whole questions, and names.
func BenchmarkMemory(b *testing.B) {
	w, err := world.Generate(world.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	var list []corpus.Passage
	for _, a := range w.Articles {
		list = append(list, corpus.Passage{ID: a.ID, Title: a.Title, Text: a.Text})
	}
	x, err := New(b.Context(), list, Plain)
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	questions := w.Questions[whale.SplitTrain]
	for name, query := range map[string]func(q world.Question) string{
		"question": func(q world.Question) string { return q.Text },
		"name":     func(q world.Question) string { return q.Hops[0].Title },
	} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, err := x.Search(b.Context(), query(questions[i%len(questions)]), 5); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			x, err := New(b.Context(), list, Plain)
			if err != nil {
				b.Fatal(err)
			}
			x.Close()
		}
	})
}
