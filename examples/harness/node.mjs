// The math harness in JavaScript, without an SDK: it speaks the protocol itself, one JSON object a line.

const USER_PROMPT = "{question}\nPut the final answer in \\boxed{}.";
const TURNS = 2;

async function* read(stream) {
  let held = "";
  for await (const chunk of stream.setEncoding("utf8")) {
    const lines = (held + chunk).split("\n");
    held = lines.pop();
    yield* lines.map((line) => JSON.parse(line));
  }
  process.exit(); // the host has ended the episode
}

const messages = read(process.stdin);
const receive = async () => (await messages.next()).value;
const send = (message) => process.stdout.write(JSON.stringify(message) + "\n");

let requests = 0;
const ask = (request) => (send({ type: "request", id: ++requests, ...request }), receive());

async function run(task) {
  const shown = [{ role: "user", content: USER_PROMPT.replace("{question}", () => task.question) }];
  for (let turn = 1; ; turn++) {
    const { reply } = await ask({ op: "chat", messages: shown });
    const code = /```(?:python|py)[ \t]*\n(.*?)\n?[ \t]*(?:```|$)/is.exec(reply.text)?.[1];
    if (code === undefined || turn === TURNS) return reply;
    const { result } = await ask({ op: "tool", name: "calculator", args: { code } });
    shown.push({ role: "assistant", reply: reply.ref }, { role: "tool", content: result.text + (result.error ?? "") });
  }
}

try {
  const { task } = await receive();
  send({ type: "answer", reply: (await run(task)).ref });
} catch (error) {
  send({ type: "failure", detail: String(error) });
}
