const run = async (task, model, env) => { /* lines are counted from the file's beginning, so the body is near it */
RUN
};

async function* read(stream) {
  let held = "";
  for await (const chunk of stream.setEncoding("utf8")) {
    const lines = (held + chunk).split("\n");
    held = lines.pop();
    yield* lines.map((line) => JSON.parse(line));
  }
  process.exit();
}

const messages = read(process.stdin);
const receive = async () => (await messages.next()).value;
const send = (message) => process.stdout.write(JSON.stringify(message) + "\n");

let requests = 0;
const ask = async (op, request) => {
  send({ type: "request", id: ++requests, op, ...request });
  return receive();
};
globalThis.print = (text) => send({ type: "print", text });
globalThis.user = (content) => ({ role: "user", content });
globalThis.shown = (reply) => ({ role: "assistant", reply: reply.ref });

const model = {
  chat: async (messages, options = {}) => (await ask("chat", { messages, ...options })).reply,
  count: async (text) => (await ask("count", { text })).number,
  clip: async (text, max_tokens) => (await ask("clip", { text, max_tokens })).text,
};

try {
  const start = await receive();
  const env = {
    tools: start.tools,
    call: async (name, args = {}) => (await ask("tool", { name, args })).result,
    render: async (name, args = {}) => (await ask("render", { name, args })).text,
    left: async () => (await ask("left")).left,
  };
  const reply = await run(start.task, model, env);
  send({ type: "answer", reply: reply === null ? null : (reply.ref ?? reply) });
} catch (error) {
  const line = Number(/:(\d+):\d+\)?$/m.exec(error.stack)?.[1]) || undefined;
  send({ type: "failure", detail: String(error), line });
}
