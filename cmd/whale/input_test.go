package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale/store"
)

// TestBadInput gives the real root command what it cannot use. The whole complaint is one line that names the file, the place in it and
// what to do; the exit code is the documented one; and nothing that was there is touched.
func TestBadInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	config := writeTest(t, dir)
	must(t, "run", config, "--dir", at("run"))

	edited := func(name string, edits ...string) {
		sub := at(name)
		writeTest(t, sub, edits...)
	}
	edited("key", "schedule:\n", "shedule:\n")
	edited("nested", "  batch: 8", "  bach: 8")
	edited("type", "batch: 8", "batch: many")
	edited("range", "batch: 8", "batch: -8")
	edited("huge", "batch: 8", "batch: 4000000000000")
	edited("nostep", "total_epochs: 2", "total_epochs: 0.001")
	edited("endless", "epochs: 1\n", "epochs: 1e-6\n")
	edited("nomodel", "seed: 1\n", "seed: 1\npolicy:\n  model: models/none\n")
	edited("cutmodel", "seed: 1\n", "seed: 1\npolicy:\n  model: model\n")
	copyModel(t, at("cutmodel/model"))
	if err := os.Truncate(at("cutmodel/model/model.safetensors"), 5000); err != nil {
		t.Fatal(err)
	}
	edited("lostfile", "seed: 1\n", "seed: 1\npolicy:\n  model: model\n")
	copyModel(t, at("lostfile/model"))
	if err := os.Remove(at("lostfile/model/tokenizer.json")); err != nil {
		t.Fatal(err)
	}
	edited("notemplate", "seed: 1\n", "seed: 1\npolicy:\n  model: model\n")
	copyModel(t, at("notemplate/model"))
	write(t, at("notemplate/model/tokenizer.json"), `{"model": "wordpiece"}`)
	edited("noharness", "harness: h.star", "harness: none.star")
	edited("syntax")
	write(t, at("syntax/h.star"), "def run(task, model, env):\n    return )\n")
	edited("norun")
	write(t, at("norun/h.star"), "def walk(task, model, env):\n    return None\n")
	edited("changed", "batch: 8", "batch: 4")
	write(t, at("folder/notes.txt"), "mine\n")
	write(t, at("yaml.yaml"), "name: [\n")

	data := func(name, text string) {
		edited(name, "    generator:\n      seed: 11\n      two_step: 0\n      bare: 1\n      counts: {train: 16, search: 4, validation: 2, test: 4}\n",
			"    source: files\n    files: {train: [d/train.jsonl], search: [d/search.jsonl], test: [d/test.jsonl]}\n")
		for _, split := range []string{"train", "search", "test"} {
			write(t, at(name+"/d/"+split+".jsonl"), `{"problem": "What is 1 + 1 of `+split+`?", "answer": "2"}`+"\n")
		}
		if text == "" {
			if err := os.Remove(at(name + "/d/search.jsonl")); err != nil {
				t.Fatal(err)
			}
			return
		}
		write(t, at(name+"/d/search.jsonl"), text)
	}
	row := `{"problem": "What is 2 + 2?", "answer": "4"}` + "\n"
	data("nodata", "")
	data("cutdata", row+row[:20])
	data("binary", row+"\x00\xff\xfe\n")
	data("long", row+`{"problem": "`+strings.Repeat("x", 2<<20)+`", "answer": "4"}`+"\n")
	data("wrongrow", row+row+`{"problem": "What is 3?", "answer": {"value": 3}}`+"\n")
	data("emptydata", "\n\n")
	data("leak", `{"problem": "What is 1 + 1 of test?", "answer": "2"}`+"\n")

	locked, err := store.Create(at("locked"), []byte(testConfig), store.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer locked.Close()
	if err := os.CopyFS(at("broken"), os.DirFS(at("run"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"journal.db-wal", "journal.db-shm"} {
		if err := os.RemoveAll(at("broken/" + name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, at("broken/journal.db"), "no database, but as long as the header of one would be: "+strings.Repeat("x", 100))

	for _, tc := range []struct {
		name string
		args []string // DIR/ stands for the folder
		code int
		want []string
	}{
		{"unknown key", []string{"run", "DIR/key/c.yaml"}, exitUsage, []string{`DIR/key/c.yaml:15:1: unknown key "shedule": did you mean "schedule"?`}},
		{"unknown nested key", []string{"plan", "DIR/nested/c.yaml"}, exitUsage, []string{`DIR/nested/c.yaml:20:3: unknown key "bach": did you mean "batch"?`}},
		{"wrong type", []string{"run", "DIR/type/c.yaml"}, exitUsage, []string{"DIR/type/c.yaml:20:10: "}},
		{"out of range", []string{"eval", "DIR/range/c.yaml"}, exitUsage, []string{"DIR/range/c.yaml: weight.batch: got -8, want "}},
		{"far out of range", []string{"run", "DIR/huge/c.yaml"}, exitUsage, []string{"DIR/huge/c.yaml: weight.batch: got 4e+12, want "}},
		{"no YAML", []string{"run", "DIR/yaml.yaml"}, exitUsage, []string{"DIR/yaml.yaml:1:"}},
		{"no whole step", []string{"run", "DIR/nostep/c.yaml"}, exitUsage, []string{"DIR/nostep/c.yaml: schedule.total_epochs: got 0.001", "want more epochs"}},
		{"endless plan", []string{"plan", "DIR/endless/c.yaml"}, exitUsage, []string{"DIR/endless/c.yaml: schedule.epochs: got 1e-06", "want at most"}},
		{"missing config", []string{"run", "DIR/none.yaml"}, exitUsage, []string{"config DIR/none.yaml: no such file", "examples/math/quick.yaml"}},
		{"config is a folder", []string{"plan", "DIR/folder"}, exitUsage, []string{"config DIR/folder: is a directory"}},
		{"missing model", []string{"run", "DIR/nomodel/c.yaml"}, exitInput, []string{"DIR/nomodel/c.yaml: model DIR/nomodel/models/none: no such embedded model", "whale-tiny"}},
		{"truncated model", []string{"run", "DIR/cutmodel/c.yaml"}, exitInput, []string{"model DIR/cutmodel/model: model.safetensors", "copy or train the model again"}},
		{"model lacks a file", []string{"plan", "DIR/lostfile/c.yaml"}, exitInput, []string{"model DIR/lostfile/model: tokenizer.json is missing", "make the folder again"}},
		{"foreign tokenizer", []string{"run", "DIR/notemplate/c.yaml"}, exitInput, []string{"model DIR/notemplate/model: tokenizer.json: "}},
		{"missing model flag", []string{"eval", "DIR/c.yaml", "--model", "DIR/none"}, exitInput, []string{"model DIR/none: no such embedded model"}},
		{"model info of nothing", []string{"model", "info", "DIR/none"}, exitInput, []string{"model DIR/none: no such"}},
		{"missing data", []string{"run", "DIR/nodata/c.yaml"}, exitInput, []string{"DIR/nodata/d/search.jsonl: no such file"}},
		{"truncated data", []string{"run", "DIR/cutdata/c.yaml"}, exitInput, []string{"DIR/cutdata/d/search.jsonl:2: "}},
		{"binary data", []string{"run", "DIR/binary/c.yaml"}, exitInput, []string{"DIR/binary/d/search.jsonl:2: got bytes that are not UTF-8"}},
		{"endless line", []string{"run", "DIR/long/c.yaml"}, exitInput, []string{"DIR/long/d/search.jsonl:2: got a line of more than"}},
		{"wrong row", []string{"eval", "DIR/wrongrow/c.yaml"}, exitInput, []string{`DIR/wrongrow/d/search.jsonl:3: "answer": got {"value": 3}, want`}},
		{"empty data", []string{"run", "DIR/emptydata/c.yaml"}, exitInput, []string{"DIR/emptydata/d/search.jsonl: got no problems"}},
		{"leaking splits", []string{"run", "DIR/leak/c.yaml"}, exitInput, []string{"in split", "already"}},
		{"missing harness", []string{"run", "DIR/noharness/c.yaml"}, exitInput, []string{"DIR/noharness/c.yaml: harness DIR/noharness/none.star: no such file", "path of a program"}},
		{"missing harness flag", []string{"eval", "DIR/c.yaml", "--harness", "DIR/none.star"}, exitInput, []string{"harness DIR/none.star: no such file"}},
		{"harness with a syntax error", []string{"run", "DIR/syntax/c.yaml"}, exitInput, []string{"h.star:2:12: "}},
		{"harness without run", []string{"plan", "DIR/norun/c.yaml"}, exitInput, []string{"h.star", "run"}},
		{"locked", []string{"resume", "DIR/locked"}, exitLocked, []string{"DIR/locked: run is locked by process "}},
		{"directory taken", []string{"run", "DIR/c.yaml", "--dir", "DIR/run"}, exitRunDir, []string{"DIR/run: run already exists", "whale resume DIR/run"}},
		{"directory of others", []string{"run", "DIR/c.yaml", "--dir", "DIR/folder"}, exitRunDir, []string{`DIR/folder: not a run directory and not empty (it holds "notes.txt"): choose another name`}},
		{"resume of nothing", []string{"resume", "DIR/none"}, exitRunDir, []string{"DIR/none: not a run directory: it does not exist"}},
		{"resume of a folder", []string{"resume", "DIR/folder"}, exitRunDir, []string{"DIR/folder: not a run directory: it has no config.yaml"}},
		{"resume of a file", []string{"resume", "DIR/c.yaml"}, exitRunDir, []string{"DIR/c.yaml: not a run directory: it is a file"}},
		{"resume with a changed config", []string{"resume", "DIR/run", "DIR/changed/c.yaml"}, exitRunDir, []string{"weight.batch: 8 → 4", "resume without a config"}},
		{"broken journal", []string{"resume", "DIR/broken"}, exitRunDir, []string{"DIR/broken/journal.db: corrupt"}},
		{"eval of a folder", []string{"eval", "DIR/folder"}, exitRunDir, []string{"DIR/folder: not a run directory"}},
		{"unknown command", []string{"resum"}, exitUsage, []string{`unknown command "resum": did you mean "resume"?`}},
		{"unknown command of a group", []string{"harness", "chek"}, exitUsage, []string{`unknown command "chek": did you mean "check"?`}},
		{"unknown flag", []string{"run", "DIR/c.yaml", "--sped"}, exitUsage, []string{"unknown flag: --sped; see whale run --help"}},
		{"no argument", []string{"run"}, exitUsage, []string{"run: got 0 arguments; usage: whale run CONFIG"}},
		{"too many arguments", []string{"model", "info", "a", "b"}, exitUsage, []string{"model info: got 2 arguments; usage: whale model info NAME|DIR"}},
		{"negative seed", []string{"run", "DIR/c.yaml", "--seed", "-1"}, exitUsage, []string{`--seed`, `got "-1", want a whole number`}},
		{"seed of a generator that is none", []string{"eval", "DIR/leak/c.yaml", "--generator-seed", "4"}, exitUsage, []string{`--generator-seed: the config's examples come from source "files"`}},
		{"no workers", []string{"plan", "DIR/c.yaml", "--workers", "0"}, exitUsage, []string{"--workers: got 0, want 1 to"}},
		{"no draws", []string{"eval", "DIR/c.yaml", "--draws", "0"}, exitUsage, []string{"--draws: got 0, want 1"}},
		{"unknown split", []string{"eval", "DIR/c.yaml", "--split", "tset"}, exitUsage, []string{`--split: got "tset", want one of`}},
		{"hidden split", []string{"harness", "run", "DIR/h.star", "--config", "DIR/c.yaml", "--split", "test"}, exitUsage, []string{`--split: got "test"`}},
		{"no such example", []string{"harness", "run", "DIR/h.star", "--config", "DIR/c.yaml", "--example", "99"}, exitUsage, []string{"--example: got 99, want 0 to 15"}},
		{"negative draw", []string{"harness", "run", "DIR/h.star", "--config", "DIR/c.yaml", "--draw", "-1"}, exitUsage, []string{"--draw: got -1, want 0 or more"}},
		{"no config", []string{"harness", "run", "DIR/h.star"}, exitUsage, []string{"no --config"}},
		{"nothing to check", []string{"harness", "check", "DIR/none.star"}, exitInput, []string{"harness DIR/none.star: no such file"}},
		{"no recipe", []string{"model", "pretrain", "--recipe", "DIR/none.yaml", "--out", "DIR/m"}, exitUsage, []string{"recipe DIR/none.yaml: no such file"}},
		{"recipe with an unknown key", []string{"model", "pretrain", "--recipe", "DIR/c.yaml", "--out", "DIR/m"}, exitUsage, []string{"DIR/c.yaml:", "unknown key"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var args []string
			for _, a := range tc.args {
				args = append(args, strings.Replace(a, "DIR/", dir+"/", 1))
			}
			before := treeOf(t, dir)
			code, stdout, stderr := command(t, args...)
			if code != tc.code {
				t.Errorf("got exit code %d, want %d", code, tc.code)
			}
			if !strings.HasPrefix(stderr, "whale: ") || strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") || len(stderr) > 1000 {
				t.Errorf("got %q on stderr, want one line that begins with whale:", stderr)
			}
			if stdout != "" {
				t.Errorf("got %q on stdout, want nothing", stdout)
			}
			for _, want := range tc.want {
				if want = strings.ReplaceAll(want, "DIR/", dir+"/"); !strings.Contains(stderr, want) {
					t.Errorf("got %s, want %q in it", stderr, want)
				}
			}
			if d := differ(map[string][]string{"files": treeOf(t, dir)}, map[string][]string{"files": before}); len(d) > 0 {
				t.Errorf("the files changed: %s", d)
			}
		})
	}
}

// treeOf lists the files of a folder with their sizes and times. What a reader of a database leaves beside it, and the lock's process id,
// are nobody's.
func treeOf(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	for _, path := range filesBelow(t, dir) {
		if name := filepath.Base(path); strings.HasPrefix(name, "journal.db-") || name == "lock" {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s: %d bytes, written %v", path, info.Size(), info.ModTime()))
	}
	return out
}

// copyModel makes a folder of the embedded model.
func copyModel(t *testing.T, dir string) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS("../../policy/local/models/whale-tiny")); err != nil {
		t.Fatal(err)
	}
}
