package whale

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestRolloutKeyHoldsEverything changes each field of the key: the id changes with every one, the seed only with four of them.
func TestRolloutKeyHoldsEverything(t *testing.T) {
	base := RolloutKey{Weights: "w", Harness: "h", Task: "t", Renderer: "r", Example: "x", Split: SplitTrain, Sampling: "s", Contract: 1, RunSeed: 1, Purpose: PurposeWeight, Draw: 0}
	seeded := map[string]bool{"RunSeed": true, "Purpose": true, "Example": true, "Draw": true}
	v := reflect.ValueOf(base)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		changed := base
		f := reflect.ValueOf(&changed).Elem().Field(i)
		switch f.Kind() {
		case reflect.String:
			f.SetString("other")
		case reflect.Int:
			f.SetInt(f.Int() + 1)
		case reflect.Uint64:
			f.SetUint(f.Uint() + 1)
		default:
			t.Fatalf("field %s of kind %s: the test does not know how to change it", name, f.Kind())
		}
		if changed.ID() == base.ID() {
			t.Errorf("%s changed, and the key's id did not", name)
		}
		if got := changed.Seed() != base.Seed(); got != seeded[name] {
			t.Errorf("%s changed: seed changed %v, want %v", name, got, seeded[name])
		}
	}
}

func TestSeedsStayBelow31Bits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SliceOf(rapid.String()).Draw(t, "path")
		if s := DeriveSeed(rapid.Uint64().Draw(t, "run seed"), path...); s >= 1<<31 {
			t.Fatalf("got %d", s)
		}
	})
	if DeriveSeed(1, "a", "bc") == DeriveSeed(1, "ab", "c") {
		t.Error("a path's cuts do not matter")
	}
}

func TestHashesDependOnDomainAndContent(t *testing.T) {
	if HashBytes("a", []byte("x")) == HashBytes("b", []byte("x")) || HashBytes("a", []byte("x")) == HashBytes("a", []byte("y")) {
		t.Error("two contents or two domains share a hash")
	}
	if HashOf("m", map[string]int{"a": 1, "b": 2}) != HashOf("m", map[string]int{"b": 2, "a": 1}) {
		t.Error("map order decides a hash")
	}
	if len(HarnessID([]byte("x"))) != 32 {
		t.Error("an id is 32 characters")
	}
}
