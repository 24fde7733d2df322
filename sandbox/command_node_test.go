package sandbox

import (
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
)

const nodeTries = `
const fs = require("fs"), cp = require("child_process"), net = require("net"), dgram = require("dgram"), os = require("os");
const got = {};
function attempt(name, what) {
  try { const r = what(); got[name] = "done: " + r; } catch (e) { got[name] = e.code || e.name; }
}
for (const p of ["/etc/passwd", "/proc/self/environ", "/root/.bashrc", "/dev/mem"]) attempt("read " + p, () => fs.readFileSync(p, "utf8"));
for (const p of ["/x", "/harness/x", "/harness/program.js", "/usr/x", "/dev/shm/x"]) attempt("write " + p, () => fs.writeFileSync(p, "x"));
attempt("spawn", () => { const r = cp.spawnSync("/usr/bin/true"); if (r.error) throw r.error; });
attempt("fork bomb", () => { for (let i = 0; i < 100; i++) { const r = cp.spawnSync(process.execPath, ["-e", "0"]); if (r.error) throw r.error; } });
attempt("shell", () => cp.execSync("true"));
attempt("kill parent", () => process.kill(process.ppid, "SIGTERM"));
attempt("kill other", () => process.kill(+process.argv[2], 0));
attempt("priority", () => os.setPriority(0, -5));
const later = [];
function event(name, emitter, good) {
  later.push(new Promise(done => {
    emitter.on("error", e => { got[name] = e.code || e.name; done(); });
    emitter.on(good, () => { got[name] = "done: " + good; done(); });
  }));
}
event("connect", net.connect(80, "127.0.0.1"), "connect");
event("unix", net.connect("/tmp/s"), "connect");
event("listen", net.createServer().listen(0), "listening");
const d = dgram.createSocket("udp4"); event("udp", d, "listening"); try { d.bind(0); } catch (e) { got.udp = e.code; }
const w = new (require("worker_threads").Worker)("require('worker_threads').parentPort.postMessage(require('fs').readFileSync('/etc/passwd').length)", {eval: true}); event("worker", w, "message");
Promise.race([Promise.all(later), new Promise(r => setTimeout(r, 10000))]).then(() => {
  process.stdout.write(JSON.stringify({got, env: process.env, tmp: fs.readdirSync("/tmp")}), () => process.exit(0));
});
`

func TestNodeIsConfined(t *testing.T) {
	t.Setenv("API_KEY", "secret")
	spec := nodeSpec(t, nodeTries)
	spec.Args = append(spec.Args, strconv.Itoa(os.Getpid()))
	spec.Reserve *= 2 // for the second thread
	out, stderr, err := runCommand(t, spec, "")
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	var told struct {
		Got, Env map[string]string
		Tmp      []string
	}
	if err := json.Unmarshal([]byte(out), &told); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if len(told.Got) != 20 {
		t.Errorf("got %d attempts, want 20", len(told.Got))
	}
	for name, how := range told.Got {
		if strings.HasPrefix(how, "done") {
			t.Errorf("%s: %s", name, how)
		}
	}
	if len(told.Env) > 3 || told.Env["API_KEY"] != "" || len(told.Tmp) > 0 {
		t.Errorf("got the environment %v, and %v in /tmp", told.Env, told.Tmp)
	}
	t.Log(told.Got)
}

func TestNodeMemory(t *testing.T) {
	for name, source := range map[string]string{
		"buffer":  "Buffer.alloc(2**31)",
		"buffers": "const a = []; for (;;) a.push(Buffer.alloc(1 << 24, 1))",
		"strings": "const a = []; for (let i = 0;; i++) a.push(('x' + i).repeat(1 << 16).split(''))",
		"array":   "const a = []; for (;;) a.push({a: a.length, b: [1.5, 2.5]})",
		"shared":  "const a = []; for (;;) { const s = new SharedArrayBuffer(1 << 24); new Uint8Array(s).fill(1); a.push(s); }",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := nodeSpec(t, source)
			spec.CPU = 20 * time.Second
			start := time.Now()
			_, stderr, err := runCommand(t, spec, "")
			var incident *whale.Incident
			if !errors.As(err, &incident) || incident.Reason != whale.FailMemory {
				t.Fatalf("got %v, want an incident of memory (%s)", err, stderr)
			}
			t.Log(time.Since(start), incident.Detail)
		})
	}
	t.Run("within", func(t *testing.T) {
		out, stderr, err := runCommand(t, nodeSpec(t, "console.log(Buffer.alloc(32 << 20, 1).length >> 20)"), "")
		if err != nil || out != "32\n" {
			t.Fatalf("got %q, %v (%s)", out, err, stderr)
		}
	})
}

func TestNodeThreads(t *testing.T) {
	spec := nodeSpec(t, `
const {Worker} = require("worker_threads");
let n = 0, ended = 0;
for (let i = 0; i < 200; i++) {
  const w = new Worker("setInterval(() => 0, 1000)", {eval: true});
  w.on("online", () => n++); w.on("error", () => ended++); w.on("exit", () => ended++);
}
setTimeout(() => process.stdout.write(String(n) + "\n", () => process.exit(0)), 5000);`)
	spec.CPU = 20 * time.Second
	start := time.Now()
	out, stderr, err := runCommand(t, spec, "")
	var incident *whale.Incident
	if n, convErr := strconv.Atoi(strings.TrimSpace(out)); !(errors.As(err, &incident) || err == nil && convErr == nil && n < 100) {
		t.Errorf("got %q threads, %v (%s)", out, err, stderr)
	}
	t.Log(out, err, time.Since(start))
}
