// A harness: a fresh process an episode. It speaks JSON lines with its host: first comes the start, each request is answered by a response,
// and an answer or a failure ends the episode. See docs/contract.md.
// Try it: whale harness run FILE --config CONFIG --example 1

const SYSTEM_PROMPT = "You solve problems step by step.";
const USER_PROMPT = "{question}\nPut the final answer in \\boxed{}.";
const TURNS = 3;

async function run(task, model, env) {
  const shown = [
    { role: "system", content: SYSTEM_PROMPT },
    { role: "user", content: USER_PROMPT.replace(/\{(\w+)\}/g, (all, name) => task[name] ?? all) },
  ];
  let reply = null;
  for (let turn = 0; turn < TURNS; turn++) {
    const left = await env.left();
    if (left.model_calls < 1 || left.tokens < 1) break;
    reply = await model.chat(shown, { tools: env.tools });
    shown.push(reply.message);
    for (const call of reply.tool_calls ?? []) {
      if ((await env.left()).tool_calls < 1) break;
      const result = await env.call(call.name, call.args);
      shown.push({ role: "tool", content: result.error || result.text });
      if (result.done) return reply;
    }
    if (reply.tool_calls?.length) continue;
    if (reply.text.includes("\\boxed{")) break;
    shown.push({ role: "user", content: "Give the final answer in \\boxed{}." });
  }
  return reply;
}

// The rest speaks the protocol. Standard output is the pipe to the host: use log, not console.log.

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
const log = (...values) => send({ type: "print", text: values.join(" ") });

let requests = 0;
const ask = (op, request) => (send({ type: "request", id: ++requests, op, ...request }), receive());

const model = {
  chat: async (messages, { tools = [], max_tokens, stop } = {}) => {
    const { reply } = await ask("chat", { messages, tools, max_tokens, stop });
    return { ...reply, message: { role: "assistant", reply: reply.ref } }; // in messages, the reply itself
  },
  count: async (text) => (await ask("count", { text })).number,
  clip: async (text, max_tokens) => (await ask("clip", { text, max_tokens })).text,
};

try {
  const start = await receive();
  const env = {
    tools: start.tools,
    call: async (name, args) => (await ask("tool", { name, args })).result,
    render: async (name, args) => (await ask("render", { name, args })).text,
    left: async () => (await ask("left")).left,
  };
  const reply = await run(start.task, model, env);
  send({ type: "answer", reply: reply && reply.ref });
} catch (error) {
  const line = Number(/:(\d+):\d+\)?$/m.exec(error.stack)?.[1]) || undefined;
  send({ type: "failure", detail: String(error), line });
}
