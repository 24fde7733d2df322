package process

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

// look is a program in Node that tries what it must not be able to do, and prints what came of each.
const look = `import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import { Worker } from "node:worker_threads";

const send = (message) => process.stdout.write(JSON.stringify(message) + "\n");
const attempt = async (name, f) => {
  let text;
  try {
    text = "did: " + JSON.stringify(await f());
  } catch (error) {
    text = "error: " + (error.code ?? error);
  }
  send({ type: "print", text: name + ": " + text });
};
const event = (emitter, name) => new Promise((resolve, reject) => emitter.on("error", reject).on(name, resolve));

await attempt("spawn", async () => { const { error, status } = spawnSync("/usr/bin/true"); if (error) throw error; return status; });
await attempt("spawn later", () => event(spawn("/usr/bin/true"), "exit"));
await attempt("connect", () => event(net.connect(80, "127.0.0.1"), "connect"));
await attempt("listen", () => event(net.createServer().listen(0), "listening"));
await attempt("read", () => fs.readFileSync("/etc/passwd", "utf8"));
await attempt("processes", () => fs.readdirSync("/proc"));
await attempt("write", () => fs.writeFileSync("/harness/look.mjs", "x"));
await attempt("signal", () => process.kill(1, 9));
await attempt("environment", () => Object.keys(process.env).sort());
await attempt("program", () => fs.readdirSync("/harness"));
await attempt("tmp", () => (fs.writeFileSync("/tmp/x", "x"), fs.readdirSync("/tmp")));
await attempt("thread", () => event(new Worker("require('node:worker_threads').parentPort.postMessage(5)", { eval: true }), "message"));
send({ type: "answer", reply: null });
`

func TestNodeSees(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguageNode)
	t.Setenv("WHALE_TEST_SECRET", "hunter2")
	host, _, err := runForeign(t, r, "look.mjs", look)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(host.Log), "\n")
	want := []string{
		"spawn: error: ", "spawn later: error: ", "connect: error: ", "listen: error: ", "read: error: ENOENT", "processes: error: ENOENT", "write: error: ", "signal: error: ",
		`environment: did: ["LANG","PATH","PWD"]`, `program: did: ["look.mjs"]`, `tmp: did: ["x"]`, "thread: ",
	}
	if len(lines) != len(want) {
		t.Fatalf("got %d lines, want %d:\n%s", len(lines), len(want), host.Log)
	}
	for i, w := range want {
		if !strings.HasPrefix(lines[i], w) {
			t.Errorf("got %q, want %q", lines[i], w)
		}
	}
	if strings.Contains(host.Log, "SECRET") {
		t.Errorf("the program sees the environment: %s", host.Log)
	}
}

func TestNodeHostile(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguageNode)
	const send = `const send = (m) => process.stdout.write(JSON.stringify(m) + "\n");` + "\n"
	for _, tt := range []struct {
		name, src string
		want      string // the beginning of the error
	}{
		{"a promise that nobody handles", `Promise.reject(new RangeError("lost")); setTimeout(() => {}, 1e6);`, "harness: program: a.mjs: the program ended with status 1: RangeError: lost"},
		{"an exit", `process.exit(0);`, "harness: protocol: a.mjs: message 1: got the end of the pipe"},
		{"an exit in disorder", `process.exit(3);`, "harness: program: a.mjs: the program ended with status 3"},
		{"nothing more to do", ``, "harness: protocol: a.mjs: message 1: got the end of the pipe"},
		{"endless recursion", `const f = () => f() + 1; f();`, "harness: program: a.mjs: the program ended with status 1: RangeError: Maximum call stack size exceeded"},
		{"half of a surrogate pair", `send({ type: "print", text: "\ud800" });`, "harness: protocol: a.mjs: message 1: "},
		{"requests that do not wait", `for (let id = 1; id < 4; id++) send({ type: "request", id, op: "left" }); send({ type: "request", id: 3, op: "left" });`, "harness: protocol: a.mjs: message 4: request: got the id 3, want 4"},
		{"a loop", `for (;;);`, "context deadline exceeded"},
		{"a flood of promises", `const f = () => Promise.resolve().then(f); f();`, "context deadline exceeded"},
		{"a flood of prints", `for (;;) send({ type: "print", text: "x" });`, "context deadline exceeded"},
		{"a thread that loops", `import { Worker } from "node:worker_threads"; new Worker("for (;;);", { eval: true });`, "context deadline exceeded"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if strings.HasPrefix(tt.want, "context") {
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
		}
		_, err := ungated(t, r, "a.mjs", []byte(send+tt.src+"\n")).Run(ctx, &harnesstest.Host{Limits: harnesstest.Limits()})
		cancel()
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}

// A bomb of threads is stopped by memory.
func TestNodeThreadBomb(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguageNode)
	src := `import { Worker } from "node:worker_threads";
for (;;) { new Worker("setInterval(() => {}, 1e6)", { eval: true }); await new Promise((r) => setTimeout(r, 1)); }
`
	_, _, err := runForeign(t, r, "a.mjs", src)
	var incident *whale.Incident
	var failed *whale.HarnessError
	if !errors.As(err, &incident) && !errors.As(err, &failed) {
		t.Errorf("got %v, want an incident or a failure", err)
	}
	t.Log(err)
}
